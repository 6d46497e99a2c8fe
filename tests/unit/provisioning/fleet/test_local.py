from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import (
    MachineError,
    RequirementError,
    ResetMismatchError,
    SnapshotError,
)
from foundation.settings import Settings
from provisioning.fake import FakeDesktop
from provisioning.fleet.allocation import Allocation
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.local import LocalFleet
from provisioning.handle import MachineHandle
from provisioning.machine_folder import MachineFolder, create_folder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, ResetReport
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.cancel import CancelToken
    from provisioning.handle import HostMachine
    from provisioning.machine_folder import MachineClaim
    from provisioning.machine_record import MachineRecord

ROLES = {"desktop": ResourceSpec(DESKTOP)}


class HostFake(FakeDesktop):
    """An in-memory desktop that has a folder on disk."""

    def __init__(self, folder: MachineFolder, backend: FakeBackend) -> None:
        super().__init__()
        self.folder = folder
        self.save(READY)
        if folder.machine_id in backend.damaged:
            self.faults.add("rewind", ResetMismatchError("It differs."))
        self._backend = backend
        self.stopped = threading.Event()

    def stop(self) -> None:
        super().stop()
        self.stopped.set()

    def release(self) -> None:
        self._backend.released.append(self.folder.machine_id)

    def delete(self) -> None:
        self._backend.deleted.append(self.folder.machine_id)
        self._backend.on_delete(self.folder.machine_id)
        self.folder.remove()


class FakeBackend:
    """Makes numbered in-memory machines; rewinds of `damaged` ones fail."""

    machine_mib = 1
    machine: type[HostFake] = HostFake

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stamp = "today"
        self.made = 0
        self.damaged: set[str] = set()
        self.released: list[str] = []
        self.deleted: list[str] = []
        self.strays: list[str] = []
        self.silent_times = 0
        self.on_delete: Callable[[str], object] = lambda _machine_id: None

    def reserved_mib(self, record: MachineRecord) -> int:
        return self.machine_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        say("making")
        self.made += 1
        claim = create_folder(self.settings.machines_dir, f"desktop-{self.made}")
        self.write(claim.folder)
        return self.handle(claim)

    def handle(self, claim: MachineClaim) -> MachineHandle[HostMachine]:
        return MachineHandle(cast("HostMachine", self.machine(claim.folder, self)), claim)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        return cast("HostMachine", self.machine(folder, self))

    def fits(self, record: MachineRecord) -> bool:
        return record.stamp == self.stamp

    def remove_by_id(self, machine_id: str) -> None:
        pass

    def remove_strays(self) -> list[str]:
        return self.strays

    def require_host(self) -> None:
        if self.silent_times:
            self.silent_times -= 1
            raise RequirementError("The hypervisor does not answer.")

    def folder(self, name: str) -> MachineFolder:
        return MachineFolder(self.settings.machines_dir / name)

    def write(
        self,
        folder: MachineFolder,
        state: MachineState = MachineState.READY,
        *,
        is_fork: bool = False,
    ) -> None:
        folder.write(
            desktop_record(
                folder.machine_id, "fake", state=state, stamp=self.stamp, is_fork=is_fork
            )
        )


class ForkingFake(FakeBackend):
    """Also makes forks, once there is a template."""

    fork_mib = 1

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.is_template_made = True
        self.rehearsed: list[str] = []
        self.forks = 0
        self.broken: set[str] = set()
        self.ended: set[str] = set()

    def ensure_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        say(f"template of {machine.folder.machine_id}")
        self.is_template_made = True

    def has_template(self) -> bool:
        return self.is_template_made

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine] | None:
        if not self.is_template_made:
            return None
        self.forks += 1
        claim = create_folder(self.settings.machines_dir, f"desktop-fork-{self.forks}")
        self.write(claim.folder, MachineState.WAITING, is_fork=True)
        if is_rehearsed:
            self.rehearsed.append(claim.folder.machine_id)
        return self.handle(claim)

    def is_up(self, machine_id: str) -> bool:
        return machine_id not in self.ended

    def wake(self, machine: HostMachine) -> ResetReport:
        if machine.folder.machine_id in self.broken:
            raise SnapshotError("It does not wake.")
        machine.folder.mark(MachineState.STARTING)
        return ResetReport("fork", 0.1)


@pytest.fixture
def forking(tmp_path: Path) -> ForkingFake:
    return ForkingFake(Settings(state_dir=tmp_path, desktop_pool="1"))


@pytest.fixture
def backend(tmp_path: Path) -> FakeBackend:
    return FakeBackend(Settings(state_dir=tmp_path))


@pytest.fixture
def fleet(backend: FakeBackend) -> LocalFleet:
    return LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}))


def ids(backend: FakeBackend) -> list[str]:
    return [folder.machine_id for folder in iter_folders(backend.settings)]


def test_machine_is_made_once_and_leased_again(fleet: LocalFleet, backend: FakeBackend) -> None:
    for _ in range(3):
        with fleet.acquire(ROLES) as environment_lease:
            environment = environment_lease.environment
            assert environment.resets["desktop"].differences == ()

    assert backend.made == 1
    assert backend.released == ["desktop-1"] * 3


def test_two_leases_at_once_never_share_a_machine(fleet: LocalFleet, backend: FakeBackend) -> None:
    with (
        fleet.acquire(ROLES) as one_lease,
        LocalFleet(backend.settings, FixedBackends({DESKTOP: backend})).acquire(
            ROLES
        ) as other_lease,
    ):
        environment = one_lease.environment
        other = other_lease.environment
        assert environment.machines["desktop"] is not other.machines["desktop"]
        assert ids(backend) == ["desktop-1", "desktop-2"]


def test_record_follows_the_lease(fleet: LocalFleet, backend: FakeBackend) -> None:
    folder = backend.folder("desktop-1")
    with fleet.acquire(ROLES):
        assert (record := folder.read()) is not None
        assert record.state is MachineState.LEASED
    assert (record := folder.read()) is not None
    assert record.state is MachineState.READY


def test_machine_is_released_when_the_block_raises(fleet: LocalFleet, backend: FakeBackend) -> None:
    with pytest.raises(ZeroDivisionError), fleet.acquire(ROLES):
        raise ZeroDivisionError

    assert not backend.folder("desktop-1").is_claimed()


def test_machine_that_fails_to_reset_is_discarded_and_replaced(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    fleet.prepare([ResourceSpec(DESKTOP)])
    backend.damaged.add("desktop-1")

    with fleet.acquire(ROLES):
        assert ids(backend) == ["desktop-2"]

    assert backend.deleted == ["desktop-1"]


def test_failure_of_all_machines_is_reported_and_leaves_none(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    backend.damaged.update({"desktop-1", "desktop-2"})

    with pytest.raises(MachineError, match="It differs") as caught, fleet.acquire(ROLES):
        pass

    assert "No desktop is available." in caught.value.brief
    assert ids(backend) == []


def test_machine_of_an_outdated_image_is_not_leased(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    fleet.prepare([ResourceSpec(DESKTOP)])
    backend.stamp = "tomorrow"

    with fleet.acquire(ROLES):
        assert ids(backend) == ["desktop-2"]


def test_sweep_removes_incomplete_machines_and_keeps_complete_ones(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    backend.write(backend.folder("desktop-half"), MachineState.STARTING)
    backend.write(backend.folder("desktop-whole"), MachineState.LEASED)
    backend.write(backend.folder("desktop-xtra"), MachineState.READY)
    backend.folder("desktop-bare").path.mkdir()
    backend.strays = ["desktop-stray: its folder is gone"]

    removed = fleet.sweep()

    assert [line.split(":")[0] for line in removed] == [
        "desktop-bare",
        "desktop-half",
        "desktop-xtra",
        "desktop-stray",
    ]
    assert ids(backend) == ["desktop-whole"]
    assert (record := backend.folder("desktop-whole").read()) is not None
    assert record.state is MachineState.READY


def test_sweep_leaves_machines_in_use_alone(fleet: LocalFleet, backend: FakeBackend) -> None:
    with fleet.acquire(ROLES):
        backend.stamp = "tomorrow"
        assert LocalFleet(backend.settings, FixedBackends({DESKTOP: backend})).sweep() == []
        assert ids(backend) == ["desktop-1"]


def test_machine_of_a_killed_holder_is_leased_again(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    fleet.prepare([ResourceSpec(DESKTOP)])
    child = os.fork()
    if child == 0:
        with fleet.acquire(ROLES):
            os._exit(9)
    os.waitpid(child, 0)
    assert (record := backend.folder("desktop-1").read()) is not None
    assert record.state is MachineState.LEASED

    with fleet.acquire(ROLES):
        assert ids(backend) == ["desktop-1"]


def test_remove_all_leaves_nothing(fleet: LocalFleet, backend: FakeBackend) -> None:
    fleet.prepare([ResourceSpec(DESKTOP)])

    assert fleet.remove_all() == ["desktop-1"]
    assert ids(backend) == []


def test_stopped_machines_are_kept_and_leased_again(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    fleet.prepare([ResourceSpec(DESKTOP)])
    backend.write(backend.folder("desktop-half"), MachineState.STARTING)

    assert fleet.stop_all() == ["desktop-1", "desktop-half"]

    assert ids(backend) == ["desktop-1"]
    assert (record := backend.folder("desktop-1").read()) is not None
    assert record.state is MachineState.STOPPED
    with fleet.acquire(ROLES):
        assert backend.made == 1


# -- forks


def forks(backend: ForkingFake, state: MachineState) -> list[str]:
    records = [(folder, folder.read()) for folder in iter_folders(backend.settings)]
    return [
        folder.machine_id
        for folder, record in records
        if record and record.is_fork and record.state is state
    ]


def filled(fleet: LocalFleet) -> None:
    """Wait until the forks started in the background are on standby."""
    fleet.fill(ResourceSpec(DESKTOP)).join(timeout=10.0)


def test_second_desktop_is_a_fork_and_ends_with_its_lease(forking: ForkingFake) -> None:
    fleet = LocalFleet(forking.settings, FixedBackends({DESKTOP: forking}))
    forking.is_template_made = False
    fleet.prepare([ResourceSpec(DESKTOP)])
    assert forking.is_template_made
    with fleet.acquire(ROLES), fleet.acquire(ROLES) as second_lease:
        second = second_lease.environment
        assert second.resets["desktop"].path == "fork"
        assert second.machines["desktop"].folder.machine_id == "desktop-fork-1"  # type: ignore[attr-defined]
    fleet.wait_for_jobs()

    assert forking.made == 1
    assert forking.deleted == ["desktop-fork-1"]
    assert forks(forking, MachineState.WAITING) == ["desktop-fork-2"]


def test_possible_forks_are_counted(forking: ForkingFake, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = LocalFleet(forking.settings, FixedBackends({DESKTOP: forking}))
    monkeypatch.setattr(Allocation, "free_mib", lambda _self: 3 * forking.fork_mib)
    assert fleet.count_possible_forks(ResourceSpec(DESKTOP)) == 3
    monkeypatch.setattr(ForkingFake, "has_template", lambda _self: False)
    assert fleet.count_possible_forks(ResourceSpec(DESKTOP)) == 0


def test_machines_are_listed_whether_in_use_or_not(forking: ForkingFake) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork", "desktop_pool": "0"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))
    with fleet.acquire(ROLES):
        assert fleet.machine_ids() == {"desktop-fork-1"}
    fleet.wait_for_jobs()
    assert fleet.machine_ids() == set()


def test_lease_takes_the_standby_fork(forking: ForkingFake) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))
    filled(fleet)
    assert forks(forking, MachineState.WAITING) == ["desktop-fork-1"]

    with fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        assert environment.resets["desktop"].path == "fork"
        assert forks(forking, MachineState.LEASED) == ["desktop-fork-1"]
    assert forking.made == 0


def test_another_process_can_be_asked_to_replace_leased_forks(forking: ForkingFake) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    filled(LocalFleet(settings, FixedBackends({DESKTOP: forking})))
    asked: list[ResourceSpec] = []
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}), refill=asked.append)
    with fleet.acquire(ROLES):
        fleet.wait_for_jobs()
        assert asked == [ResourceSpec(DESKTOP)]
        assert forks(forking, MachineState.WAITING) == []


def test_only_standby_forks_are_rehearsed(
    forking: ForkingFake,
) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))
    with fleet.acquire(ROLES):
        fleet.wait_for_jobs()
    assert forking.forks == 2
    assert forking.rehearsed == ["desktop-fork-2"]


def test_fork_that_does_not_wake_is_discarded_and_replaced(forking: ForkingFake) -> None:
    forking.broken = {"desktop-fork-1"}
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    with LocalFleet(settings, FixedBackends({DESKTOP: forking})).acquire(ROLES):
        assert forks(forking, MachineState.LEASED) == ["desktop-fork-2"]
    assert forking.deleted[0] == "desktop-fork-1"


def test_machine_is_made_without_a_template(forking: ForkingFake) -> None:
    forking.is_template_made = False
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    with LocalFleet(settings, FixedBackends({DESKTOP: forking})).acquire(ROLES):
        assert forking.made == 1


def test_fork_of_another_template_is_not_woken(forking: ForkingFake) -> None:
    fleet = LocalFleet(
        forking.settings.model_copy(update={"desktop_reset": "fork"}),
        FixedBackends({DESKTOP: forking}),
    )
    filled(fleet)
    forking.stamp = "tomorrow"
    with fleet.acquire(ROLES):
        assert forks(forking, MachineState.LEASED) == ["desktop-fork-2"]


def test_sweep_ends_forks_of_dead_leases_and_keeps_standby_ones(
    forking: ForkingFake,
) -> None:
    fleet = LocalFleet(forking.settings, FixedBackends({DESKTOP: forking}))
    filled(fleet)
    forking.write(forking.folder("desktop-fork-dead"), MachineState.LEASED, is_fork=True)

    assert fleet.sweep() == ["desktop-fork-dead: its lease ended"]
    assert forks(forking, MachineState.WAITING) == ["desktop-fork-1"]
    assert sorted(fleet.stop_all()) == ["desktop-fork-1"]
    assert ids(forking) == []


def test_forks_with_an_ended_hypervisor_are_replaced(forking: ForkingFake) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork", "desktop_pool": "3"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))
    filled(fleet)
    forking.ended = {"desktop-fork-1", "desktop-fork-2", "desktop-fork-3"}

    with fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        assert environment.resets["desktop"].path == "fork"
        assert forks(forking, MachineState.LEASED) == ["desktop-fork-4"]
    assert forking.made == 0


def test_forks_that_all_fail_to_wake_are_replaced(forking: ForkingFake) -> None:
    settings = forking.settings.model_copy(update={"desktop_reset": "fork", "desktop_pool": "3"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))
    filled(fleet)
    forking.broken = {"desktop-fork-1", "desktop-fork-2", "desktop-fork-3"}

    with fleet.acquire(ROLES):
        assert forks(forking, MachineState.LEASED) == ["desktop-fork-4"]


def test_manually_made_fork_is_not_leased_or_swept(forking: ForkingFake) -> None:
    forking.write(forking.folder("desktop-mine"), MachineState.KEPT, is_fork=True)
    settings = forking.settings.model_copy(update={"desktop_reset": "fork"})
    fleet = LocalFleet(settings, FixedBackends({DESKTOP: forking}))

    assert fleet.sweep() == []
    with fleet.acquire(ROLES), fleet.acquire(ROLES):
        assert forks(forking, MachineState.KEPT) == ["desktop-mine"]
    fleet.prepare([ResourceSpec(DESKTOP)])
    assert forks(forking, MachineState.KEPT) == ["desktop-mine"]

    forking.ended = {"desktop-mine"}
    assert fleet.sweep() == ["desktop-mine: its process ended"]


def test_ended_forks_are_removed_unless_in_use(forking: ForkingFake) -> None:
    for name in ("held", "runs", "gone"):
        forking.write(forking.folder(f"desktop-{name}"), MachineState.WAITING, is_fork=True)
    forking.write(forking.folder("desktop-saved"), MachineState.READY)
    forking.write(forking.folder("desktop-begun"), MachineState.STARTING, is_fork=True)
    forking.write(forking.folder("desktop-left"), MachineState.LEASED, is_fork=True)
    fleet = LocalFleet(forking.settings, FixedBackends({DESKTOP: forking}))
    forking.ended = {"desktop-held", "desktop-gone", "desktop-saved"}
    claim = forking.folder("desktop-held").claim()
    assert claim is not None

    assert fleet.remove_ended() == [
        "desktop-gone: its process ended",
        "desktop-left: its lease ended",
    ]
    claim.release()
    assert fleet.remove_ended() == ["desktop-held: its process ended"]
    assert fleet.remove_ended() == []
    assert sorted(ids(forking)) == ["desktop-begun", "desktop-runs", "desktop-saved"]


# -- leased and surplus machines


def test_prepare_makes_no_second_machine_while_the_only_one_is_leased(
    fleet: LocalFleet, backend: FakeBackend
) -> None:
    with fleet.acquire(ROLES):
        assert (
            LocalFleet(backend.settings, FixedBackends({DESKTOP: backend})).prepare(
                [ResourceSpec(DESKTOP)]
            )
            == []
        )
    assert backend.made == 1
    assert len(fleet.prepare([ResourceSpec(DESKTOP)])) == 1
    assert backend.made == 1


def test_idle_machines_beyond_the_pool_are_removed(
    tmp_path: Path,
) -> None:
    backend = ForkingFake(Settings(state_dir=tmp_path, desktop_pool="2"))
    clock = FakeClock()
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}), clock=clock)
    for name in ("desktop-1", "desktop-2", "desktop-3", "desktop-4"):
        backend.write(backend.folder(name))
    for name in ("desktop-fork-1", "desktop-fork-2", "desktop-fork-3"):
        backend.write(backend.folder(name), MachineState.WAITING, is_fork=True)
    for folder in iter_folders(backend.settings):
        os.utime(folder.path / "meta.json", (clock.now_s(), clock.now_s()))
    assert fleet.trim(600.0) == []
    clock.advance(601.0)
    claim = backend.folder("desktop-4").require_claim()
    removed = fleet.trim(600.0)
    claim.release()
    assert [line.partition(":")[0] for line in removed] == ["desktop-3", "desktop-fork-3"]
    assert "desktop-4" in ids(backend)


def test_only_machine_of_each_distribution_is_kept(backend: FakeBackend) -> None:
    clock = FakeClock()
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}), clock=clock)
    images = {"desktop-1": "desktop:debian-12", "desktop-2": "desktop:ubuntu-22.04"}
    for name, image in images.items():
        record = desktop_record(name, "fake", state=MachineState.READY, stamp="today", image=image)
        backend.folder(name).write(record)
    for folder in iter_folders(backend.settings):
        os.utime(folder.path / "meta.json", (clock.now_s(), clock.now_s()))
    clock.advance(601.0)
    assert fleet.trim(600.0) == []
    assert ids(backend) == ["desktop-1", "desktop-2"]
