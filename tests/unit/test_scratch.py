from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.scratch import STALE_S, remove_stale

if TYPE_CHECKING:
    from pathlib import Path


def test_only_old_test_folders_are_removed_however_deep(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    old = ["mesocosm-case-old", "mesocosm-red-old", "pytest-of-me"]
    for name in (*old, "mesocosm-case-new"):
        (tmp_path / name).mkdir()
    (tmp_path / "mesocosm-case-link").symlink_to(tmp_path / "target")
    start = os.getcwd()  # noqa: PTH109 - it goes down and back
    os.chdir(tmp_path / old[0])
    for _ in range(1500):
        os.mkdir("d")  # noqa: PTH102 - the path would be too long
        os.chdir("d")
    os.chdir(start)
    for name in old:
        before = (tmp_path / name).stat().st_mtime - STALE_S - 1
        os.utime(tmp_path / name, (before, before))

    assert remove_stale(tmp_path) == ["mesocosm-case-old", "mesocosm-red-old"]
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["mesocosm-case-link", "mesocosm-case-new", "pytest-of-me", "target"]
