"""Memory is never overcommitted, and is reserved in the order of requests."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.clock import FakeClock, wait_until
from foundation.errors import MachineError
from foundation.settings import Settings
from provisioning.fleet import allocation, local, search
from provisioning.fleet.allocation import HOST_MIB, Allocation, memory_mib
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.ledger import FILE, LeaseRow, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP as DESKTOP_KIND
from provisioning.resource import PHONE, ResourceSpec
from tests.unit.provisioning.fleet.test_local import ROLES, ForkingFake

if TYPE_CHECKING:
    from pathlib import Path

DESKTOP = ResourceSpec(DESKTOP_KIND)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / FILE)


def host(promised_mib: int) -> tuple[int, int]:
    return HOST_MIB + promised_mib, HOST_MIB + promised_mib


def test_memory_is_read_from_the_kernel(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8388608 kB\nMemFree: 9 kB\nMemAvailable:   2097152 kB\n")
    assert memory_mib(meminfo) == (8192, 2048)


def test_memory_is_not_reserved_twice_before_it_is_used(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: host(2000))
    assert memory.try_reserve("a", [(DESKTOP, 768), (DESKTOP, 768)]) is not None
    # The kernel still reports all of it as available, as the two have not written to it.
    assert memory.try_reserve("b", [(DESKTOP, 768)]) is None
    assert memory.try_reserve("b", [(ResourceSpec(PHONE), 384)]) is not None


def test_free_memory_is_what_can_be_reserved(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: host(2000))
    assert memory.free_mib() == 2000
    assert memory.try_reserve("a", [(DESKTOP, 768)]) is not None
    assert memory.free_mib() == 1232
    assert Allocation(ledger, memory=lambda: (8192, 1791)).free_mib() == 767
    assert Allocation(ledger, memory=lambda: host(0)).free_mib() == 0


def test_memory_of_other_programs_is_not_reserved(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: (8192, 1791))
    assert memory.try_reserve("a", [(DESKTOP, 768)]) is None
    assert memory.try_reserve("a", [(DESKTOP, 767)]) is not None


def test_all_needs_are_reserved_or_none(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: host(1000))
    assert memory.try_reserve("a", [(DESKTOP, 768), (DESKTOP, 768)]) is None
    assert ledger.machines() == []


def test_impossible_need_is_rejected_at_once(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: host(700))
    with pytest.raises(MachineError, match="not enough memory for another desktop") as caught:
        memory.require_possible([(DESKTOP, 768)])
    assert "768 MiB for a desktop" in caught.value.details
    assert "even if nothing else" in caught.value.details


def test_requests_are_served_in_order(ledger: Ledger) -> None:
    memory = Allocation(ledger, memory=lambda: host(0))
    for name, kinds in (("a", ("desktop",)), ("b", ("phone",)), ("c", ("desktop", "phone"))):
        ledger.add_lease(LeaseRow(name, "1@here", kinds, 0.0, 1e12))
    assert memory.has_turn("c")
    ledger.set_waiting("b", is_waiting=True)
    assert memory.has_turn("a")
    assert memory.has_turn("b")
    assert not memory.has_turn("c")
    assert memory.has_turn("c", DESKTOP)  # a lease that waits for a phone does not matter
    assert memory.waiting() == ["phone"]
    ledger.remove_lease("b")
    assert memory.has_turn("c")


@pytest.fixture
def small_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the host's memory to one machine of 1 MiB."""
    monkeypatch.setattr(
        allocation.Allocation.__init__, "__kwdefaults__", {"memory": lambda: host(1)}
    )
    monkeypatch.setattr(local, "budgeted_mib", lambda _machines_mib: host(1))


def fleet_of(tmp_path: Path) -> LocalFleet:
    settings = Settings(state_dir=tmp_path, desktop_reset="fork", desktop_pool="0")
    return LocalFleet(settings, FixedBackends({DESKTOP_KIND: ForkingFake(settings)}))


@pytest.mark.usefixtures("small_host")
def test_waiting_acquisitions_are_served_in_order(tmp_path: Path) -> None:
    fleet, ledger = fleet_of(tmp_path), Ledger(tmp_path / FILE)
    memory = Allocation(ledger)
    got: list[str] = []

    def acquire(name: str) -> None:
        with fleet.acquire(ROLES):
            got.append(name)

    threads = [threading.Thread(target=acquire, args=(name,)) for name in ("first", "second")]
    with fleet.acquire(ROLES):
        for number, thread in enumerate(threads, 1):
            thread.start()
            assert wait_until(
                lambda number=number: len(memory.waiting()) == number,  # type: ignore[misc]
                timeout_s=10.0,
                every_s=0.01,
            )
        assert got == []
    for thread in threads:
        thread.join(timeout=20.0)
    fleet.wait_for_jobs()
    assert got == ["first", "second"]
    assert memory.waiting() == []
    assert ledger.machines() == []


@pytest.mark.usefixtures("small_host")
def test_waiting_is_announced_once_and_times_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_QUEUE_TIMEOUT_S", 30.0)
    messages: list[str] = []
    settings = Settings(state_dir=tmp_path, desktop_reset="fork", desktop_pool="0")
    backend = ForkingFake(settings)
    with (
        LocalFleet(settings, FixedBackends({DESKTOP_KIND: backend})).acquire(ROLES),
        pytest.raises(MachineError, match="not enough memory for another desktop") as caught,
    ):
        LocalFleet(
            settings,
            FixedBackends({DESKTOP_KIND: backend}),
            clock=FakeClock(0.0),
            say=messages.append,
        ).acquire(ROLES)
    (line,) = messages
    assert re.match(r"waiting for a desktop: \d+ MiB of \d+ are reserved for machines", line)
    assert "Waited 30 s." in caught.value.details
    assert len(Ledger(tmp_path / FILE).machines()) <= 1


@pytest.mark.usefixtures("small_host")
def test_standby_forks_are_made_only_if_memory_is_left(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, desktop_reset="fork", desktop_pool="3")
    backend = ForkingFake(settings)
    fleet = LocalFleet(settings, FixedBackends({DESKTOP_KIND: backend}))
    fleet.fill(DESKTOP)
    fleet.wait_for_jobs()
    assert backend.forks == 1
