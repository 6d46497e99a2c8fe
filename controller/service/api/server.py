"""Serve the application, until told to stop."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn

from appliance.base.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fastapi import FastAPI

_MAX_CONNECTIONS = 500
_KEEP_ALIVE_S = 900
"""Longer than a call of a model: who drives an episode asks its model between two requests."""
_STOP_S = 5


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that a server shows.

    Attributes:
        path: PEM file with it, and with those between it and its root.
        key_path: PEM file with its private key, without a password.

    Raises:
        UsageError: they cannot be read, or do not belong together.
    """

    path: Path
    key_path: Path

    def __post_init__(self) -> None:
        """Try it, so that a wrong one is named before anything is served."""
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.path, self.key_path, password=lambda: b"")
        except (OSError, ValueError) as exc:
            raise UsageError(
                f"{self.path} and {self.key_path} are no certificate and its key.",
                details=str(exc),
                resolution="Both are PEM files, and the key has no password.",
            ) from exc


def require_protected(
    host: str,
    *,
    has_tls: bool,
    is_insecure: bool,
    resolution: str = "Give --tls-cert and --tls-key, or --insecure where something else encrypts.",
) -> None:
    """Refuse to serve a network without encryption, unless that is asked for.

    Args:
        host: the address to listen at.
        has_tls: whether there is a certificate.
        is_insecure: whether no encryption was asked for.
        resolution: what the caller's user can do about it.

    Raises:
        UsageError: tokens would go over the network in the clear.
    """
    if has_tls or is_insecure or _is_loopback(host):
        return
    raise UsageError(
        f"Whoever listens at {host} without TLS lets others on the network read its tokens.",
        resolution=resolution,
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Server:
    """An HTTP server for one application; a part of the service.

    Args:
        app: the application.
        listener: the socket that it takes connections from.
        certificate: of TLS; without one, requests and replies are not encrypted.
    """

    def __init__(
        self, app: FastAPI, listener: socket.socket, certificate: Certificate | None = None
    ) -> None:
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
                ssl_certfile=None if certificate is None else certificate.path,
                ssl_keyfile=None if certificate is None else certificate.key_path,
            )
        )

    def __call__(self, stop: threading.Event) -> None:
        """Serve until `stop` is set; requests under way get a few seconds more."""
        threading.Thread(target=self._watch, args=(stop,), daemon=True).start()
        self._server.run(sockets=[self._listener])

    def _watch(self, stop: threading.Event) -> None:
        stop.wait()
        self._server.should_exit = True


def listen_privately(path: Path) -> socket.socket:
    """Return a Unix socket that listens, for this user alone; what a killed process left is replaced.

    Args:
        path: of the socket; its folder must exist, and whoever calls holds the lock of what it serves.

    Raises:
        RequirementError: the path is too long, or cannot be written.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o600)  # nobody can connect before it listens
        listener.listen(128)
    except OSError as exc:
        listener.close()
        raise RequirementError(
            f"The socket {path} cannot be listened on.",
            details=str(exc),
            resolution="Set MESOCOSM_STATE_DIR to a folder of yours with a shorter path.",
        ) from exc
    return listener


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
