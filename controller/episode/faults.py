"""Attribute faults: to the agent, its model, a machine, an evaluator or the task."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import (
    ActionError,
    AgentError,
    CancelledError,
    GuestCallError,
    MesocosmError,
    ModelRefusalError,
    ModelUnavailableError,
    SpecError,
)
from controller.episode.result import Ending, Reason
from evaluators.graph.outcome import Cause
from provisioning.protocols import EndCause, EndReporting, HindranceReporting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from appliance.base.clock import Clock
    from evaluators.graph.start import StartReport
    from provisioning.protocols import Machine

_LOG = logging.getLogger(__name__)
_PING_TIMEOUT_S = 10.0
_SMALL_PROGRAM = "/bin/true"
_PROMPT_S = 5.0
_AGENTS_FAULTS: tuple[tuple[type[AgentError], Reason], ...] = (
    (ModelRefusalError, Reason.MODEL_REFUSAL),
    (ModelUnavailableError, Reason.MODEL_UNAVAILABLE),
    (AgentError, Reason.AGENT_ERROR),
)


def message_of(error: BaseException) -> str:
    """Return what an error says, with its type where it is not one of ours."""
    return str(error) if isinstance(error, MesocosmError) else f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class MachineFault:
    """Why evaluators cannot be asked of a machine.

    Attributes:
        is_by_agent: something inside the machine caused it, which only the agent acts on.
        detail: what was found.
        has_ended: whether the machine can be asked nothing any more.
    """

    is_by_agent: bool
    detail: str
    has_ended: bool = True


def diagnose(machine: Machine) -> MachineFault | None:
    """Find out what is wrong with a machine.

    Args:
        machine: one that may have ended.

    Returns:
        None where it answers and nothing inside keeps evaluators from answering.
    """
    name = machine.info.machine_id
    try:
        power = machine.power
        end = power.ended_by() if isinstance(power, EndReporting) else None
        if end is not None and end.cause is not EndCause.UNKNOWN:
            return MachineFault(end.cause is EndCause.GUEST, f"{name}: {end.detail}")
        machine.link.call("ping", timeout_s=_PING_TIMEOUT_S)
        hindrance = machine.hindered_by() if isinstance(machine, HindranceReporting) else ""
    except MesocosmError as exc:
        _LOG.info("%s does not answer: %s", name, exc)
        return MachineFault(is_by_agent=False, detail=f"{name}: {exc}")
    return MachineFault(True, f"{name}: {hindrance}", has_ended=False) if hindrance else None


def is_prompt(machine: Machine, *, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return whether a machine runs a small program at once; a slow one makes evaluators late.

    Args:
        machine: one that answers.
        clock: measures it.
    """
    start_s = clock.monotonic_s()
    try:
        machine.run([_SMALL_PROGRAM], user="root", timeout_s=_PROMPT_S)
    except MesocosmError as exc:
        _LOG.info("%s is slow: %s", machine.info.machine_id, exc)
        return False
    return clock.monotonic_s() - start_s <= _PROMPT_S


def ending_of_setup(error: Exception) -> Ending:
    """Return the ending for an error of a task's setup.

    What a machine answers with, or a wrong argument, is the task's fault.
    """
    is_tasks = isinstance(error, (ActionError, GuestCallError, SpecError))
    reason = Reason.TASK_ERROR if is_tasks else Reason.ENVIRONMENT_ERROR
    return Ending(reason, f"setup: {message_of(error)}")


def ending_of_start(report: StartReport) -> Ending:
    """Return the ending for a graph that is not as it must be before the agent acts."""
    reasons = {
        Cause.TASK: Reason.TASK_ERROR,
        Cause.MACHINE: Reason.ENVIRONMENT_ERROR,
        Cause.EVALUATOR: Reason.EVALUATOR_ERROR,
        Cause.OBSTRUCTION: Reason.EVALUATOR_ERROR,
    }
    return Ending(reasons[report.cause or Cause.TASK], report.detail)


def ending_of(error: BaseException, phase: str, machines: Iterable[Machine]) -> Ending:
    """Return the ending for an error raised while a trial was going on.

    Args:
        error: raised by a machine, or handed in by the driver for its agent.
        phase: where it was raised, for the detail.
        machines: of the trial; asked why they ended where the error is not the agent's.
    """
    if isinstance(error, CancelledError):
        return Ending(Reason.CANCELLED, str(error))
    for kind, reason in _AGENTS_FAULTS:
        if isinstance(error, kind):
            return Ending(reason, str(error))
    detail = f"{phase}: {message_of(error)}"
    faults = [fault for machine in machines if (fault := diagnose(machine))]
    if any(not fault.is_by_agent for fault in faults) or not faults:
        return Ending(Reason.ENVIRONMENT_ERROR, detail)
    causes = "; ".join(fault.detail for fault in faults)
    return Ending(Reason.MACHINE_ENDED_BY_AGENT, f"{causes}\n{detail}")
