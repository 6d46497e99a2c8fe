"""Verify on this host that desktops under KVM, or under TCG, do what the product promises.

It uses the appliance's own fleet: boots one desktop, saves and rewinds it, and leases forks of the
template. What a guest shows of itself (clock, random numbers, identity) is collected meanwhile and
judged at the end.
"""

from __future__ import annotations

import contextlib
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from appliance.verify.phone import Finding
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError, MesocosmError
from provisioning.handle import as_machine
from provisioning.protocols import READY
from provisioning.resource import DESKTOP, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.clock import Clock
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.lease import Lease
    from provisioning.protocols import Machine

CLOCK_TOLERANCE_S = 0.5
"""How far the clock of a machine may be off after a reset."""

_SPEC = ResourceSpec(DESKTOP)
_SNAPSHOT = "verify"
_MARK = "mesocosm-verify"
_FIELDS = ("machine_id", "mac", "host_key", "host_name", "random")
_SHOW = """\
cat /etc/machine-id
cat /sys/class/net/e*/address
cut -d ' ' -f 2 /etc/ssh/ssh_host_ed25519_key.pub
uname -n
head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'
"""


class DesktopFleet(Protocol):
    """What a verification needs of a fleet, as `provisioning.fleet.local.LocalFleet` has it."""

    def make(self, spec: ResourceSpec) -> MachineHandle[HostResource]:
        """Make a machine that belongs to the caller."""
        ...

    def acquire(self, resources: Mapping[str, ResourceSpec]) -> Lease:
        """Lease one fork per role."""
        ...

    def count_possible_forks(self, spec: ResourceSpec) -> int:
        """Return how many forks the memory that is free now allows."""
        ...

    def wait_for_jobs(self) -> None:
        """Wait until released forks have ended."""
        ...

    def machine_ids(self) -> set[str]:
        """Return the ids of all machines."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How often each check repeats.

    Attributes:
        rewinds: rewinds of one desktop.
        forks: forks, one after the other.
        at_once: desktops at the same time, if memory allows.
    """

    rewinds: int = 20
    forks: int = 20
    at_once: int = 8


QUICK = Plan(rewinds=3, forks=3, at_once=2)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a guest shows of itself.

    Attributes:
        machine_id: content of ``/etc/machine-id``.
        mac: MAC address of its network card.
        host_key: public key of its SSH server.
        host_name: its host name.
        random: 32 bytes of its random pool, hexadecimal.
    """

    machine_id: str
    mac: str
    host_key: str
    host_name: str
    random: str


@dataclass(slots=True)
class _Seen:
    """What was collected from guests."""

    clocks_off_s: list[float] = field(default_factory=list)
    rewound: list[Shown] = field(default_factory=list)
    forked: list[Shown] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


class KvmVerification:
    """Runs the checks of desktops and collects their findings.

    Args:
        fleet: must fork every desktop that it leases, and keep none on standby.
        plan: how often each check repeats.
        tick: called with each finding as soon as there is one.
        clock: for measuring.
    """

    def __init__(
        self,
        fleet: DesktopFleet,
        plan: Plan,
        tick: Callable[[Finding], None],
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._fleet = fleet
        self._plan = plan
        self._tick = tick
        self._clock = clock
        self._seen = _Seen()
        self.findings: list[Finding] = []

    def run(self) -> list[Finding]:
        """Run all checks, even if some fail; what cannot be checked after a failure is skipped."""
        with contextlib.ExitStack() as stack:
            made: list[Machine] = []

            def boot() -> str:
                handle = self._fleet.make(_SPEC)
                made.append(as_machine(stack.enter_context(handle.temporary())))
                self._seen.ids.add(made[0].info.machine_id)
                return "booted, reviewed, saved, and restarted from what was saved"

            self.check("boot", "A desktop boots and is saved.", boot)
            machine = made[0] if made else None
            self._check_with(machine, "save", "Memory and disk are saved together.", self._save)
            self._check_with(machine, "rewind", "Rewinds are exact.", self._rewind)
        self._check_with(machine, "fork", "Forks are exact.", lambda _machine: self._fork())
        self._check_with(
            machine, "at once", "Desktops run side by side.", lambda _machine: self._at_once()
        )
        self._judge()
        return self.findings

    def check(self, name: str, what: str, act: Callable[[], str]) -> None:
        """Run one check, which returns what it found or raises `MesocosmError`."""
        start_s = self._clock.monotonic_s()
        try:
            message, is_met = act(), True
        except MesocosmError as exc:
            message, is_met = (
                " ".join(filter(None, (exc.brief, exc.details, exc.resolution))),
                False,
            )
        seconds = self._clock.monotonic_s() - start_s
        self._add(Finding(name, what, "pass" if is_met else "fail", seconds, message))

    def skip(self, name: str, what: str, why: str) -> None:
        """Add checks that cannot be run."""
        self._add(Finding(name, what, "skip", 0.0, why))

    def _check_with(
        self, machine: Machine | None, name: str, what: str, act: Callable[[Machine], str]
    ) -> None:
        if machine is None:
            self.skip(name, what, "no desktop booted")
        else:
            self.check(name, what, lambda: act(machine))

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)
        self._tick(finding)

    def _save(self, machine: Machine) -> str:
        _write(machine, "saved")
        machine.snapshots.save(_SNAPSHOT)
        try:
            _write(machine, "changed")
            report = machine.snapshots.rewind(_SNAPSHOT)
            _require(_read(machine) == "saved", "The saved file did not come back.")
        finally:
            machine.snapshots.delete_snapshot(_SNAPSHOT)
        return f"saved, changed and restored in {report.seconds:.2f} s"

    def _rewind(self, machine: Machine) -> str:
        times_s = []
        for _ in range(self._plan.rewinds):
            _write(machine, "left behind")
            times_s.append(machine.snapshots.rewind(READY).seconds)
            _require(_read(machine) == "", "A file of the last user is still there.")
            self._seen.rewound.append(self._look(machine))
        return f"{_exact(times_s, self._plan.rewinds)}"

    def _fork(self) -> str:
        times_s = []
        for _ in range(self._plan.forks):
            with self._fleet.acquire({DESKTOP: _SPEC}) as lease:
                times_s.append(self._use(lease))
            self._fleet.wait_for_jobs()
        return _exact(times_s, self._plan.forks)

    def _at_once(self) -> str:
        possible = self._fleet.count_possible_forks(_SPEC)
        count = min(self._plan.at_once, possible)
        _require(count > 0, "The free memory allows no fork.")
        with self._fleet.acquire({f"{DESKTOP}{number}": _SPEC for number in range(count)}) as lease:
            slowest_s = self._use(lease)
        self._fleet.wait_for_jobs()
        fewer = f"; memory allows only {possible}" if count < self._plan.at_once else ""
        return f"{count} desktops, each with its own files; slowest {slowest_s:.2f} s{fewer}"

    def _use(self, lease: Lease) -> float:
        """Look at the forks of a lease; return the seconds of the slowest reset."""
        machines = lease.environment.machines
        for role, machine in machines.items():
            _require(lease.environment.resets[role].path == "fork", f"{role} is not a fork.")
            _require(_read(machine) == "", "A file of another desktop is in a fork.")
            _write(machine, role)
            self._seen.ids.add(machine.info.machine_id)
            self._seen.forked.append(self._look(machine))
        for role, machine in machines.items():
            _require(_read(machine) == role, f"{role} has the file of another desktop.")
        return max(report.seconds for report in lease.environment.resets.values())

    def _look(self, machine: Machine) -> Shown:
        self._seen.clocks_off_s.append(_clock_off_s(machine, self._clock))
        result = machine.run(["sh", "-c", _SHOW]).require()
        lines = result.text.splitlines()
        _require(len(lines) == len(_FIELDS), "The guest did not show its identity.")
        return Shown(**dict(zip(_FIELDS, lines, strict=True)))

    def _judge(self) -> None:
        seen = self._seen
        if not seen.clocks_off_s:
            for name in ("clock", "randomness", "identity"):
                self._add(Finding(name, "", "skip", 0.0, "no guest was reset"))
        else:
            self.check("clock", "Clocks are set at each reset.", self._judge_clock)
            self.check("randomness", "Random numbers never repeat.", self._judge_randomness)
            self.check("identity", "Forks differ in their identity.", self._judge_identity)
        self.check("remains", "Nothing is left on the host.", self._judge_remains)

    def _judge_clock(self) -> str:
        off_s = max(self._seen.clocks_off_s)
        text = f"at most {off_s:.2f} s off in {len(self._seen.clocks_off_s)} resets"
        _require(off_s <= CLOCK_TOLERANCE_S, f"A clock is {text}.")
        return text

    def _judge_randomness(self) -> str:
        drawn = [shown.random for shown in (*self._seen.rewound, *self._seen.forked)]
        _require(
            all(len(text) == 64 for text in drawn) and len(set(drawn)) == len(drawn),  # noqa: PLR2004 - 32 bytes
            "Two guests drew the same random numbers.",
        )
        return f"32 bytes drawn after each of {len(drawn)} resets, all different"

    def _judge_identity(self) -> str:
        forked = self._seen.forked
        if not forked:
            raise MachineError("No fork could be looked at.")
        for name in ("machine_id", "mac", "host_key"):
            values = {getattr(shown, name) for shown in forked}
            _require(len(values) == len(forked), f"Two forks have the same {name}.")
        names = {shown.host_name for shown in (*forked, *self._seen.rewound)}
        _require(len(names) == 1, f"Host names differ: {', '.join(sorted(names))}.")
        return (
            f"machine-id, MAC address and SSH host key of {len(forked)} forks all differ; the host "
            "name is that of the image, as documented"
        )

    def _judge_remains(self) -> str:
        self._fleet.wait_for_jobs()
        left = sorted(self._seen.ids & self._fleet.machine_ids())
        _require(not left, f"Still there: {', '.join(left)}.")
        return f"{len(self._seen.ids)} desktops were made, none is left"


def _clock_off_s(machine: Machine, clock: Clock) -> float:
    """Return the least error of a guest's clock, which is read between two readings of the host's."""
    before_s = clock.now_s()
    shown_s = cast("dict[str, float]", machine.link.call("ping"))["clock_s"]
    return max(before_s - shown_s, shown_s - clock.now_s(), 0.0)


def _write(machine: Machine, text: str) -> None:
    machine.run(["tee", _MARK], input=text.encode()).require()


def _read(machine: Machine) -> str:
    """Return the content of the file that `_write` writes in the home folder; empty if there is none."""
    return machine.run(["cat", _MARK]).text


def _exact(times_s: list[float], count: int) -> str:
    median_s = statistics.median(times_s)
    return f"{len(times_s)} of {count} exact; median {median_s:.2f} s, slowest {max(times_s):.2f} s"


def _require(is_met: object, brief: str) -> None:
    if not is_met:
        raise MachineError(brief)
