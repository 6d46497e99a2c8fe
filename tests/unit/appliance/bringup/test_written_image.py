"""Differences of images, written down as an ``image.yaml`` that is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup import written_image
from appliance.bringup.image_difference import (
    FileChange,
    ImageDifference,
    PackageChange,
    SettingChange,
)
from appliance.bringup.written_image import write_down
from foundation.settings import Settings
from images.custom.folder import read_folder
from images.log import ignore_progress
from images.manifest import MANIFEST, Manifest
from images.recipe import Image

if TYPE_CHECKING:
    from pathlib import Path


def image(folder: Path, variant: str) -> Image:
    path = folder / variant.replace(":", "-")
    path.mkdir()
    manifest = Manifest(
        name="desktop",
        variant=variant,
        recipe_digest="",
        image_digest="0" * 64,
        built_at="",
        seconds=0,
        builder="",
        notes={"distribution": "debian-12"},
    )
    (path / MANIFEST).write_text(manifest.model_dump_json())
    return Image("desktop", variant, "0" * 64, "", path)


@pytest.fixture
def difference(tmp_path: Path) -> ImageDifference:
    return ImageDifference(
        image(tmp_path, "office:2026.1"),
        image(tmp_path, "debian-12"),
        "",
        (
            PackageChange("mtpaint", "added", "3.50"),
            PackageChange("own", "added", "1"),
            PackageChange("gimp", "removed", "", "2.10"),
            PackageChange("vim", "changed", "2", "1"),
        ),
        (
            FileChange(
                "/etc/mtpaint.conf", "added", 3, mode="0644", owner="root", package="mtpaint"
            ),
            FileChange("/etc/own.conf", "changed", 3, 2, mode="4755", owner="root"),
            FileChange("/opt/link", "added", link="/opt/own", mode="0777", owner="root"),
            FileChange("/home/user/old.txt", "removed", was_bytes=9),
        ),
        (
            SettingChange("/org/x/a", "added", "uint32 5", "org.x", "a"),
            SettingChange("/org/relocatable/b", "changed", "'it''s'"),
        ),
    )


def test_what_has_a_step_is_one_and_the_rest_a_comment(
    difference: ImageDifference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Archive:
        def __init__(self, *_args: object) -> None: ...
        def names(self) -> frozenset[str]:
            return frozenset({"mtpaint"})

    monkeypatch.setattr(written_image, "PackageArchive", Archive)
    settings = Settings(state_dir=tmp_path / "state")
    text = write_down(difference, settings, ignore_progress)
    folder = tmp_path / "written"
    folder.mkdir()
    (folder / "image.yaml").write_text(text)
    content = read_folder(folder).content
    assert (content.name, content.extends) == ("office-2026-1-written", "debian-12")
    assert [(step.action, step.run) for step in content.steps] == [
        ("packages", None),
        ("run", "dpkg --purge gimp"),
        ("run", "ln -sfn /opt/own /opt/link"),
        ("run", "rm -f /home/user/old.txt"),
        ("settings", None),
    ]
    assert content.steps[0].packages == ("mtpaint",)
    assert content.steps[-1].settings == {"org.x": {"a": {"gvariant": "uint32 5"}}}
    comments = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    assert any("own 1 is not in the archive" in line for line in comments)
    assert any("vim: 1 → 2" in line for line in comments)
    assert any("/etc/own.conf (3 bytes, root, 4755)" in line for line in comments)
    assert not any("/etc/mtpaint.conf" in line for line in comments)
    assert any("/org/relocatable/b" in line for line in comments)
