"""Serve a model's reverse proxy on a Unix socket for the duration of a trial."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING

import uvicorn

from controller.models.outage import OutageMeter
from controller.models.reverse_proxy import ModelProxy
from controller.models.usage import UsageMeter
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError
from foundation.masking import redact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_MAX_CONNECTIONS = 32
_MAX_HEAD_BYTES = 16384
_KEEP_ALIVE_S = 60
_STOP_S = 5.0


class ModelGateway:
    """A model's reverse proxy in its own thread.

    Args:
        settings: the model's settings.
        path: path of the socket, in a folder that only this user can enter: any process that can
            open the socket can query the model.

        clock: measures outages.

    Attributes:
        meter: measures how long the model does not answer.
        usage: measures the usage of answered calls.

    Raises:
        RequirementError: the path is too long, or cannot be written.
    """

    def __init__(self, settings: ModelSettings, path: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        for secret in settings.secrets():
            redact(secret)
        self._settings = settings
        self.meter = OutageMeter(settings.outage_s, clock)
        self.usage = UsageMeter()
        self._listener = _listen(path)
        self._stop: Callable[[], object] = lambda: None
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-gateway", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all connections and stop the server."""
        self._has_begun.wait(_STOP_S)
        self._stop()
        self._thread.join(_STOP_S)
        self._listener.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._has_begun.set()

    async def _serve(self) -> None:
        async with ModelProxy(self._settings, self.meter, self.usage) as proxy:
            config = uvicorn.Config(
                proxy,
                http="h11",
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE_S,
                h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
            )
            server = uvicorn.Server(config)
            loop = asyncio.get_running_loop()
            self._stop = lambda: loop.call_soon_threadsafe(_abort, server)
            self._has_begun.set()
            await server.serve([self._listener])


def _abort(server: uvicorn.Server) -> None:
    """Drop a server's connections and stop it immediately; requests in progress are cancelled."""
    for connection in list(server.server_state.connections):
        connection.transport.abort()
    server.should_exit = server.force_exit = True


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o666)  # the relay runs as a different user; the folder keeps others out
        listener.listen(_MAX_CONNECTIONS)
    except OSError as exc:
        listener.close()
        raise RequirementError(
            f"Cannot listen on the socket {path}.",
            details=str(exc),
            resolution="Set MESOCOSM_STATE_DIR to a folder that you own, with a shorter path.",
        ) from exc
    return listener
