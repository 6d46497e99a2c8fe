"""Forward read-only requests to Prometheus, which cannot check their ``Host`` itself."""

from __future__ import annotations

import http.client
import logging
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from wsgiref.types import StartResponse, WSGIEnvironment

PREFIX = "/prometheus"
"""Path under which Prometheus is served, both here and by itself."""

_TIMEOUT_S = 30.0
_CHUNK_BYTES = 65536
_REQUEST_HEADERS = ("Accept", "Accept-Encoding", "If-Modified-Since", "If-None-Match")
_REPLY_HEADERS = (
    *("Content-Type", "Content-Encoding", "Content-Length", "ETag"),
    *("Last-Modified", "Location", "Vary"),
)
_SAFETY = [
    ("Content-Security-Policy", "frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
]
_log = logging.getLogger(__name__)


class PrometheusProxy:
    """WSGI application for the paths below `PREFIX`; its caller allows only GET and HEAD.

    Args:
        upstream: URL of Prometheus, such as ``http://prometheus:9090``.
    """

    def __init__(self, upstream: str) -> None:
        self._address = urlsplit(upstream).netloc

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        link = http.client.HTTPConnection(self._address, timeout=_TIMEOUT_S)
        try:
            link.request(environ["REQUEST_METHOD"], _target(environ), headers=_headers(environ))
            reply = link.getresponse()
        except (OSError, http.client.HTTPException) as exc:
            link.close()
            _log.debug("Prometheus at %s does not answer: %r", self._address, exc)
            start("502 Bad Gateway", [("Content-Type", "text/plain")])
            return [b"Prometheus does not answer.\n"]
        kept = [(name, value) for name, value in reply.getheaders() if name in _REPLY_HEADERS]
        start(f"{reply.status} {reply.reason}", [*kept, *_SAFETY])
        return _body(link, reply)


def _target(environ: WSGIEnvironment) -> str:
    # WSGI's path is percent-decoded; each character stands for one byte. Source: PEP 3333, Unicode
    # Issues.
    path = quote(environ["PATH_INFO"].encode("latin-1"))
    query = environ.get("QUERY_STRING", "")
    return f"{path}?{query}" if query else path


def _headers(environ: WSGIEnvironment) -> dict[str, str]:
    wanted = {name: f"HTTP_{name.upper().replace('-', '_')}" for name in _REQUEST_HEADERS}
    return {name: environ[key] for name, key in wanted.items() if key in environ}


def _body(link: http.client.HTTPConnection, reply: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while data := reply.read(_CHUNK_BYTES):
            yield data
    finally:
        link.close()
