"""Operations that pages offer on machines that are not in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.service.machine_service import HostMachineService
from foundation.errors import MachineBusyError, ResetMismatchError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP
from tests.unit.provisioning.fleet.test_local import ForkingFake
from tests.unit.provisioning.fleet.test_operations import Paused

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def backend(tmp_path: Path) -> ForkingFake:
    backend = ForkingFake(Settings(state_dir=tmp_path))
    backend.make(lambda _line: None).claim.release()
    return backend


@pytest.fixture
def machine_service(backend: ForkingFake) -> HostMachineService:
    operations = MachineOperations(
        backend.settings, lambda _settings: FixedBackends({DESKTOP: backend})
    )
    return HostMachineService(backend.settings, operations=operations)


def test_machine_is_rewound_as_by_the_command(
    machine_service: HostMachineService, backend: ForkingFake
) -> None:
    folder = backend.folder("desktop-1")
    backend.write(folder, MachineState.STOPPED)
    backend.machine = Paused
    message = "desktop-1 was rewound and verified in 0.00 s."
    assert machine_service.rewind("desktop-1") == message
    assert (record := folder.read()) is not None
    assert record.state is MachineState.READY


def test_failed_rewind_closes_the_links_of_its_machine(
    machine_service: HostMachineService, backend: ForkingFake
) -> None:
    backend.damaged.add("desktop-1")
    with pytest.raises(ResetMismatchError):
        machine_service.rewind("desktop-1")
    assert backend.released == ["desktop-1"]


def test_machine_is_stopped_and_forked(
    machine_service: HostMachineService, backend: ForkingFake
) -> None:
    claim = backend.folder("desktop-1").require_claim()
    with pytest.raises(MachineBusyError):
        machine_service.stop("desktop-1")
    claim.release()
    assert machine_service.stop("desktop-1") == "desktop-1 was stopped."
    assert machine_service.fork() == "desktop-fork-1 was verified after 0.10 s."
