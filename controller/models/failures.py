"""Explain why a model's server did not answer, and suggest fixes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError, ModelRefusalError
from foundation.masking import mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.errors import AgentError

RETRIED = frozenset({408, 409, 425, 429})
"""HTTP statuses after which a request is retried, in addition to 500 and above."""

SERVER_ERROR = 500
_REFUSED = frozenset({400, 413, 422})
_BUSY, _NOT_FOUND = 429, 404
_MAX_ASKED_PAUSE_S = 60.0
_MAX_DETAIL_CHARS = 2000
_MAX_MESSAGE_CHARS = 200
_CONTROLS = re.compile(r"[\x00-\x20\x7f-\x9f]+")
_TOO_LARGE = re.compile(
    r"context.{0,20}(length|window|size)|too (large|long|many tokens)|maximum.{0,40}tokens",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"content.{0,3}(policy|filter)|moderation|flagged|safety", re.IGNORECASE)


class UnansweredError(MesocosmError):
    """A request was not answered; a retry may succeed.

    Attributes:
        pause_s: pause that the server requests, seconds; None if it requests none.
        is_reply: whether the server sent a reply that is unusable.
        is_final: whether a retry cannot succeed, as with a wrong key.
        message: message of the server or the network, one short line without secrets.
    """

    code = "unanswered"
    pause_s: float | None = None
    is_reply: bool = False
    is_final: bool = False
    message: str = ""


class RefusedRequestError(MesocosmError):
    """A program's request is not forwarded to the model; it gets an HTTP error."""

    code = "model_request_refused"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def shorten(text: str) -> str:
    """Return a text as one short line without secrets and control characters."""
    line = _CONTROLS.sub(" ", mask(text)).strip()
    return line if len(line) <= _MAX_MESSAGE_CHARS else f"{line[: _MAX_MESSAGE_CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed, as an adapter sees it.

    Attributes:
        name: its kind in the vendor's words, such as ``RateLimitError``.
        detail: everything known about it.
        message: message of the server or the network.
        status: HTTP status; None if none was received.
        headers: headers of the server's response, with names in lower case.
        is_listening: whether the server accepted the connection.
    """

    name: str
    detail: str
    message: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_listening: bool = True

    def error(self, endpoint: str, now_s: float) -> AgentError | UnansweredError:
        """Return the error that it is: a refusal of the model, or no answer.

        Args:
            endpoint: address of the server, without secrets.
            now_s: current time, seconds since 1970.
        """
        detail = clean(self.detail)
        if self.status is not None and is_refusal(self.status, detail):
            refusal = ModelRefusalError(f"The model refused the request: {self.name}.", detail)
            refusal.status = self.status
            return refusal
        name = self.name if self.status is None else f"HTTP {self.status} ({self.name})"
        fix = advice(self.status, endpoint, is_listening=self.is_listening)
        unanswered = UnansweredError(f"{name}.", detail, fix)
        unanswered.message = shorten(self.message)
        unanswered.pause_s = asked_pause_s(self.headers, now_s)
        unanswered.is_final = not is_retried(self.status)
        return unanswered


def is_retried(status: int | None) -> bool:
    """Return whether a request with this HTTP status, or none, is retried."""
    return status is None or status in RETRIED or status >= SERVER_ERROR


def unusable_reply(what: str, detail: str, message: str, resolution: str) -> UnansweredError:
    """Return the error for a reply that cannot be parsed.

    Args:
        what: what it is not, such as ``a chat completion``.
        detail: everything that is wrong with it.
        message: the first thing that is wrong with it.
        resolution: how to fix it.
    """
    error = UnansweredError(f"the reply is not {what}.", clean(detail), resolution)
    error.is_reply = True
    error.message = shorten(message)
    return error


def advice(status: int | None, endpoint: str, *, is_listening: bool = True) -> str:
    """Return a suggestion for fixing a failure.

    Args:
        status: HTTP status; None if none was received.
        endpoint: address of the server, without secrets.
        is_listening: whether the server accepted the connection.
    """
    if status is None and not is_listening:
        return f"Check that a server listens at {endpoint}."
    if status is None:
        return f"The connection to {endpoint} was lost: check its server's log."
    if status == _BUSY:
        return (
            "Run fewer trials in parallel (--parallel), or let each wait longer "
            "(MESOCOSM_MODEL_OUTAGE_S)."
        )
    if status in RETRIED or status >= SERVER_ERROR:
        return f"The server at {endpoint} fails: check its log."
    text = f"Check {endpoint}, the model's name and its key."
    if status == _NOT_FOUND and "/v1" not in endpoint:
        text += " The addresses of OpenAI-compatible servers usually end with /v1."
    return text


def clean(text: str) -> str:
    """Return a text without secrets, truncated if it is long."""
    return mask(text)[:_MAX_DETAIL_CHARS]


def is_refusal(status: int, detail: str) -> bool:
    """Return whether a status and its explanation mean that the model refuses the request."""
    if status in _REFUSED:
        return True
    if status in RETRIED:
        return False
    return bool(_FLAGGED.search(detail) if status < SERVER_ERROR else _TOO_LARGE.search(detail))


def asked_pause_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """Return the pause that a server requests, seconds, at most a minute; None if there is none.

    Args:
        headers: headers of the server's response, with names in lower case.
        now_s: current time, seconds since 1970, for a pause given as an end time.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        pause_s = _number_or_date(headers.get(name, ""), unit_s, now_s)
        if pause_s >= 0:
            return min(pause_s, _MAX_ASKED_PAUSE_S)
    return None


def _number_or_date(text: str, unit_s: float, now_s: float) -> float:
    """Return a pause in seconds; NaN if the text is neither a number nor an HTTP date."""
    try:
        return float(text) * unit_s
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except ValueError:
        return math.nan
