"""What custom images must pass beside their specification: the reviewed screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from appliance.verify.candidate import CandidateBackends
from appliance.verify.custom import SCREEN_CHECK, _judge_screen, _read, find_reviewed_screen
from foundation.errors import SpecError
from foundation.settings import Settings
from images.custom.folder import read_folder
from images.custom.registered import register
from images.recipe import Image as BuiltImage
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.resource import DESKTOP, PHONE, ResourceSpec
from provisioning.review.desktop import Review
from provisioning.review.reviewed import reviewed_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def folder(tmp_path: Path, name: str, parent: str) -> Path:
    place = tmp_path / name
    place.mkdir()
    text = f"schema_version: 1\nname: {name}\nextends: {parent}\n"
    (place / "image.yaml").write_text(text)
    return place


def test_the_reviewed_screen_is_the_images_own_or_its_nearest_parents(
    tmp_path: Path, settings: Settings
) -> None:
    parent = folder(tmp_path, "parent", "debian-12")
    child = folder(tmp_path, "child", "parent")
    register(read_folder(parent), "debian-12", settings)
    shipped = reviewed_path("desktop:debian-12")
    assert find_reviewed_screen(child, "parent", settings) == shipped
    assert find_reviewed_screen(parent, "debian-12-cloud", settings) == shipped
    (parent / "screen.png").write_bytes(b"")
    register(read_folder(parent), "debian-12", settings)
    found = find_reviewed_screen(child, "parent", settings)
    assert found == settings.custom_images_dir / "parent/image/screen.png"
    (child / "screen.png").write_bytes(b"")
    assert find_reviewed_screen(child, "parent", settings) == child / "screen.png"


@pytest.mark.parametrize(
    ("ratio", "outcome", "reason"),
    [
        (0.02, "passed", ""),
        (0.021, "failed", "differs from reviewed.png in 2.1% of its pixels"),
        (None, "failed", "there is no reviewed picture"),
    ],
)
def test_a_screen_that_was_not_reviewed_fails_and_says_what_to_do(
    tmp_path: Path, ratio: float | None, outcome: str, reason: str
) -> None:
    review = Review((), (), np.zeros((8, 8, 3), np.uint8), ratio)
    reviewed = tmp_path.joinpath("reviewed.png").relative_to(tmp_path)
    judged = _judge_screen(review, reviewed, tmp_path / "seen.png")
    assert (judged.name, judged.outcome) == (SCREEN_CHECK, outcome)
    assert reason in judged.reason
    if outcome == "failed":
        assert f"Look at {tmp_path}/seen.png" in judged.reason
        assert "copy it to screen.png in the image's folder" in judged.reason


def test_a_reviewed_screen_that_is_no_picture_is_named(tmp_path: Path) -> None:
    path = tmp_path / "screen.png"
    assert _read(path) is None
    path.write_text("text")
    with pytest.raises(SpecError, match=r"screen\.png cannot be read"):
        _read(path)
    Image.new("RGB", (4, 2)).save(path)
    read = _read(path)
    assert read is not None
    assert read.shape == (2, 4, 3)


def record(image: str, digest: str) -> QemuRecord:
    return QemuRecord(
        machine_id="desktop-1",
        kind=DESKTOP,
        image=image,
        image_digest=digest,
        accelerator="tcg",
        user="user",
        home="/home/user",
        memory_mib=3072,
        cpus=2,
        ssh_port=1,
        mac="52:54:00:00:00:01",
    )


def test_machines_of_the_current_image_are_not_those_of_the_candidate(
    tmp_path: Path, settings: Settings
) -> None:
    place = folder(tmp_path, "paint", "debian-12")
    register(read_folder(place), "debian-12", settings)
    image = BuiltImage(DESKTOP, "paint", "new", "", tmp_path)
    backends = CandidateBackends(settings, image)
    spec = backends.resolve(ResourceSpec(DESKTOP))
    assert backends.resolve(ResourceSpec(DESKTOP, "ubuntu-22.04")) == spec
    assert backends.resolve(ResourceSpec(PHONE)) == ResourceSpec(PHONE)
    new, old = record("desktop:paint", "new"), record("desktop:paint", "old")
    assert (backends.spec_of(new), backends.of_record(new)) == (spec, backends.of(spec))
    assert backends.spec_of(old) == ResourceSpec(DESKTOP, "paint")
    assert backends.of_record(old) is not backends.of(spec)
