"""Notice a model that cannot be used before a run begins: not there, blind, or without tools."""

from __future__ import annotations

import base64
import contextlib
import io
import socket
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PIL import Image

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import AgentError, RequirementError
from controller.models.endpoint import ModelEndpoint

if TYPE_CHECKING:
    from appliance.base.clock import Clock
    from controller.models.reply import Reply
    from controller.models.settings import ModelSettings

_TIMEOUT_S = 10.0
_PATIENCE_S = 30.0
_SIDE_PX = 64
_TOOL = "report_colour"
_PORTS = {"http": 80, "https": 443}


def require_listening(settings: ModelSettings) -> None:
    """Make sure that something listens where the model shall be; nothing is asked of it.

    Raises:
        RequirementError: the host is not known, or refuses connections.
    """
    parts = urlsplit(settings.base_url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host):
        return  # only the proxy knows
    try:
        # One that is slow to accept may yet do so: the trials have a budget for it.
        with contextlib.suppress(TimeoutError):
            socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except OSError as exc:
        raise RequirementError(
            f"Nothing answers at {settings.endpoint}.",
            details=str(exc),
            resolution="Start the model's server, or correct MESOCOSM_MODEL_BASE_URL or --base-url.",
        ) from exc


def require_usable(settings: ModelSettings, clock: Clock = SYSTEM_CLOCK) -> str:
    """Ask a model for one call of a tool about one small picture; return what came of it.

    Whether it names the right colour is no condition: the answer is told, and people may judge.

    Raises:
        RequirementError: it is not there, refuses pictures or tools, or calls none.
    """
    start_s = clock.monotonic_s()
    reply = _ask(
        settings,
        clock,
        (_question(), [_tool()]),
        f"The model {settings.name!r} takes no picture with a tool, or does not answer.",
        "Choose a model that sees and calls tools; --no-preflight does without asking.",
    )
    return f"answered in {clock.monotonic_s() - start_s:.1f} s: {_called(reply, settings)}"


def require_answering(settings: ModelSettings, clock: Clock = SYSTEM_CLOCK) -> str:
    """Ask a model for a word, which any chat model can; return what came of it.

    Raises:
        RequirementError: it is not there, or does not answer.
    """
    start_s = clock.monotonic_s()
    _ask(
        settings,
        clock,
        ([{"role": "user", "content": "Answer with one word: ready"}], []),
        f"The model {settings.name!r} does not answer.",
        "Start its server, or choose another model; --no-preflight does without asking.",
    )
    return f"{settings.name} answered in {clock.monotonic_s() - start_s:.1f} s"


def _ask(
    settings: ModelSettings,
    clock: Clock,
    request: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    brief: str,
    resolution: str,
) -> Reply:
    """Return the reply to a request, made of messages and tools; an outage is not waited for long."""
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
    """Return the call of the tool.

    Raises:
        RequirementError: there is none.
    """
    message = reply.choices[0].message
    for call in message.tool_calls or ():
        if call.function.name == _TOOL:
            return f"{_TOOL}({call.function.arguments[:80]}) for a red picture"
    raise RequirementError(
        f"The model {settings.name!r} was asked to call a tool, and called none.",
        details=f"It replied: {(message.content or 'nothing')[:200]}",
        resolution="Choose a model, or a setting of its server, with which tools are called; "
        "--no-preflight does without asking.",
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
