"""Leases that are renewed, reset, released or expired, and leases whose holder died."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import LeaseExpiredError, MachineError, StoreError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.lease import Fleet, Lease
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.provisioning.fleet.test_local import ROLES, ForkingFake, HostFake

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.cancel import CancelToken
    from provisioning.handle import HostMachine, MachineHandle


class Lab:
    """A fleet of in-memory machines, with a stopped clock."""

    def __init__(self, path: Path, **settings: str) -> None:
        self.settings = Settings.model_validate(
            {"state_dir": path, "desktop_pool": "0", **settings}
        )
        self.backend = ForkingFake(self.settings)
        self.clock = FakeClock()
        self.ledger = Ledger(self.settings.state_dir / FILE)
        self.fleet = self.another()

    def another(self) -> LocalFleet:
        """Return a fleet over the same machines, as in another process."""
        return LocalFleet(self.settings, FixedBackends({DESKTOP: self.backend}), clock=self.clock)

    def ids(self) -> list[str]:
        return [folder.machine_id for folder in iter_folders(self.settings)]

    def reserved(self) -> dict[str, int]:
        return {row.machine_id: row.reserved_mib for row in self.ledger.machines()}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, desktop_reset="fork")


@pytest.fixture
def saved(tmp_path: Path) -> Lab:
    """A lab that leases one saved machine repeatedly."""
    lab = Lab(tmp_path)
    lab.backend.is_template_made = False
    return lab


def folder_of(lease: Lease) -> str:
    return cast("HostFake", lease.environment.machines["desktop"]).folder.machine_id


def test_fleet_and_leases_implement_the_protocols(lab: Lab) -> None:
    assert isinstance(lab.fleet, Fleet)
    with lab.fleet.acquire(ROLES) as lease:
        assert isinstance(lease, Lease)


def test_lease_is_in_the_ledger_until_released(lab: Lab) -> None:
    lease = lab.fleet.acquire(ROLES, ttl_s=60.0)
    lab.fleet.wait_for_jobs()  # standby forks are made under a separate row
    (row,) = lab.ledger.leases()
    assert (row.lease_id, row.specs) == (lease.lease_id, ("desktop",))
    assert row.holder.startswith(f"{os.getpid()}@")
    assert row.expires_s == lease.expires_s == lab.clock.now_s() + 60.0
    assert [machine.machine_id for machine in lab.ledger.machines(lease.lease_id)] == [
        "desktop-fork-1"
    ]

    lease.release()
    lease.release()
    lab.fleet.wait_for_jobs()
    assert lab.ledger.leases() == []
    assert lab.ledger.machines() == []
    assert lab.ids() == []
    assert list((lab.settings.run_dir / "leases").iterdir()) == []


def test_released_lease_provides_no_machines(lab: Lab) -> None:
    lease = lab.fleet.acquire(ROLES)
    lease.release()
    with pytest.raises(LeaseExpiredError, match="was released"):
        _ = lease.environment


def test_renewed_lease_outlives_its_first_expiry(lab: Lab) -> None:
    with lab.fleet.acquire(ROLES, ttl_s=60.0) as lease:
        lab.clock.advance(59.0)
        lease.renew()
        lab.clock.advance(59.0)
        lab.another().sweep()
        assert lease.environment.resets["desktop"].path == "fork"
        lease.renew(5.0)
        assert lease.expires_s == lab.clock.now_s() + 5.0


def test_expired_lease_is_reaped_by_the_next_acquisition(lab: Lab) -> None:
    late = lab.fleet.acquire(ROLES, ttl_s=60.0)
    lab.clock.advance(60.0)
    with lab.another().acquire(ROLES) as lease:
        assert lab.ids() == ["desktop-fork-2"]
        assert folder_of(lease) == "desktop-fork-2"
        with pytest.raises(LeaseExpiredError, match="ended after 60 s"):
            late.renew()
        with pytest.raises(LeaseExpiredError):
            _ = late.environment
        late.release()
        assert lab.ids() == ["desktop-fork-2"]


def test_late_holder_cannot_reach_the_machine_of_the_next_one(saved: Lab) -> None:
    late = saved.fleet.acquire(ROLES, ttl_s=60.0)
    first = folder_of(late)
    saved.clock.advance(61.0)
    with saved.another().acquire(ROLES) as lease:
        assert folder_of(lease) != first
    assert first in saved.backend.deleted
    late.release()


def test_expired_lease_is_raised_whatever_failed_in_its_block(lab: Lab) -> None:
    def use() -> None:
        with lab.fleet.acquire(ROLES, ttl_s=60.0):
            lab.clock.advance(61.0)
            lab.another().sweep()
            raise MachineError("It does not answer.")

    with pytest.raises(LeaseExpiredError) as caught:
        use()
    assert isinstance(caught.value.__cause__, MachineError)


def test_lease_expires_on_time_without_another_caller(tmp_path: Path) -> None:
    backend = ForkingFake(Settings(state_dir=tmp_path, desktop_reset="fork", desktop_pool="0"))
    messages: list[str] = []
    ended = threading.Event()
    backend.on_delete = lambda _machine_id: ended.set()
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}), say=messages.append)
    lease = fleet.acquire(ROLES, ttl_s=0.05)
    assert ended.wait(timeout=10.0)
    with pytest.raises(LeaseExpiredError):
        lease.renew()
    assert messages == [f"the lease {lease.lease_id} expired: its machines are destroyed"]
    lease.release()


def killed_holder(fleet: LocalFleet) -> None:
    """Let another process acquire a desktop and be killed."""
    child = os.fork()
    if child == 0:
        fleet.acquire(ROLES)
        os._exit(9)
    os.waitpid(child, 0)


def test_fork_of_a_killed_holder_is_destroyed_at_the_next_acquisition(lab: Lab) -> None:
    killed_holder(lab.fleet)
    assert lab.ids() == ["desktop-fork-1"]
    lab.backend.forks = 1  # what the other process counted
    with lab.fleet.acquire(ROLES):
        assert lab.ids() == ["desktop-fork-2"]
        assert lab.reserved() == {"desktop-fork-2": 1}
        lab.fleet.wait_for_jobs()
        assert len(lab.ledger.leases()) == 1


def test_saved_machine_of_a_killed_holder_is_leased_again(saved: Lab) -> None:
    saved.fleet.prepare([ResourceSpec(DESKTOP)])
    killed_holder(saved.fleet)
    with saved.fleet.acquire(ROLES) as lease:
        assert saved.ids() == ["desktop-1"]
        assert folder_of(lease) == "desktop-1"


def test_reset_provides_another_fork(lab: Lab) -> None:
    with lab.fleet.acquire(ROLES) as lease:
        environment = lease.reset()
        assert environment is not None
        assert folder_of(lease) == "desktop-fork-2"
        lab.fleet.wait_for_jobs()  # the previous fork ends in the background
        assert [row.machine_id for row in lab.ledger.machines(lease.lease_id)] == ["desktop-fork-2"]
        assert lab.ids() == ["desktop-fork-2"]


def test_reset_rewinds_a_saved_machine(saved: Lab) -> None:
    with saved.fleet.acquire(ROLES) as lease:
        before = lease.environment
        cast("HostFake", before.machines["desktop"]).text("dirt")
        lease.reset()
        assert folder_of(lease) == "desktop-1"
        assert lease.environment.resets["desktop"].path == "rewind"


def test_machine_that_fails_to_reset_is_replaced(saved: Lab) -> None:
    from foundation.errors import ResetMismatchError

    with saved.fleet.acquire(ROLES) as lease:
        machine = cast("HostFake", lease.environment.machines["desktop"])
        machine.faults.add("rewind", ResetMismatchError("It differs."))
        lease.reset()
        assert folder_of(lease) == "desktop-2"
    assert saved.ids() == ["desktop-2"]


def test_lease_ends_when_its_reset_fails(saved: Lab) -> None:
    lease = saved.fleet.acquire(ROLES)
    saved.backend.damaged = {"desktop-2", "desktop-3"}
    machine = cast("HostFake", lease.environment.machines["desktop"])
    machine.faults.add("rewind", MachineError("It is gone."))
    with pytest.raises(MachineError, match="No desktop"):
        lease.reset()
    assert saved.ledger.leases() == []
    assert saved.ids() == []


def test_fork_ends_in_the_background(lab: Lab) -> None:
    may_end = threading.Event()
    lab.backend.on_delete = lambda _machine_id: may_end.wait(timeout=10.0)
    lease = lab.fleet.acquire(ROLES)
    lease.release()  # returns although the fork cannot end yet
    assert lab.ids() == ["desktop-fork-1"]
    assert lab.reserved() == {"desktop-fork-1": 1}  # its memory is not freed before
    may_end.set()
    lab.fleet.wait_for_jobs()
    assert lab.ids() == []
    assert lab.reserved() == {}


def test_all_machines_of_a_lease_are_acquired_or_none(lab: Lab) -> None:
    lab.backend.broken = {"desktop-fork-2", "desktop-fork-3"}
    lab.backend.damaged = {"desktop-1", "desktop-2"}
    with pytest.raises(MachineError, match="No desktop is available"):
        lab.fleet.acquire({"one": ResourceSpec(DESKTOP), "two": ResourceSpec(DESKTOP)})
    assert lab.ids() == []
    assert lab.reserved() == {}
    assert lab.ledger.leases() == []


def test_interrupted_acquisition_leaves_nothing_reserved(lab: Lab) -> None:
    class Interrupted(ForkingFake):
        def start_standby(
            self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
        ) -> MachineHandle[HostMachine] | None:
            raise KeyboardInterrupt

    fleet = LocalFleet(
        lab.settings, FixedBackends({DESKTOP: Interrupted(lab.settings)}), clock=lab.clock
    )
    with pytest.raises(KeyboardInterrupt):
        fleet.acquire(ROLES)
    assert lab.reserved() == {}
    assert lab.ledger.leases() == []


def test_stopped_machine_reserves_no_memory_until_leased(saved: Lab) -> None:
    saved.fleet.prepare([ResourceSpec(DESKTOP)])
    assert saved.reserved() == {"desktop-1": 1}
    saved.fleet.stop_all()
    assert saved.reserved() == {}
    with saved.fleet.acquire(ROLES):
        assert saved.reserved() == {"desktop-1": 1}


def test_machine_stopped_by_hand_frees_its_memory(saved: Lab) -> None:
    saved.fleet.prepare([ResourceSpec(DESKTOP)])
    saved.backend.folder("desktop-1").mark(MachineState.STOPPED)
    saved.fleet.sweep()
    assert saved.reserved() == {}


def test_machines_missing_in_the_ledger_count(saved: Lab) -> None:
    saved.backend.write(saved.backend.folder("desktop-old"), MachineState.READY)
    saved.fleet.sweep()
    assert saved.reserved() == {"desktop-old": 1}
    saved.backend.folder("desktop-old").remove()
    saved.fleet.sweep()
    assert saved.reserved() == {}


def test_ledger_of_another_version_is_rejected_by_name(lab: Lab) -> None:
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(lab.settings.state_dir / FILE)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        lab.fleet.acquire(ROLES)
