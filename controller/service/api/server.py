"""HTTP server of the application, with its sockets and certificate."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn

from foundation.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fastapi import FastAPI

_MAX_CONNECTIONS = 500
_KEEP_ALIVE_S = 900
"""Longer than a model call, because drivers of episodes call their model between two requests."""
_STOP_S = 5


@dataclass(frozen=True, slots=True)
class Certificate:
    """The TLS certificate of a server.

    Attributes:
        path: PEM file with the certificate and its intermediate certificates.
        key_path: PEM file with its private key, without a password.

    Raises:
        UsageError: the files cannot be read or do not match.
    """

    path: Path
    key_path: Path

    def __post_init__(self) -> None:
        """Load the certificate, so that an invalid one is reported before anything is served."""
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.path, self.key_path, password=lambda: b"")
        except (OSError, ValueError) as exc:
            raise UsageError(
                f"{self.path} and {self.key_path} are not a certificate and its key.",
                details=str(exc),
                resolution="Use PEM files, and a key without a password.",
            ) from exc


def require_protected(
    host: str,
    *,
    has_tls: bool,
    is_insecure: bool,
    resolution: str = "Pass --tls-cert and --tls-key, or --insecure if something else encrypts the traffic.",
) -> None:
    """Refuse to serve a network without encryption, unless explicitly requested.

    Args:
        host: address to listen on.
        has_tls: whether there is a certificate.
        is_insecure: whether unencrypted service was explicitly requested.
        resolution: resolution in the error.

    Raises:
        UsageError: tokens would cross the network unencrypted.
    """
    if has_tls or is_insecure or _is_loopback(host):
        return
    raise UsageError(
        f"Listening on {host} without TLS exposes tokens to the network.",
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
        listener: listening socket.
        certificate: TLS certificate; without one, the connection is not encrypted.
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
        """Serve until `stop` is set; active requests get a few more seconds."""
        threading.Thread(target=self._watch, args=(stop,), daemon=True).start()
        self._server.run(sockets=[self._listener])

    def _watch(self, stop: threading.Event) -> None:
        stop.wait()
        self._server.should_exit = True


def listen_privately(path: Path) -> socket.socket:
    """Return a listening Unix socket that only this user can connect to; replaces a stale socket.

    Args:
        path: path of the socket; its folder must exist, and the caller must hold the lock of the
            service behind it.

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
            f"Cannot listen on the socket {path}.",
            details=str(exc),
            resolution="Set MESOCOSM_STATE_DIR to a writable folder with a shorter path.",
        ) from exc
    return listener


def listen(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket.

    Args:
        host: address.
        port: port; 0 lets the kernel choose.

    Raises:
        RequirementError: the port is in use, or this host does not have the address.
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
            f"Cannot listen on port {port} of {host}.",
            details=str(exc),
            resolution="Stop the process that uses it, or choose another port with --port.",
        ) from exc
    return listener
