"""Codes of undecided calls."""

from __future__ import annotations

import ssl

import pytest

from provisioning.probe import reasons
from provisioning.probe.guest import GuestError


class PermissionDeniedError(PermissionError):
    """A refusal with a name of its own."""


class ServerError(Exception):
    """Named like the error of an evaluator, but declares nothing."""


class HttpError(OSError):
    """Has a code, which is not a reason's."""

    code = 404
    reason_code = 404


class OddError(Exception):
    """Declares a code that only the probe may give."""

    reason_code = reasons.TOO_SLOW


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PermissionError(13, "denied"), reasons.OBSTRUCTED),
        (OSError("PermissionError"), reasons.OBSTRUCTED),
        (GuestError("there is no graphical session"), reasons.OBSTRUCTED),
        (RecursionError("maximum recursion depth"), reasons.OBSTRUCTED),
        (PermissionDeniedError("a"), reasons.RAISED),
        (ssl.SSLError("a"), reasons.RAISED),
        (HttpError("a"), reasons.RAISED),
        (ServerError("a"), reasons.RAISED),
        (OddError("a"), reasons.RAISED),
        (KeyError("x raised OSError: "), reasons.RAISED),
        (ValueError("PermissionError"), reasons.RAISED),
    ],
)
def test_type_and_not_name_or_message_determines_the_code(error: Exception, code: str) -> None:
    assert reasons.code_of(error) == code


def test_undecided_call_has_code_and_bounded_message() -> None:
    outcome = reasons.undecided({"node": "a"}, reasons.LATE_WAVE, "x" * 2000)
    assert outcome == {"node": "a", "met": None, "reason": "x" * 1000, "code": "late_wave"}
