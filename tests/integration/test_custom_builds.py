"""Builds of custom images with real tools: the parent's tree, layers, the disk; killed at five moments."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from foundation.process import run, start
from images.custom.layers import LayerStore
from images.custom.product import ImageProduct
from images.desktop.recipe import DISK
from images.engine import connect
from images.log import ignore_progress
from images.manifest import read_manifest
from images.store import has_leftovers
from tests.integration.custom_builds import build, clean, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(900)]

NAME = "custom-build-test"
TEXT = f"""\
schema_version: 1
name: {NAME}
extends: debian-12
steps:
  - files: [{{from: note.txt, to: /home/user/Documents/note.txt}}]
  - run: sleep 3; echo one > /srv/one
  - run: sleep 3; echo two > /srv/two
session: {{ready: [{{file: /srv/two}}]}}
machine: {{memory_mib: 2048, disk_gib: 13}}
"""
MOMENTS = ("tree: reading", "tree: importing", "step 2/3", "disk: writing", "disk: converting")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder with the image and a state folder."""
    root = tmp_path_factory.mktemp("custom")
    (root / "image").mkdir()
    (root / "image/image.yaml").write_text(TEXT)
    (root / "image/note.txt").write_text("note")
    yield root
    clean(root / "state", root / "image")


def phases(place: Path) -> list[str]:
    """Build the image, and return what was reported."""
    seen: list[str] = []

    def report(phase: str, fraction: float | None = None, line: str = "") -> None:
        if phase:
            seen.append(f"{phase}: {line}")

    build(place / "state", place / "image", report)
    return seen


def kill_at(place: Path, moment: str) -> None:
    """Start a build in a process of its own, and kill it when it reports a phase."""
    argv = [sys.executable, "-m", "tests.integration.custom_builds"]
    program = start([*argv, str(place / "state"), str(place / "image")], env={"PYTHONPATH": "."})
    assert program.stdout is not None
    for line in program.stdout:
        if line.decode().startswith(moment):
            os.kill(program.pid, signal.SIGKILL)
            break
    else:
        pytest.fail(f"the build never came to {moment!r}")
    program.communicate()


def leftovers(place: Path) -> list[str]:
    """Return containers of the build, and work folders."""
    label = LayerStore(settings_of(place / "state").owner, NAME, ignore_progress).build_label
    with connect() as client:
        names = [
            str(row.name) for row in client.containers.list(all=True, filters={"label": label})
        ]
    images = settings_of(place / "state").images_dir
    return names + ["work folder"] * has_leftovers(images, "desktop")


def test_a_build_that_is_killed_at_five_moments_completes_the_next_time(place: Path) -> None:
    for moment in MOMENTS:
        kill_at(place, moment)
    seen = phases(place)
    assert seen[-1].startswith("done")
    assert leftovers(place) == []


def test_the_disk_has_the_parents_tree_and_the_steps(place: Path, tmp_path: Path) -> None:
    image = build(place / "state", place / "image")
    raw = tmp_path / "disk.raw"
    run(
        ["qemu-img", "convert", "-O", "raw", str(image.file(DISK)), str(raw)], timeout_s=120
    ).require()

    def shown(command: str) -> str:
        return run(["debugfs", "-R", command, str(raw)]).require().text

    assert shown("cat /etc/marker") == "parent"
    assert shown("cat /etc/hostname") == "of the parent: hostname"
    assert shown("cat /srv/two") == "two"
    assert shown("cat /home/user/Documents/note.txt") == "note"
    assert "User:  1000" in shown("stat /home/user/Documents/note.txt")
    assert "Mode:  04755" in shown("stat /usr/bin/true")
    assert raw.stat().st_size == 13 << 30
    product = ImageProduct.of(image)
    assert (product.machine.memory_mib, product.lineage) == (2048, (NAME,))
    assert [str(condition) for condition in product.session.ready] == ["file '/srv/two'"]
    assert "libc6" in read_manifest(image.path).packages


def test_one_more_step_builds_that_step_only(place: Path) -> None:
    phases(place)
    path = place / "image/image.yaml"
    path.write_text(TEXT.replace("session:", "  - run: echo three > /srv/three\nsession:"))
    seen = phases(place)
    steps = [line for line in seen if line.startswith("step")]
    assert steps[-1] == "step 4/4: run: echo three > /srv/three"
    assert [line.endswith("as before") for line in steps] == [True, True, True, False]
    assert not [line for line in seen if line.startswith("tree")]
