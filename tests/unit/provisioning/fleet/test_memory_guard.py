"""On a host that runs out of memory, only the fork that exceeds its reservation is ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineError, MemoryOutgrownError
from foundation.settings import Settings
from provisioning.fleet.allocation import hypervisor_limit_mib
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.inventory import Inventory
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.fleet.memory_guard import LOW_MIB, MemoryGuard, guest_memory_mib
from provisioning.machine_folder import iter_folders
from provisioning.resource import DESKTOP
from tests.unit.provisioning.fleet.test_local import ROLES, ForkingFake

if TYPE_CHECKING:
    from pathlib import Path


class Lab:
    """Two leased forks, and a guard whose measurements are set."""

    def __init__(self, path: Path) -> None:
        self.settings = Settings(state_dir=path, desktop_reset="fork", desktop_pool="0")
        self.backend = ForkingFake(self.settings)
        backends = FixedBackends({DESKTOP: self.backend})
        self.fleet = LocalFleet(self.settings, backends)
        self.available_mib = LOW_MIB - 1
        self.used: dict[str, int] = {}
        ledger = Ledger(path / FILE)
        self.guard = MemoryGuard(
            self.settings,
            ledger,
            Inventory(self.settings, backends, ledger),
            memory=lambda: (8192, self.available_mib),
            usage=lambda: self.used,
        )

    def ids(self) -> list[str]:
        return [folder.machine_id for folder in iter_folders(self.settings)]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_only_the_fork_beyond_its_reservation_is_ended_and_named(lab: Lab) -> None:
    # Each reserves 1 MiB.
    lab.used = {"desktop-fork-1": 1, "desktop-fork-2": 900}
    small = lab.fleet.acquire(ROLES)
    large = lab.fleet.acquire(ROLES)

    assert lab.guard.check() == "desktop-fork-2"
    assert lab.ids() == ["desktop-fork-1"]
    assert small.environment.machines
    with pytest.raises(MemoryOutgrownError) as caught:
        _ = large.environment
    assert "desktop-fork-2 was ended: it used 900 MiB of the 1 MiB" in caught.value.details

    small.release()
    large.release()
    lab.fleet.wait_for_jobs()
    assert lab.ids() == []
    assert list((lab.settings.run_dir / "leases").iterdir()) == []


def test_later_failures_are_attributed_to_the_ended_fork(lab: Lab) -> None:
    lab.used = {"desktop-fork-1": 900}

    def use() -> None:
        with lab.fleet.acquire(ROLES):
            lab.guard.check()
            raise MachineError("It does not answer.")

    with pytest.raises(MemoryOutgrownError) as caught:
        use()
    assert isinstance(caught.value.__cause__, MachineError)


def test_nothing_is_ended_while_memory_is_free(lab: Lab) -> None:
    lab.available_mib = LOW_MIB
    lab.used = {"desktop-fork-1": 900}
    with lab.fleet.acquire(ROLES):
        assert lab.guard.check() == ""
        assert lab.ids() == ["desktop-fork-1"]


def test_full_hypervisor_container_ends_a_fork_despite_free_host_memory(lab: Lab) -> None:
    """At its limit the kernel would end any of its guests."""
    lab.available_mib = 8192 - hypervisor_limit_mib(8192) + LOW_MIB - 1
    lab.used = {"desktop-fork-1": 1, "desktop-fork-2": hypervisor_limit_mib(8192) - LOW_MIB - 1}
    leases = [lab.fleet.acquire(ROLES), lab.fleet.acquire(ROLES)]
    assert lab.guard.check() == ""
    lab.used["desktop-fork-2"] += 1
    assert lab.guard.check() == "desktop-fork-2"
    assert lab.ids() == ["desktop-fork-1"]
    for lease in leases:
        lease.release()
    lab.fleet.wait_for_jobs()


def test_fork_within_its_reservation_is_not_ended(lab: Lab) -> None:
    lab.used = {"desktop-fork-1": 1}
    with lab.fleet.acquire(ROLES):
        assert lab.guard.check() == ""
        assert lab.ids() == ["desktop-fork-1"]


def test_private_guest_memory_counts_and_shared_memory_does_not(tmp_path: Path) -> None:
    for pid, command in ((1, b"init\0"), (7, b"qemu\0-name\0guest=desktop-1,debug-threads=on\0")):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "cmdline").write_bytes(command)
        (folder / "status").write_text(
            "VmRSS:\t 3072000 kB\nRssAnon:\t  204800 kB\nRssFile:\t 2048000 kB\nRssShmem:\t 1024 kB\n"
        )
    (tmp_path / "9").mkdir()  # ended meanwhile
    assert guest_memory_mib(tmp_path) == {"desktop-1": 201}
