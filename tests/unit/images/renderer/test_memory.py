"""Tests of the memory that a renderer reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.renderer.program.memory import peak_mib

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_file_that_exists_counts(tmp_path: Path) -> None:
    absent, first, second = (tmp_path / name for name in ("absent", "first", "second"))
    first.write_text("3145728\n")
    second.write_text("0\n")
    assert peak_mib((absent, first, second)) == 3
    assert peak_mib((absent,)) is None
