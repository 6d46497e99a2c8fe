"""Names of services that ports of the phone lead to, as there is no name server."""

from __future__ import annotations

import http.client
import re
import socket
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Collection

MAX_NAMES = 64
_LOOPBACK = "127.0.0.1"
# Source: RFC 1123, 2.1.
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", re.ASCII)


def check_names(names: Collection[str]) -> frozenset[str]:
    """Return names that may be looked up.

    Raises:
        ValueError: one is not a host name, or there are too many.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:80]!r} is not a host name")
    if len(names) > MAX_NAMES:
        raise ValueError(f"{len(names)} names are too many")
    return frozenset(names)


def make_opener(
    names: Collection[str], trust: ssl.SSLContext, *handlers: urllib.request.BaseHandler
) -> urllib.request.OpenerDirector:
    """Return what opens URLs, and connects these names to the phone itself.

    Args:
        names: host names.
        trust: verifies certificates.
        handlers: further handlers.
    """
    return urllib.request.build_opener(_Http(names), _Https(names, trust), *handlers)


class _Connection(http.client.HTTPConnection):
    names: Collection[str] = ()

    def connect(self) -> None:
        host = _LOOPBACK if self.host.lower() in self.names else self.host
        self.sock = socket.create_connection((host, self.port), self.timeout)


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """Encrypts what the other base class has connected."""


class _Http(urllib.request.HTTPHandler):
    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connect, req)

    def _connect(self, host: str, /, **options: Any) -> _Connection:  # noqa: ANN401 - passed on
        connection = _Connection(host, **options)
        connection.names = self._names
        return connection


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, names: Collection[str], trust: ssl.SSLContext) -> None:
        super().__init__(context=trust)
        self._names = names
        self._trust = trust

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connect, req)

    def _connect(self, host: str, /, **options: Any) -> _SecureConnection:  # noqa: ANN401 - passed on
        connection = _SecureConnection(host, context=self._trust, **options)
        connection.names = self._names
        return connection
