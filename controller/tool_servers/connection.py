"""Connections to the tool servers of one trial."""

from __future__ import annotations

import base64
import io
import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError, types
from PIL import Image

from controller.observation.results import ActionResult
from controller.tool_servers.tools import ServedTool
from controller.tool_servers.transport import GuestProgram, guest_transport
from evaluators.decorators import Mark
from foundation.errors import ActionError, MesocosmError, SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.from_thread import BlockingPortal

    from evaluators.model.task import ToolServer
    from provisioning.protocols import Machine

_LOG = logging.getLogger(__name__)

GROUP = "tools"
"""Group of the tools among the actions of an agent."""
_START_S = 60.0
_CALL_S = 60.0
_MOST_TOOLS = 200
_MOST_PICTURE_BYTES = 4_000_000


class ToolConnections:
    """The running tool servers of a trial.

    Args:
        machines: machines by role.
    """

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        self._machines = machines
        self._stack = ExitStack()

    def open(self, servers: Mapping[str, ToolServer]) -> dict[str, dict[str, ServedTool]]:
        """Start servers; return the tools of each by its name.

        Raises:
            SpecError: a server does not start, or speaks another protocol.
        """
        portal = self._stack.enter_context(start_blocking_portal())
        return {name: self._connect(portal, name, server) for name, server in servers.items()}

    def close(self) -> None:
        """End the connections; may be called more than once."""
        try:
            self._stack.close()
        except Exception as exc:  # noqa: BLE001 - the machine may be gone, and the trial is over
            _LOG.warning("cannot close the tool servers: %s", exc)

    def _connect(
        self, portal: BlockingPortal, name: str, server: ToolServer
    ) -> dict[str, ServedTool]:
        program = GuestProgram(self._machines[server.on].link, f"tools-{name}")
        try:
            program.start(server.command)
            client = Client(guest_transport(program), mode="legacy", read_timeout_seconds=_START_S)
            self._stack.enter_context(portal.wrap_async_context_manager(client))
            listed = portal.call(_list_tools, client)
        except Exception as exc:
            raise SpecError(
                f"The tool server {name!r} does not start.",
                details=_reason(exc),
                resolution=f"Run on {server.on}, as the agent's user: {' '.join(server.command)}",
            ) from exc
        return {
            tool.name: ServedTool(
                Mark("action", tool.name, GROUP, _caller(portal, client, tool.name), group=GROUP),
                tool.description or tool.title or "",
                machine=server.on,
                is_distractor=server.distractor,
                schema=tool.input_schema,
            )
            for tool in listed[:_MOST_TOOLS]
        }


async def _list_tools(client: Client) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    while len(tools) < _MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _caller(portal: BlockingPortal, client: Client, name: str) -> Callable[..., ActionResult]:
    """Return a function that calls a tool."""

    async def call(arguments: dict[str, Any]) -> types.CallToolResult:
        return await client.call_tool(name, arguments, read_timeout_seconds=_CALL_S)

    def run(**arguments: Any) -> ActionResult:  # noqa: ANN401 - as the server's schema says
        try:
            result = portal.call(call, arguments)
        except (MCPError, MesocosmError, TimeoutError, RuntimeError, OSError) as exc:
            raise ActionError(f"The tool {name} failed.", _reason(exc)) from exc
        returned = _read(result)
        if result.is_error:
            raise ActionError(f"The tool {name} failed.", returned.text[:2000])
        return returned

    return run


def _read(result: types.CallToolResult) -> ActionResult:
    """Return text and the last picture of a result; a machine's program may send anything."""
    texts: list[str] = []
    png = b""
    for part in result.content:
        if isinstance(part, types.TextContent):
            texts.append(part.text)
        elif isinstance(part, types.ImageContent):
            png = _picture(part.data) or png
        else:
            texts.append(f"[{part.type}]")
    return ActionResult("\n".join(texts) or "[no text]", png)


def _picture(encoded: str) -> bytes:
    """Return a picture as PNG; empty if it is none, or too large."""
    try:
        data = base64.b64decode(encoded, validate=True)
        if len(data) > _MOST_PICTURE_BYTES:
            return b""
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as image:
            out = io.BytesIO()
            image.convert("RGB").save(out, "PNG")
    except (ValueError, OSError, SyntaxError):
        return b""
    return out.getvalue()


def _reason(exc: BaseException) -> str:
    """Return the message of an error, or of the first of a group."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    return f"{type(exc).__name__}: {exc}"[:500]
