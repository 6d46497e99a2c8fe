"""The verification of desktops, on guests in memory that break one promise each."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from appliance.verify.kvm import KvmVerification, Plan
from foundation.clock import FakeClock
from foundation.errors import MachineStartError, ResetMismatchError
from foundation.process import CommandResult
from provisioning.lease import Environment
from provisioning.protocols import READY, ResetReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from appliance.verify.kvm import DesktopFleet
    from appliance.verify.phone import Finding
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.lease import Lease
    from provisioning.resource import ResourceSpec

PLAN = Plan(rewinds=3, forks=4, at_once=3)
NAMES = [
    *("boot", "save", "rewind", "fork", "at once"),
    *("clock", "randomness", "identity", "remains"),
]


@dataclass
class Host:
    """A fleet in memory; each attribute is a promise that can be broken."""

    boots: bool = True
    saves_files: bool = True
    rewinds_files: bool = True
    differing_rewind: int = 0
    fork_path: str = "fork"
    shared_file: bool = False
    possible_forks: int = 9
    clock_off_s: float = 0.0
    random: str = ""
    machine_id: str = ""
    mac: str = ""
    host_key: str = ""
    host_names: Sequence[str] = ("desktop",)
    leaves: bool = False
    clock: FakeClock = field(default_factory=FakeClock)
    present: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=count)
    files: dict[str, str] = field(default_factory=dict)

    def make(self, _spec: ResourceSpec) -> MachineHandle[HostResource]:
        if not self.boots:
            raise MachineStartError("The guest did not boot.", "It hung.")
        guest = Guest(self)

        @contextlib.contextmanager
        def temporary() -> Iterator[Guest]:
            yield guest
            self.end(guest)

        return cast("MachineHandle[HostResource]", SimpleNamespace(temporary=temporary))

    @contextlib.contextmanager
    def acquire(self, resources: Mapping[str, ResourceSpec]) -> Iterator[Lease]:
        guests = {role: Guest(self) for role in resources}
        reports = {role: ResetReport(self.fork_path, 0.25) for role in resources}
        environment = Environment(cast("Any", guests), reports)
        yield cast("Lease", SimpleNamespace(environment=environment))
        for guest in guests.values():
            self.end(guest)

    def end(self, guest: Guest) -> None:
        if not self.leaves:
            self.present.remove(guest.info.machine_id)

    def count_possible_forks(self, _spec: ResourceSpec) -> int:
        return self.possible_forks

    def wait_for_jobs(self) -> None:
        pass

    def machine_ids(self) -> set[str]:
        return self.present


class Guest:
    """A desktop in memory with one file."""

    screen = "a picture"

    def __init__(self, host: Host) -> None:
        number = next(host.numbers)
        self.info = SimpleNamespace(machine_id=f"desktop-{number}")
        host.present.add(self.info.machine_id)
        self.host = host
        self.number = number
        self.files = host.files if host.shared_file else {}
        self.saved: dict[str, dict[str, str]] = {READY: {}}
        self.snapshots = self.link = self

    def call(self, _operation: str) -> dict[str, float]:
        return {"clock_s": self.host.clock.now_s() + self.host.clock_off_s}

    def save(self, name: str) -> None:
        self.saved[name] = dict(self.files) if self.host.saves_files else {}

    def delete_snapshot(self, name: str) -> None:
        del self.saved[name]

    def rewind(self, name: str) -> ResetReport:
        if name == READY and self.host.differing_rewind:
            self.host.differing_rewind -= 1
            if not self.host.differing_rewind:
                raise ResetMismatchError("It differs from its snapshot in 1 places.")
        if name != READY or self.host.rewinds_files:
            self.files = dict(self.saved[name])
        return ResetReport("rewind", 0.5)

    def run(self, argv: Sequence[str], *, input: bytes = b"") -> CommandResult:  # noqa: A002 - as machines call it
        output = ""
        if argv[0] == "tee":
            self.files[argv[1]] = input.decode()
        elif argv[0] == "cat":
            output = self.files.get(argv[1], "")
        else:
            host = self.host
            output = "\n".join(
                (
                    host.machine_id or f"id-{self.number}",
                    host.mac or f"52:54:00:00:00:{self.number:02x}",
                    host.host_key or f"key-{self.number}",
                    host.host_names[self.number % len(host.host_names)],
                    host.random or secrets.token_hex(32),
                )
            )
        return CommandResult(tuple(argv), 0, output.encode(), b"")


def verify(host: Host) -> dict[str, Finding]:
    ticked: list[Finding] = []
    verification = KvmVerification(
        cast("DesktopFleet", host), PLAN, ticked.append, clock=host.clock
    )
    findings = verification.run()
    assert findings == ticked
    return {finding.name: finding for finding in findings}


def test_host_that_keeps_all_promises_passes() -> None:
    host = Host()
    findings = verify(host)
    assert list(findings) == NAMES
    assert {finding.state for finding in findings.values()} == {"pass"}, findings
    assert findings["rewind"].message == "3 of 3 exact; median 0.50 s, slowest 0.50 s"
    assert findings["fork"].message == "4 of 4 exact; median 0.25 s, slowest 0.25 s"
    assert findings["at once"].message.startswith("3 desktops")
    assert "after each of 10 resets" in findings["randomness"].message
    assert "of 7 forks all differ" in findings["identity"].message
    assert host.present == set()


@pytest.mark.parametrize(
    ("broken", "failed"),
    [
        ({"saves_files": False}, "save"),
        ({"rewinds_files": False}, "rewind"),
        ({"differing_rewind": 2}, "rewind"),
        ({"fork_path": "rewind"}, "fork"),
        ({"shared_file": True}, "fork"),
        ({"possible_forks": 0}, "at once"),
        ({"clock_off_s": 0.6}, "clock"),
        ({"clock_off_s": -0.6}, "clock"),
        ({"random": "0" * 64}, "randomness"),
        ({"random": "short"}, "randomness"),
        ({"machine_id": "the same"}, "identity"),
        ({"mac": "the same"}, "identity"),
        ({"host_key": "the same"}, "identity"),
        ({"host_names": ("one", "two")}, "identity"),
        ({"leaves": True}, "remains"),
    ],
)
def test_broken_promise_fails_its_check(broken: dict[str, Any], failed: str) -> None:
    findings = verify(Host(**broken))
    assert list(findings) == NAMES
    assert findings[failed].state == "fail", findings
    assert findings[failed].message


def test_fewer_desktops_at_once_are_reported_if_memory_allows_no_more() -> None:
    finding = verify(Host(possible_forks=2))["at once"]
    assert finding.state == "pass"
    assert finding.message.startswith("2 desktops")
    assert finding.message.endswith("memory allows only 2")


def test_without_a_desktop_the_rest_is_skipped_and_not_passed() -> None:
    findings = verify(Host(boots=False))
    assert list(findings) == NAMES
    assert findings["boot"].state == "fail"
    assert findings["boot"].message == "The guest did not boot. It hung."
    assert {findings[name].state for name in NAMES[1:-1]} == {"skip"}
