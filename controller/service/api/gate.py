"""Checks before any route: host name, origin, size and duration of the body, request rate.

The name of any site can resolve to a loopback address; the browser then sends that name as
``Host``. A page of any site can also post a form here; the browser then sends that site as
``Origin``. Source: RFC 9110, 7.2; RFC 6454, 7.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from controller.service.api.rates import RateLimit

MAX_BODY_BYTES = 1 << 20
_BODY_TIMEOUT_S = 30.0
_READ_ON_S = 5.0
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE = "mesocosm_token"

_SAFETY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer", browsers would hide the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class _RefusedError(MesocosmError):
    """A request is refused."""

    code = "refused"

    def __init__(self, status: int, brief: str, retry_after_s: int = 0) -> None:
        super().__init__(brief)
        self.status = status
        self.retry_after_s = retry_after_s


class Gate:
    """ASGI middleware in front of all routes.

    Args:
        app: handles accepted requests.
        hosts: allowed values of ``Host``, in lower case.
        peers: rate limit per client address.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], peers: RateLimit) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._peers = peers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            return
        send = _with_safety(send)
        try:
            self._check_rate(scope)
            self._check_names(scope)
            replay = await _read_body(scope, receive)
        except _RefusedError as exc:
            await _refuse(receive, send, exc)
            return
        await self._app(scope, replay, send)

    def _check_rate(self, scope: Scope) -> None:
        client = scope.get("client")
        if retry_after_s := self._peers.take(client[0] if client else ""):
            raise _RefusedError(429, "Too many requests from this address.", retry_after_s)

    def _check_names(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        names = headers.getlist("host")
        if len(names) != 1 or names[0].lower() not in self._hosts:
            raise _RefusedError(421, "The Host header does not name this server.")
        origins = headers.getlist("origin")
        if any(not self._is_own(origin) for origin in origins):
            raise _RefusedError(403, "Requests from pages of other sites are not allowed.")
        # Browsers send cookies for requests of any site, so these must name their origin.
        has_cookie = COOKIE in headers.get("cookie", "")
        if scope["method"] not in _SAFE_METHODS and has_cookie and not origins:
            raise _RefusedError(403, "A request with a cookie must have an Origin header.")

    def _is_own(self, origin: str) -> bool:
        scheme, _, name = origin.lower().partition("://")
        return scheme in {"http", "https"} and name in self._hosts


async def _read_body(scope: Scope, receive: Receive) -> Receive:
    """Read a whole body, with limits on size and time; return a function that replays it."""
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
        raise _RefusedError(413, f"The body is larger than {MAX_BODY_BYTES} bytes.")
    try:
        body = await asyncio.wait_for(_collect(receive), _BODY_TIMEOUT_S)
    except TimeoutError as exc:
        raise _RefusedError(408, "The body did not arrive in time.") from exc
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _collect(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _RefusedError(400, "The body is incomplete.")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise _RefusedError(413, f"The body is larger than {MAX_BODY_BYTES} bytes.")
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _with_safety(send: Send) -> Send:
    async def send_safely(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SAFETY.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_safely


async def _read_on(receive: Receive) -> None:
    """Keep reading a body for a while, because closing earlier resets the connection and loses the reply.

    Source: RFC 9112, 9.6.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READ_ON_S):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body", False):
                    return


async def _refuse(receive: Receive, send: Send, refused: _RefusedError) -> None:
    error = {"code": "refused", "brief": refused.brief, "details": "", "resolution": ""}
    body = json.dumps({"error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if refused.retry_after_s:
        headers.append((b"retry-after", str(refused.retry_after_s).encode()))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if refused.status == 413:  # noqa: PLR2004 - HTTP's
        await _read_on(receive)
    await send({"type": "http.response.body", "body": b""})
