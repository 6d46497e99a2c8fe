"""Distinguish an evaluator that failed from one that was blocked, by the code of the probe's reason.

If the system denies access, or the evaluated state makes an evaluator slow or large, this is not a
fault of the evaluator: on a machine that responds promptly, only the agent can cause it.
"""

from __future__ import annotations

from evaluators.graph.outcome import Cause
from provisioning.probe import reasons

_CAUSES = {
    reasons.OBSTRUCTED: Cause.OBSTRUCTION,
    reasons.TOO_SLOW: Cause.OBSTRUCTION,
    reasons.TOO_LARGE: Cause.OBSTRUCTION,
    reasons.LATE_WAVE: Cause.OBSTRUCTION,
    reasons.PROCESS_ENDED: Cause.OBSTRUCTION,
    reasons.NO_PROCESS: Cause.OBSTRUCTION,
    reasons.SERVER: Cause.MACHINE,
    reasons.ARGUMENT: Cause.TASK,
}


def cause_of(code: str) -> Cause:
    """Return the cause of an outcome that a probe could not decide.

    Args:
        code: code of the probe's reason; unknown ones are attributed to the evaluator.
    """
    return _CAUSES.get(code, Cause.EVALUATOR)
