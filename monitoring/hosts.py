"""Refuse requests that a browser sends under a foreign host name (DNS rebinding).

A page of any site can make its own name resolve to a loopback address; the browser then lets it
read the responses. The request's ``Host`` contains that name. Source: RFC 9110, 7.2.
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
    """Return the values of ``Host`` under which a server is reachable.

    Args:
        address: listen address; a wildcard adds no name.
        ports: ports at which it is reachable.
    """
    own = f"[{address}]" if ":" in address else address
    names = {*LOOPBACK, *(() if address in _WILDCARDS else (own.lower(),))}
    return frozenset(_host(name, port) for name in names for port in ports)


def _host(name: str, port: int) -> str:
    return name if port == _HTTP_PORT else f"{name}:{port}"


class HostCheck:
    """WSGI middleware that forwards only requests with one of the server's own host names.

    Args:
        app: receives the forwarded requests.
        hosts: allowed values of ``Host``, in lowercase.
    """

    def __init__(self, app: WSGIApplication, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environ.get("HTTP_HOST", "").lower() in self._hosts:
            return self._app(environ, start)
        body = b"The Host header does not match this server.\n"
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
        start("421 Misdirected Request", headers)
        return [body]
