"""Checks of the host, their findings, and running them in parallel."""

from __future__ import annotations

import os
import queue
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ToolTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foundation.clock import Clock
    from foundation.settings import Settings

_BUSY_PER_CPU = 1.5


class State(StrEnum):
    """Result of a check; `MISSING` and `FAILED` are unmet requirements."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of a check.

    Attributes:
        state: its result.
        cause: what was found; one or two sentences.
        resolution: what to do; empty if there is nothing to do.
    """

    state: State
    cause: str
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        name: lower case, with dashes.
        ask: runs the check; may block and may raise.
        needed: whether it is required: then no answer is a failure, else a warning.
    """

    name: str
    ask: Callable[[Settings], Finding]
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A check's name and finding, as ``mesocosm doctor --json`` prints it."""

    name: str
    finding: Finding

    @property
    def is_met(self) -> bool:
        """Whether no requirement is unmet."""
        return self.finding.state in {State.OK, State.WARN}

    def to_dict(self) -> dict[str, str]:
        """Return the JSON row."""
        finding = self.finding
        return {
            "name": self.name,
            "state": str(finding.state),
            "cause": finding.cause,
            "cure": finding.resolution,
        }


@dataclass(frozen=True, slots=True)
class Load:
    """Load of this host.

    Attributes:
        average: load average over the last minute.
        cpus: number of CPUs.
    """

    average: float
    cpus: int

    @classmethod
    def now(cls) -> Self:
        """Return the current load of this host."""
        return cls(os.getloadavg()[0], os.cpu_count() or 1)

    @property
    def is_high(self) -> bool:
        """Whether the load is so high that timeouts are not meaningful."""
        return self.average > _BUSY_PER_CPU * self.cpus

    def __str__(self) -> str:
        return f"load {self.average:.1f} on {self.cpus} CPU{'s' * (self.cpus != 1)}"


def ask_all(
    checks: Sequence[Check],
    settings: Settings,
    *,
    deadline_s: float,
    on_answer: Callable[[Answer], None] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    read_load: Callable[[], Load] = Load.now,
) -> list[Answer]:
    """Run all checks in parallel, each in its own thread.

    A check that hangs does not delay the others or the process: at the deadline it gets a finding,
    and its daemon thread is abandoned. On a busy host that finding is only a warning.

    Args:
        checks: the checks.
        settings: passed to each.
        deadline_s: for all of them together.
        on_answer: called with each answer when it arrives.
        clock: measures the deadline.
        read_load: returns the host's load; called if a check does not answer in time.

    Returns:
        The answers, in the order of `checks`.
    """
    answers: queue.SimpleQueue[tuple[int, Finding]] = queue.SimpleQueue()

    def work(index: int, check: Check) -> None:
        answers.put((index, _ask(check, settings, read_load)))

    for index, check in enumerate(checks):
        threading.Thread(target=work, args=(index, check), daemon=True).start()
    end_s = clock.monotonic_s() + deadline_s
    findings: dict[int, Finding] = {}
    while len(findings) < len(checks):
        try:
            index, finding = answers.get(timeout=max(0.0, end_s - clock.monotonic_s()))
        except queue.Empty:
            break
        findings[index] = finding
        if on_answer is not None:
            on_answer(Answer(checks[index].name, finding))
    return [
        Answer(
            check.name,
            findings.get(index)
            or _no_answer(check, f"No answer within {deadline_s:g} s.", read_load()),
        )
        for index, check in enumerate(checks)
    ]


def _ask(check: Check, settings: Settings, read_load: Callable[[], Load]) -> Finding:
    try:
        return check.ask(settings)
    except ToolTimeoutError as exc:
        return _no_answer(check, exc.brief, read_load())
    except Exception as exc:  # noqa: BLE001 - any error of a check is its finding
        state = State.FAILED if check.needed else State.WARN
        return Finding(state, f"The check itself failed: {type(exc).__name__}: {exc}")


def _no_answer(check: Check, cause: str, load: Load) -> Finding:
    if load.is_high:
        return Finding(
            State.WARN,
            f"{cause} This host is busy ({load}), so the check may just be slow.",
            "Run `mesocosm doctor` again when the host is less busy.",
        )
    return Finding(
        State.FAILED if check.needed else State.WARN,
        cause,
        "Something on this host hangs; check its disks and its name server.",
    )
