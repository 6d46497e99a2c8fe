"""Tell an evaluator that failed from one that was kept from answering, by the probe's reason.

The probe reports ``NAME raised TYPE: MESSAGE``, or that an evaluator was late, ran out of memory or was
ended. What the system refuses, and what the judged state makes slow or large, is no fault of the
evaluator: on a machine that answers promptly, only the agent acts.
"""

from __future__ import annotations

import builtins
import re

from evaluators.graph.outcome import Cause

_RAISED = re.compile(r"\w+ raised (\w+)\b")
_STOPPED = re.compile(
    r"\w+ took longer than |\w+ needs more memory than |the wave missed its deadline "
    r"|the evaluators' process (?:died of signal|ended with exit code) "
)
# As with memory, what nests deeper than evaluators follow is the judged state's.
_REFUSED = {"ObstructedError", "GuestError", "RecursionError"} | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, OSError)
}
_SERVER = "ServerError"


def cause_of(reason: str) -> Cause:
    """Return who is responsible for an outcome that a probe could not decide.

    Args:
        reason: as the probe gives it.
    """
    raised = _RAISED.match(reason)
    if raised is None:
        return Cause.OBSTRUCTION if _STOPPED.match(reason) else Cause.EVALUATOR
    if raised[1] == _SERVER:
        return Cause.MACHINE
    return Cause.OBSTRUCTION if raised[1] in _REFUSED else Cause.EVALUATOR
