"""Serve ``/metrics``, ``/healthz`` and the Prometheus proxy; read-only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from foundation.errors import RequirementError
from monitoring.hosts import HostCheck, allowed_hosts
from monitoring.prometheus_proxy import PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from types import TracebackType
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client import CollectorRegistry


_SAFETY = [
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
]


class MetricsApp:
    """The WSGI application.

    Args:
        registry: metrics for ``/metrics``.
        prometheus: application for the paths of Prometheus; None if there is no Prometheus.
    """

    def __init__(
        self, registry: CollectorRegistry, *, prometheus: WSGIApplication | None = None
    ) -> None:
        self._metrics: WSGIApplication = make_wsgi_app(registry)
        self._prometheus = prometheus

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _answer(start, "405 Method Not Allowed", "read-only\n")
        path = environ["PATH_INFO"]
        if self._prometheus is not None and f"{path}/".startswith(f"{PREFIX}/"):
            return self._prometheus(environ, start)
        match path:
            case "/metrics":
                return self._metrics(environ, start)
            case "/healthz":
                return _answer(start, "200 OK", "ok\n")
            case _:
                return _answer(
                    start, "404 Not Found", f"Only /metrics, /healthz and {PREFIX} are here.\n"
                )


class MetricsServer:
    """A threaded HTTP server in the background, until the block ends.

    Requests with host names other than those of loopback and the address are refused.

    Args:
        app: answers the requests.
        host: address to listen on.
        port: 0 lets the kernel choose.
        hosts: additional allowed values of ``Host``.

    Raises:
        RequirementError: the port is taken.
    """

    def __init__(
        self,
        app: WSGIApplication,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        hosts: Collection[str] = (),
    ) -> None:
        try:
            self._server = make_server(
                host, port, app, server_class=ThreadingWSGIServer, handler_class=_QuietHandler
            )
        except OSError as exc:
            raise RequirementError(
                f"Cannot listen on port {port} of {host}.",
                details=str(exc),
                resolution="Stop what uses it, or choose another with MESOCOSM_CONTROLLER_PORT.",
            ) from exc
        own = allowed_hosts(host, [self._server.server_port])
        self._server.set_app(HostCheck(app, own | {name.lower() for name in hosts}))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """The listening port."""
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _QuietHandler(WSGIRequestHandler):
    """A handler that does not log each request."""

    timeout = 30

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name
        """Log nothing."""


def _answer(start: StartResponse, status: str, text: str) -> Iterable[bytes]:
    body = text.encode()
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start(status, [*headers, *_SAFETY])
    return [body]
