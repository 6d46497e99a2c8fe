from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

import pytest

from appliance.base.errors import MachineError, ResetMismatchError
from appliance.base.settings import Settings
from provisioning.fake import FakeDesktop
from provisioning.lease import LocalFleet
from provisioning.machine_folder import MachineFolder, MachineRecord, MachineState, iter_folders
from provisioning.protocols import READY, Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from provisioning.makers import HostMachine

ROLES = {"desktop": Kind.DESKTOP}


class HostFake(FakeDesktop):
    """A desktop in memory that has a folder on disk."""

    def __init__(self, folder: MachineFolder, maker: FakeMaker) -> None:
        super().__init__()
        self.folder = folder
        self.save(READY)
        if folder.machine_id in maker.damaged:
            self.faults.add("rewind", ResetMismatchError("It differs."))
        self._maker = maker

    def release(self) -> None:
        self._maker.released.append(self.folder.machine_id)

    def delete(self) -> None:
        self._maker.deleted.append(self.folder.machine_id)
        self.folder.remove()


class FakeMaker:
    """Makes machines in memory, numbered; `damaged` ones do not come back from a rewind."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stamp = "today"
        self.made = 0
        self.damaged: set[str] = set()
        self.released: list[str] = []
        self.deleted: list[str] = []
        self.strays: list[str] = []

    def make(self, say: Callable[[str], None]) -> HostMachine:
        say("making")
        self.made += 1
        folder = self.folder(f"desktop-{self.made}")
        assert folder.lock.try_acquire()
        self.write(folder)
        return cast("HostMachine", HostFake(folder, self))

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        return cast("HostMachine", HostFake(folder, self))

    def fits(self, record: MachineRecord) -> bool:
        return record.details["stamp"] == self.stamp

    def remove_by_id(self, machine_id: str) -> None:
        pass

    def remove_strays(self) -> list[str]:
        return self.strays

    def folder(self, name: str) -> MachineFolder:
        return MachineFolder(self.settings.machines_dir / name)

    def write(self, folder: MachineFolder, state: MachineState = MachineState.READY) -> None:
        record = MachineRecord(
            machine_id=folder.machine_id,
            kind=Kind.DESKTOP,
            backend="fake",
            image="desktop:fake",
            image_digest="0" * 64,
            accelerator="none",
            state=state,
            details={"stamp": self.stamp},
        )
        folder.write(record)


@pytest.fixture
def maker(tmp_path: Path) -> FakeMaker:
    return FakeMaker(Settings(state_dir=tmp_path))


@pytest.fixture
def fleet(maker: FakeMaker) -> LocalFleet:
    return LocalFleet(maker.settings, {Kind.DESKTOP: maker})


def ids(maker: FakeMaker) -> list[str]:
    return [folder.machine_id for folder in iter_folders(maker.settings)]


def test_a_machine_is_made_once_and_lent_again(fleet: LocalFleet, maker: FakeMaker) -> None:
    for _ in range(3):
        with fleet.lease(ROLES) as environment:
            assert environment.resets["desktop"].differences == ()

    assert maker.made == 1
    assert maker.released == ["desktop-1"] * 3


def test_two_leases_at_once_never_share_a_machine(fleet: LocalFleet, maker: FakeMaker) -> None:
    with (
        fleet.lease(ROLES) as one,
        LocalFleet(maker.settings, {Kind.DESKTOP: maker}).lease(ROLES) as other,
    ):
        assert one.machines["desktop"] is not other.machines["desktop"]
        assert ids(maker) == ["desktop-1", "desktop-2"]


def test_the_record_follows_the_lease(fleet: LocalFleet, maker: FakeMaker) -> None:
    folder = maker.folder("desktop-1")
    with fleet.lease(ROLES):
        assert (found := folder.read()) is not None
        assert found.state is MachineState.LEASED
    assert (found := folder.read()) is not None
    assert found.state is MachineState.READY


def test_a_machine_goes_back_when_the_block_raises(fleet: LocalFleet, maker: FakeMaker) -> None:
    with pytest.raises(ZeroDivisionError), fleet.lease(ROLES):
        raise ZeroDivisionError

    assert maker.folder("desktop-1").lock.try_acquire()


def test_a_machine_that_does_not_come_back_is_thrown_away_and_replaced(
    fleet: LocalFleet, maker: FakeMaker
) -> None:
    fleet.prepare([Kind.DESKTOP])
    maker.damaged.add("desktop-1")

    with fleet.lease(ROLES):
        assert ids(maker) == ["desktop-2"]

    assert maker.deleted == ["desktop-1"]


def test_when_none_comes_back_the_reasons_are_told_and_nothing_is_left(
    fleet: LocalFleet, maker: FakeMaker
) -> None:
    maker.damaged.update({"desktop-1", "desktop-2"})

    with pytest.raises(MachineError, match="It differs") as caught, fleet.lease(ROLES):
        pass

    assert "No desktop can be had." in caught.value.brief
    assert ids(maker) == []


def test_a_machine_of_yesterdays_image_is_not_lent(fleet: LocalFleet, maker: FakeMaker) -> None:
    fleet.prepare([Kind.DESKTOP])
    maker.stamp = "tomorrow"

    with fleet.lease(ROLES):
        assert ids(maker) == ["desktop-2"]


def test_a_sweep_removes_what_dead_processes_left_and_keeps_what_is_whole(
    fleet: LocalFleet, maker: FakeMaker
) -> None:
    maker.write(maker.folder("desktop-half"), MachineState.STARTING)
    maker.write(maker.folder("desktop-whole"), MachineState.LEASED)
    maker.write(maker.folder("desktop-xtra"), MachineState.READY)
    maker.folder("desktop-bare").path.mkdir()
    maker.strays = ["desktop-stray: its folder is gone"]

    removed = fleet.sweep()

    assert [line.split(":")[0] for line in removed] == [
        "desktop-bare",
        "desktop-half",
        "desktop-xtra",
        "desktop-stray",
    ]
    assert ids(maker) == ["desktop-whole"]
    assert (found := maker.folder("desktop-whole").read()) is not None
    assert found.state is MachineState.READY


def test_a_sweep_leaves_machines_in_use_alone(fleet: LocalFleet, maker: FakeMaker) -> None:
    with fleet.lease(ROLES):
        maker.stamp = "tomorrow"
        assert LocalFleet(maker.settings, {Kind.DESKTOP: maker}).sweep() == []
        assert ids(maker) == ["desktop-1"]


def test_a_killed_holder_leaves_a_machine_that_is_lent_again(
    fleet: LocalFleet, maker: FakeMaker
) -> None:
    fleet.prepare([Kind.DESKTOP])
    child = os.fork()
    if child == 0:
        with fleet.lease(ROLES):
            os._exit(9)
    os.waitpid(child, 0)
    assert (found := maker.folder("desktop-1").read()) is not None
    assert found.state is MachineState.LEASED

    with fleet.lease(ROLES):
        assert ids(maker) == ["desktop-1"]


def test_remove_all_leaves_nothing(fleet: LocalFleet, maker: FakeMaker) -> None:
    fleet.prepare([Kind.DESKTOP])

    assert fleet.remove_all() == ["desktop-1"]
    assert ids(maker) == []


def test_stopped_machines_are_kept_and_lent_again(fleet: LocalFleet, maker: FakeMaker) -> None:
    fleet.prepare([Kind.DESKTOP])
    maker.write(maker.folder("desktop-half"), MachineState.STARTING)

    assert fleet.stop_all() == ["desktop-1", "desktop-half"]

    assert ids(maker) == ["desktop-1"]
    assert (found := maker.folder("desktop-1").read()) is not None
    assert found.state is MachineState.STOPPED
    with fleet.lease(ROLES):
        assert maker.made == 1
