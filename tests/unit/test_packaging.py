"""The project is installed from its checkout, and never as a wheel, which would lack its recipes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from foundation.settings import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_wheel_is_rejected_with_a_hint_how_to_install(tmp_path: Path) -> None:
    argv = [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", str(tmp_path)]
    ended = run(argv, cwd=REPOSITORY)
    assert ended.exit_code == 1
    assert b"make up" in ended.stderr
    assert list(tmp_path.iterdir()) == []
