"""Why a model's server did not answer, in its own words, and what helps."""

from __future__ import annotations

import re
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
        words: of the server or the network, one short line without secrets.
    """

    code = "unanswered"
    pause_s: float | None = None
    is_reply: bool = False
    words: str = ""


def name_of(error: openai.OpenAIError) -> str:
    """Return what kind of failure it is: ``HTTP 429 (RateLimitError).``."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    return f"{name}." if status is None else f"HTTP {status} ({name})."


def words_of(error: openai.OpenAIError) -> str:
    """Return what the server said, or the network did, as one short line without secrets."""
    body = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, dict) else body
    if not isinstance(said, str) or not said.strip():
        said = getattr(getattr(error, "response", None), "text", "")
    return shorten(said or str(error.__cause__ or error))


def shorten(text: str) -> str:
    """Return a text as one short line without secrets and control characters."""
    line = _CONTROLS.sub(" ", mask(text)).strip()
    return line if len(line) <= _MAX_WORDS_CHARS else f"{line[: _MAX_WORDS_CHARS - 1]}…"


def advice(status: int | None, endpoint: str) -> str:
    """Return what helps.

    Args:
        status: of HTTP; None where none came.
        endpoint: address of the server, without secrets.
    """
    again = "`mesocosm resume` goes on once it answers."
    if status is None:
        return f"Check that a server listens at {endpoint}; {again}"
    if status == _BUSY:
        return (
            "Run fewer trials at a time (--parallel), or let each wait longer "
            f"(MESOCOSM_MODEL_OUTAGE_S); {again}"
        )
    if status in RETRIED or status >= SERVER_ERROR:
        return f"The server at {endpoint} fails: its own log says why; {again}"
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


def asked_pause_s(response: Any) -> float | None:  # noqa: ANN401 - the SDK's HTTP response
    """Return the pause that a server asks for, seconds; None when it asks for none or too long."""
    headers = {} if response is None else response.headers
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            pause_s = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if 0 <= pause_s <= _MAX_ASKED_PAUSE_S:
            return pause_s
    return None
