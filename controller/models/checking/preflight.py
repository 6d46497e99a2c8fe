"""Verify before a run that its model is reachable, accepts images and calls tools."""

from __future__ import annotations

import contextlib
import io
import socket
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PIL import Image as Picture

from controller.models.adapters import find_adapter
from controller.models.calls_as_json import JsonEndpoint
from controller.models.endpoint import ModelEndpoint
from controller.models.failures import shorten
from controller.models.messages import Image, Message, Request, Role, Tool
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import AgentError, RequirementError

if TYPE_CHECKING:
    from controller.models.calls_as_json import Endpoint
    from controller.models.messages import Reply
    from controller.models.settings import ModelSettings
    from controller.specification.team import Calls
    from foundation.clock import Clock

_TIMEOUT_S = 10.0
_PATIENCE_S = 30.0
_SIDE_PX = 64
_TOOL = Tool(
    "report_colour",
    "Report a colour.",
    {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
)
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


def require_usable(
    settings: ModelSettings, clock: Clock = SYSTEM_CLOCK, *, calls: Calls = "functions"
) -> str:
    """Ask a model to call a tool about a small image, and return a summary of the result.

    The colour need not be right: the answer is reported for people to judge.

    Args:
        settings: the model.
        clock: measures the answer and outages.
        calls: how it calls tools.

    Raises:
        RequirementError: the model is unreachable, rejects images or tools, or calls no tool.
    """
    start_s = clock.monotonic_s()
    can = find_adapter(settings.adapter).capabilities
    if not (can.vision and (can.tools or calls == "json")):
        raise RequirementError(
            f"The adapter {settings.adapter!r} does not send images with tools.",
            resolution="Choose a model of another vendor for this agent.",
        )
    reply = _ask(
        settings,
        clock,
        Request((_question(),), (_TOOL,)),
        f"The model {settings.name!r} does not accept images with tools, or does not answer.",
        "Choose a model that accepts images and calls tools; --no-preflight skips this check.",
        calls=calls,
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
        Request((Message(Role.USER, ("Answer with one word: ready",)),)),
        f"The model {settings.name!r} does not answer.",
        "Start its server, or choose another model; --no-preflight skips this check.",
    )
    return f"{settings.name} answered in {clock.monotonic_s() - start_s:.1f} s"


def _ask(
    settings: ModelSettings,
    clock: Clock,
    request: Request,
    brief: str,
    resolution: str,
    *,
    calls: Calls = "functions",
) -> Reply:
    """Return the reply to a request, with a short outage budget."""
    require_listening(settings)
    patient = settings.model_copy(update={"outage_s": min(settings.outage_s, _PATIENCE_S)})
    endpoint: Endpoint = ModelEndpoint(patient, clock)
    try:
        return (JsonEndpoint(endpoint) if calls == "json" else endpoint).ask(request).reply
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
    for call in reply.message.calls:
        if call.name == _TOOL.name:
            return f"{call.name}({call.arguments[:80]}) for a red image"
    offered = f"Offered tools: {_TOOL.name}."
    if names := dict.fromkeys(shorten(call.name) for call in reply.message.calls):
        raise RequirementError(
            f"The model {settings.name!r} was asked to call {_TOOL.name} but did not: it called {', '.join(names)}.",
            details=offered,
            resolution="Choose a model that calls only the tools of its request; a script of the stand-in "
            f"server needs a rule for {_TOOL.name} (docs/models.md); --no-preflight skips this check.",
        )
    raise RequirementError(
        f"The model {settings.name!r} was asked to call a tool but did not.",
        details=f"It replied: {(reply.message.text or 'nothing')[:200]}\n{offered}",
        resolution="Choose a model that calls tools, or configure its server to support them; "
        "--no-preflight skips this check.",
    )


def _question() -> Message:
    buffer = io.BytesIO()
    Picture.new("RGB", (_SIDE_PX, _SIDE_PX), "red").save(buffer, "PNG")
    text = f"Which colour is this picture? Answer by calling the tool {_TOOL.name}."
    return Message(Role.USER, (text, Image(buffer.getvalue())))
