"""Records and claims of machines."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineBusyError, MachineError
from foundation.settings import Settings
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.machine_folder import MachineFolder, create_folder
from provisioning.machine_record import META, SCHEMA_VERSION
from provisioning.machine_state import MachineState
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> MachineFolder:
    made = MachineFolder(tmp_path / "desktop-1")
    made.path.mkdir()
    return made


@pytest.mark.parametrize("backend", ["libvirt", "container", "remote", "fake"])
def test_record_is_read_back_unchanged(folder: MachineFolder, backend: str) -> None:
    record = desktop_record("desktop-1", backend)
    folder.write(record)
    read = folder.read()
    assert read == record
    assert type(read) is type(record)


def test_vm_record_holds_what_its_backend_needs(folder: MachineFolder, tmp_path: Path) -> None:
    record = desktop_record("desktop-1", template=tmp_path, is_fork=True, backing=(1, 2))
    folder.write(record)
    read = folder.read()
    assert isinstance(read, QemuRecord)
    assert (read.template, read.backing, read.ssh_port) == (tmp_path, (1, 2), 20022)
    assert read.is_fork
    assert (read.info.user, read.info.home) == ("user", "/home/user")


def test_record_of_another_or_no_version_is_not_read(
    folder: MachineFolder,
) -> None:
    record = desktop_record("desktop-1").model_dump(mode="json")
    old = {key: record[key] for key in ("machine_id", "kind", "backend", "image", "image_digest")}
    for wrong, why in (
        ({**record, "schema_version": SCHEMA_VERSION + 1}, f"version {SCHEMA_VERSION + 1}; this"),
        ({**old, "accelerator": "tcg", "details": {"mac": "x"}}, "no readable record"),
        ({**record, "backend": "unknown"}, "damaged"),
    ):
        (folder.path / META).write_text(json.dumps(wrong))
        assert folder.read() is None
        assert why in folder.describe_record()


def test_states_follow_the_table(folder: MachineFolder) -> None:
    folder.write(desktop_record("desktop-1", is_fork=True))
    folder.mark(MachineState.WAITING)
    with pytest.raises(MachineError, match="cannot become leased"):
        folder.mark(MachineState.LEASED)
    assert (record := folder.read()) is not None
    assert record.state is MachineState.WAITING


def test_machine_is_claimed_once(folder: MachineFolder) -> None:
    claim = folder.claim()
    assert claim is not None
    again = MachineFolder(folder.path)
    assert again.claim() is None
    assert again.is_claimed()
    with pytest.raises(MachineBusyError, match="desktop-1 is in use"):
        again.require_claim()
    claim.release()
    assert not again.is_claimed()


def test_claim_ends_with_its_process(folder: MachineFolder) -> None:
    child = os.fork()
    if child == 0:
        folder.claim()
        os._exit(9)
    os.waitpid(child, 0)
    assert folder.claim() is not None


def test_missing_machine_cannot_be_claimed_and_is_not_recreated(tmp_path: Path) -> None:
    gone = MachineFolder(tmp_path / "desktop-2")
    assert gone.claim() is None
    assert not gone.is_claimed()
    assert not gone.path.exists()


def test_claim_on_a_removed_folder_does_not_apply_to_its_successor(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    first = create_folder(settings.machines_dir, "desktop-1")
    first.folder.remove()
    second = create_folder(settings.machines_dir, "desktop-1")
    first.release()
    assert second.folder.is_claimed()
    second.release()


def test_records_of_forks_are_not_synced(
    folder: MachineFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    folder.write(desktop_record("desktop-1", is_fork=True))
    assert synced == []
    folder.write(desktop_record("desktop-1", state="ready"))
    assert len(synced) == 1
    folder.mark(MachineState.LEASED)  # a lease need not outlive a crash
    folder.mark(MachineState.READY)
    assert len(synced) == 1
    folder.mark(MachineState.STOPPED)
    assert len(synced) == 2
