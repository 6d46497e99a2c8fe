"""Codes of the reasons why a call of an evaluator is undecided, in the reply to ``evaluate``.

The message beside a code is for people; the host attributes the failure by the code alone
(`evaluators.attribution`).
"""

from __future__ import annotations

import builtins
from typing import Any, Dict, Tuple

from provisioning.probe.guest import GuestError

OBSTRUCTED = "obstructed"
"""The evaluated state blocks the evaluator."""
SERVER = "server"
"""A server outside the desktop does not respond."""
ARGUMENT = "argument"
"""An argument in the task is wrong."""
RAISED = "raised"
"""The evaluator raised for another reason."""
TOO_SLOW = "too_slow"
"""The evaluator missed its own deadline."""
TOO_LARGE = "too_large"
"""The evaluator needs more memory than allowed."""
LATE_WAVE = "late_wave"
"""The wave missed its deadline, during this call or before it."""
PROCESS_ENDED = "process_ended"
"""The wave's process ended, during this call or before it."""
NO_PROCESS = "no_process"
"""No process could be started for the wave: memory or processes are used up."""
UNKNOWN = "unknown"
"""The bundle has no such evaluator."""
NOT_BOOL = "not_bool"
"""The evaluator returned something else."""

DECLARED = "reason_code"
"""Class attribute of exceptions that declare their own code; see `evaluators.desktop.errors`."""
_MAX_REASON = 1000
_DECLARABLE = frozenset({OBSTRUCTED, SERVER, ARGUMENT})
_SYSTEM_ERRORS = frozenset(
    value
    for value in vars(builtins).values()
    if isinstance(value, type) and issubclass(value, OSError)
)

Outcome = Dict[str, Any]
"""The reply to one call."""
Reason = Tuple[str, str]
"""A code, and a message for people."""


def code_of(error: Exception) -> str:
    """Return the code of an exception that an evaluator raised.

    Errors of the system are obstructions; a subclass such as `ssl.SSLError` may have other causes.
    As with memory, nesting deeper than evaluators can follow is caused by the evaluated state.

    Args:
        error: the exception.
    """
    declared = getattr(type(error), DECLARED, None)
    if isinstance(declared, str) and declared in _DECLARABLE:
        return declared
    if type(error) in _SYSTEM_ERRORS or isinstance(error, (GuestError, RecursionError)):
        return OBSTRUCTED
    return RAISED


def undecided(call: dict[str, Any], code: str, message: str) -> Outcome:
    """Return the outcome of a call that nobody could decide.

    Args:
        call: the call.
        code: why, as one of the codes above.
        message: why, for people.
    """
    return {"node": call["node"], "met": None, "reason": message[:_MAX_REASON], "code": code}
