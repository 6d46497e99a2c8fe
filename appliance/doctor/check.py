"""One question about the host, its answer, and many of them at once."""

from __future__ import annotations

import os
import queue
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import ToolTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings

_BUSY_PER_CPU = 1.5


class State(StrEnum):
    """How a check ended; `MISSING` and `FAILED` are needed things that are unmet."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a check.

    Attributes:
        state: how it ended.
        cause: what was found; one or two sentences.
        resolution: what to do; empty when there is nothing to do.
    """

    state: State
    cause: str
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One question.

    Attributes:
        name: lower-case words with dashes.
        ask: answers it; may block and may raise.
        needed: nothing works without: no answer counts as failed, else as a warning.
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
        """Return whether nothing needed is lacking."""
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
    """How busy this host is.

    Attributes:
        average: processes that run or want to, over the last minute.
        cpus: that they share.
    """

    average: float
    cpus: int

    @classmethod
    def now(cls) -> Self:
        """Return the host's."""
        return cls(os.getloadavg()[0], os.cpu_count() or 1)

    @property
    def is_high(self) -> bool:
        """Whether programs wait for each other so long that deadlines say little."""
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
    """Ask every check at once, each in a thread of its own.

    A check that hangs cannot hold up the others or the process: at the deadline it is answered
    for, and its thread, a daemon, is left behind. On a busy host that is a warning: it is slow.

    Args:
        checks: the questions.
        settings: handed to each.
        deadline_s: for all of them.
        on_answer: told about each answer as it comes.
        clock: measures the deadline.
        read_load: how busy the host is, asked where a check does not answer in time.

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
    except Exception as exc:  # noqa: BLE001 - whatever a check meets is its finding
        state = State.FAILED if check.needed else State.WARN
        return Finding(state, f"The check itself failed: {type(exc).__name__}: {exc}")


def _no_answer(check: Check, cause: str, load: Load) -> Finding:
    if load.is_high:
        return Finding(
            State.WARN,
            f"{cause} This host is busy ({load}), so it may only be slow.",
            "Run `mesocosm doctor` again when less runs.",
        )
    return Finding(
        State.FAILED if check.needed else State.WARN,
        cause,
        "Something on this host hangs; look at its disks and its name server.",
    )
