"""The sources of machines while others are being made, and how waits for them end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from foundation.cancel import CancelToken, ended_by
from foundation.clock import wait_until
from foundation.errors import CancelledError, MachineStartError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.local import LocalFleet
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.provisioning.fleet.test_lease import Lab
from tests.unit.provisioning.fleet.test_local import ROLES, FakeBackend, ForkingFake, HostFake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from provisioning.handle import HostMachine, MachineHandle
    from provisioning.lease import Lease
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport

WAIT_S = 10.0


class SlowBackend(ForkingFake):
    """A backend whose boots last until a test ends them, or ends the machine."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.is_template_made = False
        self.booting = threading.Semaphore(0)
        self.let_end = threading.Event()

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        handle = super().make(say)
        self.write(handle.folder, MachineState.STARTING)
        try:
            with ended_by(cancel, self.let_end.set):
                self.booting.release()
                assert self.let_end.wait(WAIT_S)
        except BaseException:
            handle.delete()
            raise
        self.is_template_made = True
        handle.folder.mark(MachineState.READY)
        return handle


class OtherBackend(ForkingFake):
    """Makes desktops of another distribution, which have other names here."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.is_template_made = False
        self.made = 10


class OtherBackends(FixedBackends):
    """Offers the desktops of an `OtherBackend` only."""

    def is_offered(self, record: MachineRecord) -> bool:
        return record.machine_id.startswith("desktop-1") and record.machine_id != "desktop-1"


class SlowLab(Lab):
    """A fleet whose first machine boots until a test ends the boot."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.slow = SlowBackend(self.settings)
        self.backend = self.slow
        self.fleet = LocalFleet(self.settings, FixedBackends({DESKTOP: self.slow}))
        self.leases: list[Lease] = []
        self.errors: list[Exception] = []

    def begin(self, cancel: CancelToken | None = None) -> threading.Thread:
        """Acquire a desktop in a thread."""

        def acquire() -> None:
            try:
                self.leases.append(self.fleet.acquire(ROLES, cancel=cancel))
            except MachineStartError as exc:
                self.errors.append(exc)
            except CancelledError as exc:
                self.errors.append(exc)

        thread = threading.Thread(target=acquire)
        thread.start()
        return thread

    def end(self) -> None:
        for lease in self.leases:
            lease.release()
        self.fleet.wait_for_jobs()


@pytest.fixture
def slow(tmp_path: Path) -> SlowLab:
    return SlowLab(tmp_path)


def waiting(lab: Lab) -> bool:
    return any(row.is_waiting for row in lab.ledger.leases())


def test_second_lease_waits_for_the_first_boot_and_forks_it(slow: SlowLab) -> None:
    first = slow.begin()
    assert slow.slow.booting.acquire(timeout=WAIT_S)
    second = slow.begin()
    assert wait_until(lambda: waiting(slow), timeout_s=WAIT_S, every_s=0.01)

    slow.slow.let_end.set()
    first.join(WAIT_S)
    second.join(WAIT_S)

    assert (slow.slow.made, slow.slow.forks) == (1, 1)
    assert len(slow.leases) == 2
    slow.end()


def test_second_lease_makes_its_own_machine_if_the_first_boot_is_cancelled(slow: SlowLab) -> None:
    first = slow.begin(cancel := CancelToken())
    assert slow.slow.booting.acquire(timeout=WAIT_S)
    second = slow.begin()
    assert wait_until(lambda: waiting(slow), timeout_s=WAIT_S, every_s=0.01)

    cancel.cancel()
    first.join(WAIT_S)
    second.join(WAIT_S)

    assert (slow.slow.made, len(slow.leases)) == (2, 1)
    assert [type(error) for error in slow.errors] == [CancelledError]
    slow.end()


def test_boot_of_another_distribution_is_not_waited_for(slow: SlowLab) -> None:
    first = slow.begin()
    assert slow.slow.booting.acquire(timeout=WAIT_S)
    other = OtherBackend(slow.settings)
    with LocalFleet(slow.settings, OtherBackends({DESKTOP: other})).acquire(ROLES):
        assert other.made == 11
    assert len(slow.leases) == 0

    slow.slow.let_end.set()
    first.join(WAIT_S)
    slow.end()


def test_machines_that_cannot_be_forked_are_all_made(tmp_path: Path) -> None:
    backend = FakeBackend(Settings(state_dir=tmp_path))
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}))
    with fleet.acquire({"one": ResourceSpec(DESKTOP), "other": ResourceSpec(DESKTOP)}):
        assert backend.made == 2


def test_second_desktop_of_a_trial_is_a_fork_of_the_first(
    slow: SlowLab,
) -> None:
    slow.slow.let_end.set()
    with slow.fleet.acquire({"one": ResourceSpec(DESKTOP), "other": ResourceSpec(DESKTOP)}):
        assert (slow.slow.made, slow.slow.forks) == (1, 1)
    slow.fleet.wait_for_jobs()


def test_cancellation_ends_a_boot_and_leaves_nothing(slow: SlowLab) -> None:
    thread = slow.begin(cancel := CancelToken())
    assert slow.slow.booting.acquire(timeout=WAIT_S)

    cancel.cancel("Interrupted.")
    thread.join(WAIT_S)

    assert [str(error) for error in slow.errors] == ["Interrupted."]
    assert slow.slow.made == 1
    assert (slow.ids(), slow.reserved(), slow.ledger.leases()) == ([], {}, [])


def test_cancellation_ends_the_wait_for_another_boot(slow: SlowLab) -> None:
    first = slow.begin()
    assert slow.slow.booting.acquire(timeout=WAIT_S)
    second = slow.begin(cancel := CancelToken())
    assert wait_until(lambda: waiting(slow), timeout_s=WAIT_S, every_s=0.01)

    cancel.cancel()
    second.join(WAIT_S)
    assert not second.is_alive()
    assert not waiting(slow)

    slow.slow.let_end.set()
    first.join(WAIT_S)
    assert len(slow.leases) == 1
    slow.end()


def test_acquisition_cancelled_in_advance_gets_nothing(slow: SlowLab) -> None:
    cancel = CancelToken()
    cancel.cancel()
    slow.begin(cancel).join(WAIT_S)
    assert [type(error) for error in slow.errors] == [CancelledError]
    assert slow.slow.made == 0


class Rested(HostFake):
    """A desktop that is paused while unused, and rewinds without a request to its guest."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.faults.add("start", MachineStartError("It was started while it was paused."))

    def pause(self) -> None:
        pass

    def reset_to(self, snapshot: str) -> ResetReport:
        return self.snapshots.rewind(snapshot)


class RestingBackend(FakeBackend):
    machine = Rested


def test_stopped_machine_is_rewound_without_running_first(tmp_path: Path) -> None:
    backend = RestingBackend(Settings(state_dir=tmp_path))
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}))
    for _ in range(2):
        with fleet.acquire(ROLES) as lease:
            assert lease.environment.resets["desktop"].path == "rewind"
    assert backend.made == 1
