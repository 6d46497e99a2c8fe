"""Attribute faults to the agent, its model, a machine, an evaluator or the task."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.episode.result import Ending, Reason
from evaluators.graph.outcome import Cause
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    ActionError,
    AgentError,
    CancelledError,
    GuestCallError,
    MesocosmError,
    ModelRefusalError,
    ModelUnavailableError,
    SpecError,
)
from provisioning.protocols import EndCause, EndReporting, ObstructionReporting, is_machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluators.graph.start import StartReport
    from foundation.clock import Clock
    from provisioning.protocols import Machine, Resource

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
    """Return the message of an error, with its type if it is not a Mesocosm error."""
    return str(error) if isinstance(error, MesocosmError) else f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class MachineFault:
    """Why evaluators cannot run on a machine.

    Attributes:
        is_by_agent: whether the cause is inside the machine, where only the agent acts.
        detail: description of the fault.
        has_ended: whether the machine can no longer be queried at all.
    """

    is_by_agent: bool
    detail: str
    has_ended: bool = True


def diagnose(machine: Machine | Resource) -> MachineFault | None:
    """Diagnose the fault of a machine or world.

    Args:
        machine: a machine or world that may have ended.

    Returns:
        None if it answers and nothing inside prevents evaluators from answering.
    """
    name = machine.info.machine_id
    try:
        power = machine.power
        end = power.ended_by() if isinstance(power, EndReporting) else None
        if end is not None and end.cause is not EndCause.UNKNOWN:
            return MachineFault(end.cause is EndCause.GUEST, f"{name}: {end.detail}")
        if is_machine(machine):
            machine.link.call("ping", timeout_s=_PING_TIMEOUT_S)
        obstruction = (
            machine.find_obstruction() if isinstance(machine, ObstructionReporting) else ""
        )
    except MesocosmError as exc:
        _LOG.info("%s does not answer: %s", name, exc)
        return MachineFault(is_by_agent=False, detail=f"{name}: {exc}")
    return MachineFault(True, f"{name}: {obstruction}", has_ended=False) if obstruction else None


def is_prompt(machine: Machine, *, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return whether a machine runs a small program quickly; slow machines delay evaluators.

    A machine that reports at once that it cannot run the program, for example because its memory is
    used up, is not slow.

    Args:
        machine: a machine that answers.
        clock: measures the time.
    """
    start_s = clock.monotonic_s()
    try:
        machine.run([_SMALL_PROGRAM], user="root", timeout_s=_PROMPT_S)
    except GuestCallError as exc:
        _LOG.info("%s cannot run programs: %s", machine.info.machine_id, exc)
    except MesocosmError as exc:
        _LOG.info("%s is slow: %s", machine.info.machine_id, exc)
        return False
    return clock.monotonic_s() - start_s <= _PROMPT_S


def ending_of_setup(error: Exception) -> Ending:
    """Return the ending for an error of a task's setup.

    Errors reported by a machine and invalid arguments are attributed to the task.
    """
    is_tasks = isinstance(error, (ActionError, GuestCallError, SpecError))
    reason = Reason.TASK_ERROR if is_tasks else Reason.ENVIRONMENT_ERROR
    return Ending(reason, f"setup: {message_of(error)}")


def ending_of_start(report: StartReport) -> Ending:
    """Return the ending for a graph that is invalid before the agent acts."""
    reasons = {
        Cause.TASK: Reason.TASK_ERROR,
        Cause.MACHINE: Reason.ENVIRONMENT_ERROR,
        Cause.EVALUATOR: Reason.EVALUATOR_ERROR,
        Cause.OBSTRUCTION: Reason.EVALUATOR_ERROR,
    }
    return Ending(reasons[report.cause or Cause.TASK], report.detail)


def ending_of(error: BaseException, phase: str, machines: Iterable[Machine]) -> Ending:
    """Return the ending for an error raised during a trial.

    Args:
        error: raised by a machine, or passed by the driver for its agent.
        phase: phase in which it was raised, for the detail.
        machines: machines of the trial, which are diagnosed if the error is not the agent's.
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
