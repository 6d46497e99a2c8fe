"""A desktop's RAM file is used as long as it matches its snapshot ``ready``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from foundation.files import digest_bytes
from provisioning.desktop.qemu.rewind_base import RAM, BaseRecord, find_base
from provisioning.desktop.qemu.saved_vm import stamp_of_file
from provisioning.protocols import READY

if TYPE_CHECKING:
    from pathlib import Path

SAVED = b'{"files": "..."}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A machine's folder with a RAM file."""
    state = tmp_path / "snapshots" / f"{READY}.json"
    state.parent.mkdir()
    state.write_bytes(SAVED)
    ram = tmp_path / RAM
    ram.write_bytes(bytes(4096))
    record = BaseRecord(saved=digest_bytes(SAVED), ram=stamp_of_file(ram))
    (tmp_path / "rewind_base.json").write_text(record.model_dump_json())
    return tmp_path


def test_created_base_is_found(folder: Path) -> None:
    assert find_base(folder) == folder / RAM


def test_state_saved_again_as_ready_has_no_ram_file(folder: Path) -> None:
    (folder / "snapshots" / f"{READY}.json").write_bytes(SAVED + b" ")
    assert find_base(folder) is None


def test_modified_ram_file_is_not_used(folder: Path) -> None:
    status = (folder / RAM).stat()
    os.utime(folder / RAM, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert find_base(folder) is None


@pytest.mark.parametrize("name", [RAM, "rewind_base.json", f"snapshots/{READY}.json"])
def test_base_without_one_of_its_files_is_not_found(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert find_base(folder) is None


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 2}', "[1]"])
def test_base_with_a_damaged_record_is_not_found(folder: Path, text: str) -> None:
    (folder / "rewind_base.json").write_text(text)
    assert find_base(folder) is None
