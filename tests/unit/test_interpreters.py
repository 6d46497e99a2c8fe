from __future__ import annotations

import sys
from pathlib import Path

from tests.nightly.interpreters import find_interpreters


def fake(folder: Path, name: str, answer: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho {answer}\n")
    program.chmod(0o755)
    return program


def test_newest_of_each_supported_version_is_tested(tmp_path: Path) -> None:
    fake(tmp_path, "old", "3 10 13 cpython")
    first = fake(tmp_path, "first", "3 12 1 cpython")
    newer = fake(tmp_path, "newer", "3 12 4 cpython")
    newest = fake(tmp_path, "newest", "3 13 0 cpython")
    fake(tmp_path, "other", "3 13 5 pypy")
    broken = fake(tmp_path, "broken", "3 14 0 cpython; exit 1")
    programs = [newer, first, newest, broken, *(tmp_path / name for name in ("old", "other"))]
    assert find_interpreters(programs) == {(3, 12, 4): newer, (3, 13, 0): newest}


def test_this_interpreter_is_supported() -> None:
    assert sys.version_info[:2] in {
        version[:2] for version in find_interpreters([Path(sys.executable)])
    }
