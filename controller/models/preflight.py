"""Verify before a run that its model is reachable, accepts images and calls tools."""

from __future__ import annotations

import base64
import contextlib
import io
import socket
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PIL import Image

from controller.models.endpoint import ModelEndpoint
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import AgentError, RequirementError

if TYPE_CHECKING:
    from controller.models.reply import Reply
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_TIMEOUT_S = 10.0
_PATIENCE_S = 30.0
_SIDE_PX = 64
_TOOL = "report_colour"
_PORTS = {"http": 80, "https": 443}


def require_listening(settings: ModelSettings) -> None:
    """Verify that a server listens at the model's address, without sending a request.

    Raises:
        RequirementError: the host is unknown, or refuses connections.
    """
    parts = urlsplit(settings.base_url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host):
        return  # only the proxy can reach it
    try:
        # A server that is slow to accept may still do so: trials have an outage budget for it.
        with contextlib.suppress(TimeoutError):
            socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except OSError as exc:
        raise RequirementError(
            f"No server answers at {settings.endpoint}.",
            details=str(exc),
            resolution="Start the model's server, or correct MESOCOSM_MODEL_BASE_URL or --base-url.",
        ) from exc


def require_usable(settings: ModelSettings, clock: Clock = SYSTEM_CLOCK) -> str:
    """Ask a model to call a tool about a small image, and return a summary of the result.

    The colour need not be right: the answer is reported for people to judge.

    Raises:
        RequirementError: the model is unreachable, rejects images or tools, or calls no tool.
    """
    start_s = clock.monotonic_s()
    reply = _ask(
        settings,
        clock,
        (_question(), [_tool()]),
        f"The model {settings.name!r} does not accept images with tools, or does not answer.",
        "Choose a model that accepts images and calls tools; --no-preflight skips this check.",
    )
    return f"answered in {clock.monotonic_s() - start_s:.1f} s: {_called(reply, settings)}"


def require_answering(settings: ModelSettings, clock: Clock = SYSTEM_CLOCK) -> str:
    """Ask a model for a one-word answer, which any chat model can give; return a summary.

    Raises:
        RequirementError: the model is unreachable, or does not answer.
    """
    start_s = clock.monotonic_s()
    _ask(
        settings,
        clock,
        ([{"role": "user", "content": "Answer with one word: ready"}], []),
        f"The model {settings.name!r} does not answer.",
        "Start its server, or choose another model; --no-preflight skips this check.",
    )
    return f"{settings.name} answered in {clock.monotonic_s() - start_s:.1f} s"


def _ask(
    settings: ModelSettings,
    clock: Clock,
    request: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    brief: str,
    resolution: str,
) -> Reply:
    """Return the reply to a request (messages and tools), with a short outage budget."""
    require_listening(settings)
    patient = settings.model_copy(update={"outage_s": min(settings.outage_s, _PATIENCE_S)})
    try:
        return ModelEndpoint(patient, clock).ask(*request).reply
    except AgentError as exc:
        raise RequirementError(
            brief,
            details=f"{exc.brief} {exc.details}".strip(),
            resolution=exc.resolution or resolution,
        ) from exc


def _called(reply: Reply, settings: ModelSettings) -> str:
    """Return the model's tool call as text.

    Raises:
        RequirementError: the model did not call the tool.
    """
    message = reply.choices[0].message
    for call in message.tool_calls:
        if call.function.name == _TOOL:
            return f"{_TOOL}({call.function.arguments[:80]}) for a red image"
    raise RequirementError(
        f"The model {settings.name!r} was asked to call a tool but did not.",
        details=f"It replied: {(message.content or 'nothing')[:200]}",
        resolution="Choose a model that calls tools, or configure its server to support them; "
        "--no-preflight skips this check.",
    )


def _question() -> list[dict[str, Any]]:
    buffer = io.BytesIO()
    Image.new("RGB", (_SIDE_PX, _SIDE_PX), "red").save(buffer, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    text = f"Which colour is this picture? Answer by calling the tool {_TOOL}."
    parts = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    return [{"role": "user", "content": parts}]


def _tool() -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    }
    function = {"name": _TOOL, "description": "Report a colour.", "parameters": parameters}
    return {"type": "function", "function": function}
