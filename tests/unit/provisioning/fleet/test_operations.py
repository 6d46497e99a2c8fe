"""Operations on machines that no lease holds."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from foundation.errors import (
    ImageCorruptError,
    MachineBusyError,
    RequirementError,
    ResetMismatchError,
    SnapshotError,
    UnknownNameError,
    UnsupportedError,
)
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, ResetReport
from provisioning.resource import DESKTOP
from tests.unit.provisioning.fleet.test_local import FakeBackend, ForkingFake, HostFake

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.machine_folder import MachineFolder

ID = "desktop-1"


class Paused(HostFake):
    """A machine that answers nothing until it is reset."""

    def start(self) -> None:
        raise AssertionError("It was started before its reset.")

    def reset_to(self, snapshot: str) -> ResetReport:
        return self.rewind(snapshot)

    def pause(self) -> None:
        pass


@pytest.fixture
def backend(tmp_path: Path) -> ForkingFake:
    return ForkingFake(Settings(state_dir=tmp_path))


@pytest.fixture
def operations(backend: ForkingFake) -> MachineOperations:
    return MachineOperations(backend.settings, lambda _settings: FixedBackends({DESKTOP: backend}))


@pytest.fixture
def folder(backend: ForkingFake) -> MachineFolder:
    handle = backend.make(lambda _line: None)
    handle.claim.release()
    return handle.folder


def state_of(folder: MachineFolder) -> MachineState | None:
    record = folder.read()
    return record.state if record else None


def test_machine_that_runs_again_is_recorded_as_ready(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    for operate in (
        operations.start,
        operations.rewind,
        operations.verify,
        lambda machine_id: operations.snapshot(machine_id, "mine"),
    ):
        backend.write(folder, MachineState.STOPPED)
        operate(ID)
        assert state_of(folder) is MachineState.READY
    assert backend.released == [ID] * 4
    assert not folder.is_claimed()


def test_machine_is_reset_without_being_asked(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    backend.machine = Paused
    assert operations.rewind(ID).path == "rewind"
    assert operations.verify(ID)


def test_fork_is_checked_as_it_is(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    backend.damaged.add(ID)  # a rewind fails
    backend.write(folder, MachineState.KEPT, is_fork=True)
    assert {finding.name for finding in operations.verify(ID)} == {
        "link", "clock", "screen", "disk",
    }  # fmt: skip
    assert state_of(folder) is MachineState.KEPT


def test_machine_in_use_is_left_alone(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    claim = folder.require_claim()
    for operate in (operations.stop, operations.rewind, operations.delete, operations.start):
        with pytest.raises(MachineBusyError, match="desktop-1 is in use"):
            operate(ID)
    claim.release()
    assert (backend.released, backend.deleted) == ([], [])
    with pytest.raises(UnknownNameError, match="no machine called 'desktop-2'"):
        operations.stop("desktop-2")


def test_machine_is_released_if_its_operation_fails(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    backend.damaged.add(ID)
    with pytest.raises(ResetMismatchError):
        operations.rewind(ID)
    assert backend.released == [ID]
    assert not folder.is_claimed()


def test_deleted_machine_is_gone(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    operations.delete(ID)
    assert backend.deleted == [ID]
    assert folder.read() is None
    with pytest.raises(UnknownNameError):
        operations.find(ID)


def test_machine_of_a_failed_image_can_be_deleted(
    operations: MachineOperations,
    backend: ForkingFake,
    folder: MachineFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    refusal = ImageCorruptError("The image office failed its specification, and is not used.")
    monkeypatch.setattr(backend, "attach", Mock(side_effect=refusal))
    monkeypatch.setattr(backend, "remove_by_id", ended.append)
    with pytest.raises(ImageCorruptError):
        operations.start(ID)
    operations.delete(ID)
    assert ended == [ID]
    assert folder.read() is None
    assert not folder.is_claimed()


def test_snapshot_is_saved_under_its_name(
    operations: MachineOperations, backend: ForkingFake, folder: MachineFolder
) -> None:
    with operations.started(ID) as machine:
        machine.snapshots.save("mine")
        assert machine.snapshots.list_snapshots() == ["mine", READY]
        assert folder.is_claimed()


def test_fork_is_kept_for_its_user(operations: MachineOperations, backend: ForkingFake) -> None:
    machine_id, report = operations.fork()
    assert (machine_id, report.path) == ("desktop-fork-1", "fork")
    assert state_of(backend.folder(machine_id)) is MachineState.KEPT
    assert not backend.folder(machine_id).is_claimed()


def test_fork_that_does_not_wake_leaves_nothing(
    operations: MachineOperations, backend: ForkingFake
) -> None:
    backend.broken.add("desktop-fork-1")
    with pytest.raises(SnapshotError):
        operations.fork()
    assert backend.deleted == ["desktop-fork-1"]


def test_fork_needs_a_template_and_a_backend_that_forks(
    operations: MachineOperations, backend: ForkingFake
) -> None:
    backend.is_template_made = False
    with pytest.raises(RequirementError, match="no template to fork from"):
        operations.fork()
    settings = backend.settings.model_copy(update={"desktop": "remote"})
    others = MachineOperations(
        settings, lambda _settings: FixedBackends({DESKTOP: FakeBackend(settings)})
    )
    with pytest.raises(UnsupportedError, match="kind desktop cannot be forked"):
        others.fork()
