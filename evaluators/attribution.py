"""Distinguish an evaluator that failed from one that was blocked, by the probe's reason.

The probe reports ``NAME raised TYPE: MESSAGE``, or that an evaluator timed out, ran out of memory
or was killed. If the system denies access, or the evaluated state makes an evaluator slow or large,
this is not a fault of the evaluator: on a machine that responds promptly, only the agent can cause
it.
"""

from __future__ import annotations

import builtins
import re

from evaluators.graph.outcome import Cause

_RAISED = re.compile(r"\w+ raised (\w+)\b")
_STOPPED = re.compile(
    r"\w+ took longer than |\w+ needs more memory than |the wave missed its deadline "
    r"|the evaluators' process (?:died of signal|ended with exit code) "
    r"|the evaluators' process could not be started: "
)
# As with memory, nesting deeper than evaluators can follow is caused by the evaluated state.
_REFUSED = {"ObstructedError", "GuestError", "RecursionError"} | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, OSError)
}
_OTHERS = {"ServerError": Cause.MACHINE, "WrongArgumentError": Cause.TASK}


def cause_of(reason: str) -> Cause:
    """Return the cause of an outcome that a probe could not decide.

    Args:
        reason: the probe's reason.
    """
    raised = _RAISED.match(reason)
    if raised is None:
        return Cause.OBSTRUCTION if _STOPPED.match(reason) else Cause.EVALUATOR
    if raised[1] in _REFUSED:
        return Cause.OBSTRUCTION
    return _OTHERS.get(raised[1], Cause.EVALUATOR)
