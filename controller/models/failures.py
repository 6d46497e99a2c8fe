"""Why a model's server did not answer, in its own words, and what helps."""

from __future__ import annotations

import math
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from appliance.base.errors import MesocosmError
from appliance.base.masking import mask

if TYPE_CHECKING:
    import openai

RETRIED = frozenset({408, 409, 425, 429})
"""HTTP statuses, beside those from 500 on, after which a request is made again."""

SERVER_ERROR = 500
_REFUSED = frozenset({400, 413, 422})
_BUSY = 429
_NOBODY_LISTENS = "ConnectError"
"""Class of the HTTP client's error; its package is an extra."""
_MAX_ASKED_PAUSE_S = 60.0
_MAX_DETAIL_CHARS = 2000
_MAX_WORDS_CHARS = 200
_CONTROLS = re.compile(r"[\x00-\x20\x7f-\x9f]+")
_TOO_LARGE = re.compile(
    r"context.{0,20}(length|window|size)|too (large|long|many tokens)|maximum.{0,40}tokens",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"content.{0,3}(policy|filter)|moderation|flagged|safety", re.IGNORECASE)


class UnansweredError(MesocosmError):
    """One request was not answered; another may be.

    Attributes:
        pause_s: that the server asks for, seconds; None where it asks for none.
        is_reply: whether something was replied that is no chat completion.
        message: of the server or the network, one short line without secrets.
    """

    code = "unanswered"
    pause_s: float | None = None
    is_reply: bool = False
    message: str = ""


def name_of(error: openai.OpenAIError) -> str:
    """Return what kind of failure it is: ``HTTP 429 (RateLimitError).``."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    return f"{name}." if status is None else f"HTTP {status} ({name})."


def message_of(error: openai.OpenAIError) -> str:
    """Return what the server said, or the network did, as one short line without secrets."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else body
    if not isinstance(message, str) or not message.strip():
        message = getattr(getattr(error, "response", None), "text", "")
    return shorten(message or str(error.__cause__ or error))


def shorten(text: str) -> str:
    """Return a text as one short line without secrets and control characters."""
    line = _CONTROLS.sub(" ", mask(text)).strip()
    return line if len(line) <= _MAX_WORDS_CHARS else f"{line[: _MAX_WORDS_CHARS - 1]}…"


def advice(status: int | None, endpoint: str, cause: BaseException | None = None) -> str:
    """Return what helps.

    Args:
        status: of HTTP; None where none came.
        endpoint: address of the server, without secrets.
        cause: what broke where no status came.
    """
    if status is None and type(cause).__name__ == _NOBODY_LISTENS:
        return f"Check that a server listens at {endpoint}."
    if status is None:
        return f"The connection to {endpoint} broke off: its server's log may say why."
    if status == _BUSY:
        return (
            "Run fewer trials at a time (--parallel), or let each wait longer "
            "(MESOCOSM_MODEL_OUTAGE_S)."
        )
    if status in RETRIED or status >= SERVER_ERROR:
        return f"The server at {endpoint} fails: its own log says why."
    return f"Check {endpoint}, the model's name and its key."


def explain(error: openai.OpenAIError) -> str:
    """Return what an error says, with what the server said or what the network did."""
    more = getattr(getattr(error, "response", None), "text", "") or str(error.__cause__ or "")
    return clean("\n".join(dict.fromkeys(part for part in (str(error), more.strip()) if part)))


def clean(text: str) -> str:
    """Return a text without secrets; of a long one, the beginning."""
    return mask(text)[:_MAX_DETAIL_CHARS]


def is_refusal(status: int, detail: str) -> bool:
    """Return whether a status and its explanation mean that the model will not take the request."""
    if status in _REFUSED:
        return True
    if status in RETRIED:
        return False
    return bool(_FLAGGED.search(detail) if status < SERVER_ERROR else _TOO_LARGE.search(detail))


def asked_pause_s(response: Any, now_s: float) -> float | None:  # noqa: ANN401 - the SDK's HTTP response
    """Return the pause that a server asks for, seconds, a minute at most; None when it asks for none.

    Args:
        response: of the server; None where none came.
        now_s: the time, seconds since 1970, for a pause that is told by its end.
    """
    headers = {} if response is None else response.headers
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        pause_s = _number_or_date(headers.get(name, ""), unit_s, now_s)
        if pause_s >= 0:
            return min(pause_s, _MAX_ASKED_PAUSE_S)
    return None


def _number_or_date(text: str, unit_s: float, now_s: float) -> float:
    """Return a pause, seconds; NaN where the text is neither a number nor a date of HTTP."""
    try:
        return float(text) * unit_s
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except ValueError:
        return math.nan
