"""Logs of builds are listed and read as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError, UnknownNameError
from images.build_logs import list_builds, log_path, read_build
from images.log import BuildLog, ignore_progress

if TYPE_CHECKING:
    from pathlib import Path

BEGAN_S = 1_795_000_000.0
COMMAND = "docker run -it --rm mesocosm/failed:paint bash"


def fail(images_dir: Path) -> None:
    error = ImageBuildError(
        "The step 'run: false' failed.", "no such thing", f"Its tree is kept: {COMMAND}"
    )
    path = log_path(images_dir, "desktop-paint", "ab" * 32, BEGAN_S)

    def build() -> None:
        with BuildLog(path, ignore_progress) as log:
            log("step 1/1", 0.0, "no such thing")
            raise error

    with pytest.raises(ImageBuildError):
        build()


def test_a_failed_build_has_its_reason_and_the_command(tmp_path: Path) -> None:
    fail(tmp_path)
    (record,) = list_builds(tmp_path)
    assert (record.label, record.state, record.phase) == ("desktop-paint", "failed", "step 1/1")
    assert record.started_s == BEGAN_S
    assert record.failure.startswith("The step 'run: false' failed.\nno such thing")
    assert record.command == COMMAND
    assert read_build(tmp_path, record.name) == record


def test_builds_are_newest_first_and_say_how_they_ended(tmp_path: Path) -> None:
    fail(tmp_path)
    with BuildLog(
        log_path(tmp_path, "world-debian-12", "cd" * 32, BEGAN_S + 1), ignore_progress
    ) as log:
        log("layers", 0.5, "one")
        log("done", 1.0, "built in 3.0 s")
    running = log_path(tmp_path, "base-debian-12", "ef" * 32, BEGAN_S + 2)
    running.write_text("== tree\n")
    (tmp_path / "logs/notes.log").write_text("not of a build")
    rows = [(record.label, record.state) for record in list_builds(tmp_path)]
    assert rows == [
        ("base-debian-12", "unfinished"),
        ("world-debian-12", "built"),
        ("desktop-paint", "failed"),
    ]


def test_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    path = log_path(tmp_path, "base-debian-12", "ef" * 32, BEGAN_S)
    path.parent.mkdir()
    path.write_text("x" * 300_000 + "\n== done\nbuilt\n")
    (record,) = list_builds(tmp_path)
    assert (record.is_whole, record.state, record.text[-6:]) == (False, "built", "built\n")
    assert len(record.text) == 256 << 10


@pytest.mark.parametrize("name", ["nothing", "../recipes", "notes"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/notes.log").write_text("not of a build")
    with pytest.raises(UnknownNameError):
        read_build(tmp_path, name)
    assert list_builds(tmp_path) == []
