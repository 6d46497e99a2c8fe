"""Explain why a model's server did not answer, and suggest fixes."""

from __future__ import annotations

import math
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from foundation.errors import MesocosmError
from foundation.masking import mask

if TYPE_CHECKING:
    import openai

RETRIED = frozenset({408, 409, 425, 429})
"""HTTP statuses after which a request is retried, in addition to 500 and above."""

SERVER_ERROR = 500
_REFUSED = frozenset({400, 413, 422})
_BUSY = 429
_NOBODY_LISTENS = "ConnectError"
"""Class of the HTTP client's error; its package is an extra."""
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
        is_reply: whether the server sent a reply that is not a chat completion.
        message: message of the server or the network, one short line without secrets.
    """

    code = "unanswered"
    pause_s: float | None = None
    is_reply: bool = False
    message: str = ""


def name_of(error: openai.OpenAIError) -> str:
    """Return the kind of a failure, such as ``HTTP 429 (RateLimitError).``."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    return f"{name}." if status is None else f"HTTP {status} ({name})."


def message_of(error: openai.OpenAIError) -> str:
    """Return the message of the server or the network as one short line without secrets."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else body
    if not isinstance(message, str) or not message.strip():
        message = getattr(getattr(error, "response", None), "text", "")
    return shorten(message or str(error.__cause__ or error))


def shorten(text: str) -> str:
    """Return a text as one short line without secrets and control characters."""
    line = _CONTROLS.sub(" ", mask(text)).strip()
    return line if len(line) <= _MAX_MESSAGE_CHARS else f"{line[: _MAX_MESSAGE_CHARS - 1]}…"


def advice(status: int | None, endpoint: str, cause: BaseException | None = None) -> str:
    """Return a suggestion for fixing a failure.

    Args:
        status: HTTP status; None if none was received.
        endpoint: address of the server, without secrets.
        cause: the underlying error if no status was received.
    """
    if status is None and type(cause).__name__ == _NOBODY_LISTENS:
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
    return f"Check {endpoint}, the model's name and its key."


def explain(error: openai.OpenAIError) -> str:
    """Return the text of an error with the message of the server or the network."""
    more = getattr(getattr(error, "response", None), "text", "") or str(error.__cause__ or "")
    return clean("\n".join(dict.fromkeys(part for part in (str(error), more.strip()) if part)))


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


def asked_pause_s(response: Any, now_s: float) -> float | None:  # noqa: ANN401 - the SDK's HTTP response
    """Return the pause that a server requests, seconds, at most a minute; None if there is none.

    Args:
        response: the server's response; None if none was received.
        now_s: current time, seconds since 1970, for a pause given as an end time.
    """
    headers = {} if response is None else response.headers
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
