from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.clock import FakeClock, wait_until
from foundation.errors import RequirementError
from foundation.settings import Settings
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.fleet import liveness as module
from provisioning.fleet.liveness import (
    ENDED,
    UNREACHABLE,
    Host,
    Liveness,
    LivenessWatch,
    open_liveness,
)
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from provisioning.fleet.liveness import LivenessReport


@contextlib.contextmanager
def held(folder: MachineFolder) -> Iterator[None]:
    claim = folder.require_claim()
    try:
        yield
    finally:
        claim.release()


class StandIn:
    """Two hosts with configurable replies, and the folders of their machines."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.running: set[str] = set()
        self.answer: Callable[[], frozenset[str]] = lambda: frozenset(self.running)
        self.clock = FakeClock()
        hosts = {
            "hypervisor": Host(self._ask, frozenset({"libvirt"})),
            "docker": Host(frozenset, frozenset({"container"})),
        }
        self.liveness = Liveness(settings, hosts, clock=self.clock)

    def add(
        self,
        name: str,
        state: MachineState = MachineState.READY,
        backend: str = "libvirt",
        *,
        runs: bool = True,
    ) -> None:
        folder = MachineFolder(self.settings.machines_dir / name)
        folder.write(desktop_record(name, backend, state=state))
        if runs:
            self.running.add(name)

    def states(self) -> dict[str, str]:
        return {machine.machine_id: machine.state for machine in self.liveness.check().machines}

    def _ask(self) -> frozenset[str]:
        return self.answer()

    def raise_silent(self) -> frozenset[str]:
        raise RequirementError("The hypervisor does not answer.", "connection refused")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[StandIn]:
    made = StandIn(Settings(state_dir=tmp_path))
    yield made
    made.liveness.close()


def test_running_machines_have_the_state_of_their_record(host: StandIn) -> None:
    host.add("desktop-1")
    host.add("desktop-2", MachineState.LEASED)
    host.add("desktop-3", MachineState.WAITING)
    with held(MachineFolder(host.settings.machines_dir / "desktop-2")):
        liveness_report = host.liveness.check()
    assert liveness_report.is_healthy
    assert liveness_report.counts() == {("desktop", s): 1 for s in ("ready", "leased", "waiting")}


def test_machine_of_a_dead_holder_is_ready_for_the_next(host: StandIn) -> None:
    host.add("desktop-1", MachineState.LEASED)
    with held(MachineFolder(host.settings.machines_dir / "desktop-1")):
        assert host.states() == {"desktop-1": "leased"}
    assert host.states() == {"desktop-1": "ready"}


def test_missing_machine_has_ended_whatever_its_record(host: StandIn) -> None:
    for state in (MachineState.READY, MachineState.LEASED, MachineState.WAITING, MachineState.KEPT):
        host.add(f"desktop-{state}", state, runs=False)
    liveness_report = host.liveness.check()
    assert {machine.state for machine in liveness_report.lost} == {ENDED}
    assert len(liveness_report.lost) == 4
    assert not liveness_report.is_healthy


@pytest.mark.slow
def test_killed_vm_has_ended_and_is_unreachable_without_a_hypervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On libvirt's test driver."""
    monkeypatch.setattr(module, "running_containers", lambda _folder: frozenset())
    address = property(lambda _self: "test:///default")
    monkeypatch.setattr(Settings, "libvirt_uri", address)
    settings = Settings(state_dir=tmp_path)
    hypervisor = Hypervisor("test:///default")
    for name in ("desktop-a", "desktop-b"):
        xml = f"<domain type='test'><name>{name}</name><memory>1024</memory>"
        hypervisor.create(f"{xml}<os><type>hvm</type></os></domain>")
        MachineFolder(settings.machines_dir / name).write(
            desktop_record(name, "libvirt", state=MachineState.READY)
        )

    def states() -> dict[str, str]:
        liveness = open_liveness(settings)
        try:
            return {machine.machine_id: machine.state for machine in liveness.check().machines}
        finally:
            liveness.close()

    assert states() == {"desktop-a": "ready", "desktop-b": "ready"}
    hypervisor.destroy("desktop-a")
    assert states() == {"desktop-a": ENDED, "desktop-b": "ready"}
    hypervisor.destroy("desktop-b")
    address = property(lambda self: f"qemu+unix:///system?socket={self.run_dir}/no-socket")
    monkeypatch.setattr(Settings, "libvirt_uri", address)
    assert states() == {"desktop-a": UNREACHABLE, "desktop-b": UNREACHABLE}


def test_machines_that_need_not_run_have_not_ended(host: StandIn) -> None:
    host.add("desktop-stopped", MachineState.STOPPED, runs=False)
    host.add("desktop-starting", MachineState.STARTING, runs=False)
    host.add("desktop-remote", backend="remote", runs=False)
    assert host.states() == {
        "desktop-stopped": "stopped",
        "desktop-starting": "starting",
        "desktop-remote": "ready",
    }


def test_container_recreated_meanwhile_has_not_ended(host: StandIn) -> None:
    host.add("desktop-1", runs=False)
    looks: list[int] = []

    def answer() -> frozenset[str]:
        looks.append(1)
        return frozenset({"desktop-1"} if len(looks) > 1 else ())

    host.answer = answer
    assert host.states() == {"desktop-1": "ready"}
    assert len(looks) == 2


def test_only_machines_of_an_unresponsive_host_are_unreachable(host: StandIn) -> None:
    host.add("desktop-1")
    host.add("desktop-2", backend="container", runs=False)
    host.answer = host.raise_silent
    liveness_report = host.liveness.check()
    assert {machine.machine_id: machine.state for machine in liveness_report.machines} == {
        "desktop-1": UNREACHABLE,
        "desktop-2": ENDED,
    }
    assert liveness_report.hosts == {"hypervisor": "connection refused", "docker": ""}


def test_hanging_host_is_not_asked_again_before_its_answer(
    host: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASK_TIMEOUT_S", 0.05)
    host.add("desktop-1")
    gate, calls = threading.Event(), list[int]()

    def hang() -> frozenset[str]:
        calls.append(1)
        gate.wait(60.0)
        return frozenset({"desktop-1"})

    host.answer = hang
    assert [host.states()["desktop-1"] for _ in range(3)] == [UNREACHABLE] * 3
    assert len(calls) == 1
    gate.set()
    assert wait_until(lambda: host.states()["desktop-1"] == "ready", timeout_s=20.0, every_s=0.01)


@pytest.mark.slow
def test_watch_follows_and_an_outdated_look_is_unknown(host: StandIn) -> None:
    host.add("desktop-1")
    with LivenessWatch(host.liveness, clock=host.clock) as watch:
        assert watch.latest().is_healthy
        host.running.clear()
        ended = wait_until(lambda: is_lost(watch.latest(), ENDED), timeout_s=30.0, every_s=0.05)
    assert ended
    watch.join()
    host.clock.sleep(60.0)
    assert is_lost(watch.latest(), UNREACHABLE)
    assert all(watch.latest().hosts.values())


def is_lost(liveness_report: LivenessReport, state: str) -> bool:
    return [machine.state for machine in liveness_report.lost] == [state]
