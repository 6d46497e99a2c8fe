"""Suites are read again only when a file has changed."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from controller.opened_suites import open_unchanged
from foundation.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_suite_is_read_again_when_a_file_has_changed(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny, folder)
    first = open_unchanged(str(folder))
    assert open_unchanged(str(folder)) is first
    index = folder / "suite.yaml"
    index.write_text(index.read_text().replace('version: "', 'version: "9'))
    os.utime(index, ns=(1, 1))
    changed = open_unchanged(str(folder))
    assert changed.version.startswith("9")
    index.write_text("name: tiny\n")
    with pytest.raises(SpecError):
        open_unchanged(str(folder))


def test_an_unknown_suite_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="smoke"):
        open_unchanged("smok")
