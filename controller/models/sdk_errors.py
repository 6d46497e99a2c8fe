"""Map the errors of vendors' SDKs to ours: those of OpenAI and Anthropic have one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.models.failures import Failure

if TYPE_CHECKING:
    from controller.models.failures import UnansweredError
    from foundation.errors import AgentError

NOBODY_LISTENS = "ConnectError"
"""Class of the HTTP clients' error; their packages are extras."""


def failure_of(error: Exception, endpoint: str, now_s: float) -> AgentError | UnansweredError:
    """Return our error for one of an SDK.

    Args:
        error: the SDK's error.
        endpoint: address of the server, without secrets.
        now_s: current time, seconds since 1970.
    """
    response = getattr(error, "response", None)
    text = getattr(response, "text", "")
    cause = str(error.__cause__ or "")
    message = _message(getattr(error, "body", None))
    if not isinstance(message, str) or not message.strip():
        message = text
    lines = dict.fromkeys(part for part in (str(error), (text or cause).strip()) if part)
    return Failure(
        name=type(error).__name__,
        detail="\n".join(lines),
        message=message or cause or str(error),
        status=getattr(error, "status_code", None),
        headers={} if response is None else response.headers,
        is_listening=type(error.__cause__).__name__ != NOBODY_LISTENS,
    ).error(endpoint, now_s)


def _message(body: object) -> object:
    """Return the message of an error's body, which Anthropic's API puts into its ``error``."""
    if not isinstance(body, dict):
        return body
    inner = body.get("error")
    return inner.get("message") if isinstance(inner, dict) else body.get("message")
