"""When the client of an HTTP server has left: its session ended, or it was idle for long."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from mesocosm.mcp.server import EpisodeTools

_TICK_S = 0.2


class Presence:
    """An application that observes the requests of another one.

    A session that has carried out no action may end without the end of the episode: some clients
    open one to list the tools.

    Args:
        app: the application.
        tools: the tools of the episode.
    """

    def __init__(self, app: ASGIApp, tools: EpisodeTools) -> None:
        self._app = app
        self._tools = tools
        self._running = 0
        self._latest_s = time.monotonic()
        self._has_left = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1
            self._latest_s = time.monotonic()
            if scope["method"] == "DELETE" and self._tools.has_acted:
                self._has_left = True

    async def wait_until_left(self, idle_s: float) -> None:
        """Return when the client has left.

        Args:
            idle_s: after this time without a request, it has left.
        """
        while not self._has_left:
            if not self._running and time.monotonic() - self._latest_s > idle_s:
                return
            await asyncio.sleep(_TICK_S)
