"""A RAM file is read into the page cache, except its holes, before a guest runs on it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineStartError
from provisioning.desktop.qemu.page_cache import load_into_page_cache

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20


def drop_from_page_cache(path: Path) -> None:
    """Write a file to storage and remove it from the page cache."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.fixture
def ram(tmp_path: Path) -> Path:
    """A file of 64 MiB with 9 MiB of data at its start and 5 MiB in its middle."""
    path = tmp_path / "ram"
    with path.open("wb") as file:
        file.write(os.urandom(9 * MIB))
        file.seek(32 * MIB)
        file.write(os.urandom(5 * MIB))
        file.truncate(64 * MIB)
    drop_from_page_cache(path)
    return path


def test_only_missing_data_is_read(ram: Path) -> None:
    assert load_into_page_cache(ram) == 14 * MIB
    assert load_into_page_cache(ram) == 0
    with ram.open("rb+") as file:
        os.posix_fadvise(file.fileno(), 33 * MIB, MIB, os.POSIX_FADV_DONTNEED)
    assert 0 < load_into_page_cache(ram) <= 5 * MIB


@pytest.mark.parametrize("size", [0, 3 * MIB])
def test_file_without_data_is_not_read(tmp_path: Path, size: int) -> None:
    path = tmp_path / "ram"
    with path.open("wb") as file:
        file.truncate(size)
    assert load_into_page_cache(path) == 0


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MachineStartError, match="cannot be read"):
        load_into_page_cache(tmp_path / "ram")
