"""Refuse requests that a browser sends here under a foreign name (DNS rebinding).

A page of any site can have its own name resolve to a loopback address; the browser then lets it
read what it gets there. The name stands in the request's ``Host``. Source: RFC 9110, 7.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared, not listened on
_HTTP_PORT = 80


def allowed_hosts(address: str, ports: Iterable[int]) -> frozenset[str]:
    """Return the values of ``Host`` under which a server is reached.

    Args:
        address: that it listens on; a wildcard adds no name.
        ports: that it is reached at.
    """
    own = f"[{address}]" if ":" in address else address
    names = {*LOOPBACK, *(() if address in _WILDCARDS else (own.lower(),))}
    return frozenset(_host(name, port) for name in names for port in ports)


def _host(name: str, port: int) -> str:
    return name if port == _HTTP_PORT else f"{name}:{port}"


class HostCheck:
    """WSGI middleware that passes on requests under the server's own names only.

    Args:
        app: gets the requests that are passed on.
        hosts: allowed values of ``Host``, in lower case.
    """

    def __init__(self, app: WSGIApplication, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environ.get("HTTP_HOST", "").lower() in self._hosts:
            return self._app(environ, start)
        body = b"This server has another name.\n"
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
        start("421 Misdirected Request", headers)
        return [body]
