"""Serve the application, until told to stop."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import uvicorn

from appliance.base.errors import RequirementError

if TYPE_CHECKING:
    from fastapi import FastAPI

_MAX_CONNECTIONS = 500
_KEEP_ALIVE_S = 900
"""Longer than a call of a model: who drives an episode asks its model between two requests."""
_STOP_S = 5


class Server:
    """An HTTP server for one application; a part of the service.

    Args:
        app: the application.
        listener: the socket that it takes connections from.
    """

    def __init__(self, app: FastAPI, listener: socket.socket) -> None:
        self._listener = listener
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_STOP_S,
            )
        )

    def __call__(self, stop: threading.Event) -> None:
        """Serve until `stop` is set; requests under way get a few seconds more."""
        threading.Thread(target=self._watch, args=(stop,), daemon=True).start()
        self._server.run(sockets=[self._listener])

    def _watch(self, stop: threading.Event) -> None:
        stop.wait()
        self._server.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: address.
        port: 0 lets the kernel choose.

    Raises:
        RequirementError: the port is taken, or there is no such address here.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as exc:
        listener.close()
        raise RequirementError(
            f"Port {port} of {host} cannot be listened on.",
            details=str(exc),
            resolution="Stop what uses it, or choose another with --port.",
        ) from exc
    return listener
