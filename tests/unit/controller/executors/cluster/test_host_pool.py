from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from controller.executors.cluster.host_pool import HostPool, HostReport, appliance_id
from controller.executors.cluster.records import ClusterFiles
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import RequirementError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import create_folder
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.provisioning.fleet.test_local import ForkingFake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path)


@pytest.fixture
def backend(settings: Settings) -> ForkingFake:
    return ForkingFake(settings)


@pytest.fixture
def fleet(settings: Settings, backend: ForkingFake) -> LocalFleet:
    return LocalFleet(settings, FixedBackends({DESKTOP: backend}), judges_images=False)


@pytest.fixture
def pool(settings: Settings, fleet: LocalFleet) -> Iterator[HostPool]:
    opened = HostPool("a", settings, fleet, every_s=3600)
    yield opened
    opened.close()


def report(pool: HostPool) -> HostReport:
    return HostReport.model_validate_json(pool.report())


def leave(
    settings: Settings, backend: ForkingFake, name: str, state: MachineState, *, fork: bool
) -> None:
    """Leave a machine as a killed process does."""
    claim = create_folder(settings.machines_dir, name)
    backend.write(claim.folder, state, is_fork=fork)
    claim.release()


def age(settings: Settings, name: str) -> None:
    """Make a folder older than anybody needs to claim it."""
    old_s = SYSTEM_CLOCK.now_s() - 3600
    os.utime(settings.machines_dir / name, (old_s, old_s))


def test_machines_that_are_there_are_adopted(
    settings: Settings, backend: ForkingFake, fleet: LocalFleet
) -> None:
    leave(settings, backend, "desktop-1", MachineState.READY, fork=False)
    leave(settings, backend, "desktop-2", MachineState.READY, fork=False)
    leave(settings, backend, "desktop-3", MachineState.LEASED, fork=True)
    leave(settings, backend, "desktop-4", MachineState.STARTING, fork=False)
    create_folder(settings.machines_dir, "desktop-5").release()
    age(settings, "desktop-5")
    backend.strays = ["desktop-6: its folder is gone"]
    pool = HostPool("a", settings, fleet, every_s=3600)
    pool.close()
    assert fleet.machine_ids() == {"desktop-1", "desktop-2"}
    assert report(pool).removed == 4
    assert report(pool).machines == 2
    assert backend.made == 0


def test_machines_that_somebody_makes_or_uses_stay(
    settings: Settings, backend: ForkingFake, fleet: LocalFleet, pool: HostPool
) -> None:
    making = create_folder(settings.machines_dir, "desktop-9")
    with fleet.acquire({"desktop": ResourceSpec(DESKTOP)}):
        pool.sweep()
        fleet.wait_for_jobs()
        assert report(pool).leases == 1
        assert report(pool).removed == 0
        assert "desktop-9" in fleet.machine_ids()
    making.release()
    pool.sweep()
    assert "desktop-9" in fleet.machine_ids()  # perhaps it is about to be claimed
    age(settings, "desktop-9")
    pool.sweep()
    assert "desktop-9" not in fleet.machine_ids()
    assert report(pool).leases == 0


def test_the_reaper_ends_leases_without_a_holder(
    settings: Settings, backend: ForkingFake, fleet: LocalFleet
) -> None:
    pool = HostPool("a", settings, fleet, every_s=0.05)
    try:
        lease = fleet.acquire({"desktop": ResourceSpec(DESKTOP)})
        lease._lock.release()  # as the kernel does when the holder is killed
        ledger = Ledger(settings.state_dir / FILE)
        assert wait_until(lambda: not ledger.leases(), timeout_s=10)
    finally:
        pool.close()


def test_a_silent_host_is_reported_and_nothing_is_removed(
    settings: Settings, backend: ForkingFake, fleet: LocalFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> list[str]:
        raise RequirementError("The engine does not answer.")

    monkeypatch.setattr(fleet, "remove_left", fail)
    pool = HostPool("a", settings, fleet, every_s=3600)
    assert "does not answer" in report(pool).problem
    monkeypatch.undo()
    pool.sweep()
    assert report(pool).problem == ""
    pool.close()


def test_a_drained_host_says_so_and_remembers_it(settings: Settings, pool: HostPool) -> None:
    assert not report(pool).is_drained
    pool.drain(is_drained=True)
    pool.drain(is_drained=True)
    assert report(pool).is_drained
    assert ClusterFiles(settings).is_drained.exists()
    pool.drain(is_drained=False)
    assert not report(pool).is_drained
    assert report(pool).pid == os.getpid()


def test_standby_forks_are_started(backend: ForkingFake, fleet: LocalFleet, pool: HostPool) -> None:
    pool.fill(DESKTOP, "", {})
    fleet.wait_for_jobs()
    assert fleet.count_standby(ResourceSpec(DESKTOP)) > 0


def test_each_state_folder_is_an_appliance(tmp_path: Path) -> None:
    one, other = (appliance_id(Settings(state_dir=tmp_path / name)) for name in ("a", "b"))
    assert one != other
    assert one == appliance_id(Settings(state_dir=tmp_path / "a"))
