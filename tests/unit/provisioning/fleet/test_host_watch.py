from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.clock import FakeClock
from foundation.errors import LinkClosedError, RequirementError, ResetMismatchError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.local import LocalFleet
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP
from tests.unit.provisioning.fleet.test_local import ROLES, FakeBackend, HostFake, ids

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.errors import MesocosmError
    from provisioning.handle import HostMachine
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

FOR_EVER = 1_000_000
SILENT = RequirementError("The hypervisor does not answer.")


class FailingBackend(FakeBackend):
    """A backend whose machines first fail with the errors of a list, then succeed."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.rewind_errors: list[MesocosmError] = []
        self.attach_error: MesocosmError | None = None

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        if self.attach_error is not None:
            raise self.attach_error
        machine = super().attach(folder, record)
        if self.rewind_errors:
            assert isinstance(machine, HostFake)
            machine.faults.add("rewind", self.rewind_errors.pop(0))
        return machine


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def backend(tmp_path: Path) -> FailingBackend:
    made = FailingBackend(Settings(state_dir=tmp_path))
    for name in ("desktop-a", "desktop-b", "desktop-c"):
        made.write(made.folder(name))
    return made


@pytest.fixture
def fleet(backend: FailingBackend, clock: FakeClock) -> LocalFleet:
    return LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}), clock=clock)


def states(backend: FakeBackend) -> set[MachineState | None]:
    records = [backend.folder(name).read() for name in ids(backend)]
    return {record.state if record else None for record in records}


@pytest.mark.parametrize("error", [SILENT, LinkClosedError("It went away.")])
def test_machines_of_an_unresponsive_host_are_kept(
    fleet: LocalFleet, backend: FailingBackend, clock: FakeClock, error: MesocosmError
) -> None:
    backend.silent_times = FOR_EVER
    backend.rewind_errors = [error] * 9
    began_s = clock.monotonic_s()

    with pytest.raises(RequirementError, match="does not answer"):
        fleet.acquire(ROLES)

    assert clock.monotonic_s() - began_s >= 30.0
    assert (len(ids(backend)), backend.deleted, backend.made) == (3, [], 0)
    assert states(backend) == {MachineState.READY}
    assert not any(backend.folder(name).is_claimed() for name in ids(backend))


def test_returning_host_is_waited_for(fleet: LocalFleet, backend: FailingBackend) -> None:
    backend.silent_times = 5
    backend.rewind_errors = [LinkClosedError("It went away.")]

    with fleet.acquire(ROLES):
        pass

    assert (len(ids(backend)), backend.deleted, backend.made) == (3, [], 0)


def test_host_restart_loses_no_machine(fleet: LocalFleet, backend: FailingBackend) -> None:
    backend.rewind_errors = [SILENT]
    with fleet.acquire(ROLES):
        pass
    assert (len(ids(backend)), backend.deleted) == (3, [])


def test_machine_failure_on_a_responding_host_is_its_own(
    fleet: LocalFleet, backend: FailingBackend
) -> None:
    backend.rewind_errors = [LinkClosedError("It went away.")]
    backend.damaged = {"desktop-b"}
    with fleet.acquire(ROLES):
        pass
    assert backend.deleted == ["desktop-a", "desktop-b"]


@pytest.mark.slow
def test_leased_machine_of_an_unresponsive_host_is_released_at_a_reset(
    fleet: LocalFleet, backend: FailingBackend
) -> None:
    lease = fleet.acquire(ROLES)
    machine = lease.environment.machines["desktop"]
    assert isinstance(machine, HostFake)
    machine.faults.add("rewind", SILENT)
    backend.silent_times = FOR_EVER

    with pytest.raises(RequirementError):
        lease.reset()

    assert (len(ids(backend)), backend.deleted) == (3, [])
    assert not backend.folder("desktop-a").is_claimed()


def test_stop_keeps_saved_machines_that_cannot_be_reached(
    fleet: LocalFleet, backend: FailingBackend
) -> None:
    backend.attach_error = RequirementError("The desktop backend 'vm' is not available now.")
    fleet.stop_all()
    assert states(backend) == {MachineState.STOPPED}
    backend.attach_error = ResetMismatchError("It is broken.")
    fleet.stop_all()
    assert ids(backend) == []
