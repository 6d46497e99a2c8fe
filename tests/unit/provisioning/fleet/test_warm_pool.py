"""What a run announces is prepared, and other forks give way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.settings import Settings
from provisioning.fleet import allocation, local
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import create_folder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.records import desktop_record
from tests.unit.provisioning.fleet.test_local import ForkingFake, HostFake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from foundation.cancel import CancelToken
    from provisioning.fleet.backend import Backend
    from provisioning.handle import HostMachine, MachineHandle
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

LEFT, RIGHT = ResourceSpec(DESKTOP, "left"), ResourceSpec(DESKTOP, "right")


class OfImage(ForkingFake):
    """Makes and forks desktops of one image."""

    def __init__(self, settings: Settings, image: str) -> None:
        super().__init__(settings)
        self.image = image

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        self.made += 1
        claim = create_folder(self.settings.machines_dir, f"{self.image}-{self.made}")
        self.write(claim.folder)
        return self.handle(claim)

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine] | None:
        self.forks += 1
        claim = create_folder(self.settings.machines_dir, f"{self.image}-fork-{self.forks}")
        self.write(claim.folder, MachineState.WAITING, is_fork=True)
        return self.handle(claim)

    def write(
        self,
        folder: MachineFolder,
        state: MachineState = MachineState.READY,
        *,
        is_fork: bool = False,
    ) -> None:
        name, image = folder.machine_id, f"desktop:{self.image}"
        folder.write(
            desktop_record(
                name, "fake", state=state, stamp=self.stamp, is_fork=is_fork, image=image
            )
        )


class ByImage(FixedBackends):
    """One backend for each image."""

    def __init__(self, settings: Settings) -> None:
        self.left, self.right = OfImage(settings, "left"), OfImage(settings, "right")
        super().__init__({"left": self.left, "right": self.right})

    def resolve(self, spec: ResourceSpec) -> ResourceSpec:
        return spec

    def of(self, spec: ResourceSpec) -> Backend:
        return self._backends[spec.image]

    def of_record(self, record: MachineRecord) -> Backend | None:
        return self._backends[self.spec_of(record).image]

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        return ResourceSpec(record.kind, record.image.partition(":")[2])

    def is_offered(self, record: MachineRecord) -> bool:
        return True


class Pair:
    """A fleet with desktops of two images."""

    def __init__(self, state_dir: Path, *, reset: str, pool: str) -> None:
        settings = Settings(state_dir=state_dir, desktop_reset=reset, desktop_pool=pool)
        self.settings = settings
        self.backends = ByImage(settings)
        self.fleet = LocalFleet(settings, self.backends)

    def machines(self) -> list[str]:
        self.fleet.wait_for_jobs()
        return [folder.machine_id for folder in iter_folders(self.settings)]


def test_desktops_of_two_images_are_leased_side_by_side(tmp_path: Path) -> None:
    pair = Pair(tmp_path, reset="rewind", pool="0")
    pair.backends.left.is_template_made = pair.backends.right.is_template_made = False
    for _ in range(2):
        with pair.fleet.acquire({"one": LEFT, "other": RIGHT}) as lease:
            one, other = lease.environment.resources.values()
            assert isinstance(one, HostFake)
            assert isinstance(other, HostFake)
            assert (one.folder.machine_id, other.folder.machine_id) == ("left-1", "right-1")
    assert (pair.backends.left.made, pair.backends.right.made) == (1, 1)
    assert pair.fleet.sweep() == []


def test_what_is_announced_stands_by(tmp_path: Path) -> None:
    pair = Pair(tmp_path, reset="fork", pool="2")
    pair.fleet.announce([LEFT, RIGHT, RIGHT])
    assert pair.machines() == ["left-fork-1", "right-fork-1", "right-fork-2"]
    pair.fleet.announce([LEFT])
    assert len(pair.machines()) == 3


def test_nothing_is_forked_for_what_a_saved_machine_in_use_will_serve(tmp_path: Path) -> None:
    pair = Pair(tmp_path, reset="rewind", pool="2")
    pair.backends.left.is_template_made = False  # so that it is made, not forked
    with pair.fleet.acquire({"it": LEFT}):
        pair.backends.left.is_template_made = True
        pair.fleet.announce([LEFT])
        assert pair.machines() == ["left-1"]
        pair.fleet.announce([RIGHT])
        assert pair.machines() == ["left-1", "right-fork-1"]


def test_other_forks_give_way_if_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total_mib = allocation.HOST_MIB + 1
    monkeypatch.setattr(local, "budgeted_mib", lambda _machines_mib: (total_mib, 4096))
    pair = Pair(tmp_path, reset="fork", pool="1")
    pair.fleet.announce([LEFT])
    assert pair.machines() == ["left-fork-1"]
    pair.fleet.fill(RIGHT)
    assert pair.machines() == ["left-fork-1"]
    pair.fleet.announce([RIGHT])
    assert pair.machines() == ["right-fork-1"]
