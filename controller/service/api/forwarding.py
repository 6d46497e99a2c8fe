"""Forward requests that need machines to the worker, which serves the same routes on a Unix socket.

The controller's process has no access to machines. Its gate checks a request first, and requests
without a valid token are not forwarded. The worker checks the token's role, in the same database.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import h11
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from controller.service.api.gate import COOKIE
from controller.service.episodes.orders import MAX_DEADLINE_S
from foundation.errors import MesocosmError, RequirementError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

_log = logging.getLogger(__name__)

PATHS = (
    *("/api/v1/episodes", "/api/v1/doctor", "/api/v1/status"),
    *("/fleet", "/human", "/doctor"),
)
"""Forwarded paths, including all paths below them."""
NAME = "worker"
"""``Host`` of requests to the worker."""

_READ_BYTES = 1 << 16
_REPLY_S = MAX_DEADLINE_S + 60.0
# Hop-by-hop headers. Source: RFC 9110, 7.6.1.
_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
_REWRITTEN = frozenset({b"host", b"origin", b"content-length", b"expect"})


class WorkerSilentError(RequirementError):
    """The worker does not respond."""

    code = "no_worker"


class Forwarding:
    """ASGI middleware behind the gate of the controller.

    Args:
        app: handles requests that are not forwarded, and rejects those without a valid token.
        socket: path of the worker's socket.
        is_known: returns whether a token is valid.
    """

    def __init__(self, app: ASGIApp, socket: Path, is_known: Callable[[str], bool]) -> None:
        self._app = app
        self._socket = socket
        self._is_known = is_known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        is_local = scope["type"] != "http" or not _is_forwarded(scope["path"])
        if is_local or not await run_in_threadpool(self._is_known, _token(scope)):
            await self._app(scope, receive, send)
            return
        try:
            if _is_live(scope["path"]):
                await self._forward_live(scope, receive, send)
            else:
                async with asyncio.timeout(_REPLY_S):
                    await self._forward(scope, await Request(scope, receive).body(), send)
        except WorkerSilentError as exc:
            request = Request(scope, receive)
            answer = request.app.exception_handlers[MesocosmError](request, exc)
            await answer(scope, receive, send)

    async def _forward_live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a reply that lasts until the client disconnects."""
        body = await Request(scope, receive).body()
        forwarding = asyncio.ensure_future(self._forward(scope, body, send))
        disconnecting = asyncio.ensure_future(_until_disconnect(receive))
        try:
            await asyncio.wait({forwarding, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
            if forwarding.done():
                forwarding.result()
        finally:
            for task in (forwarding, disconnecting):
                task.cancel()
            await asyncio.gather(forwarding, disconnecting, return_exceptions=True)

    async def _forward(self, scope: Scope, body: bytes, send: Send) -> None:
        try:
            reader, writer = await asyncio.open_unix_connection(self._socket)
        except OSError as exc:
            raise _silent(exc) from exc
        connection = h11.Connection(h11.CLIENT)
        is_begun = False
        try:
            for event in _request(scope, body):
                writer.write(connection.send(event) or b"")
            async for reply in _read(connection, reader):
                match reply:
                    case h11.Response():
                        is_begun = True
                        await send(_start(reply))
                    case h11.Data():
                        await send(_part(bytes(reply.data), is_last=False))
            await send(_part(b"", is_last=True))
        except (OSError, h11.RemoteProtocolError) as exc:
            if is_begun:  # the client sees a truncated reply
                _log.warning("the worker ended during a reply: %s", exc)
                raise
            raise _silent(exc) from exc
        finally:
            writer.close()


def _is_forwarded(path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in PATHS)


def _is_live(path: str) -> bool:
    """Return whether a path is a live screen's, whose reply does not end by itself."""
    return path.startswith("/fleet/") and path.endswith("/live")


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _token(scope: Scope) -> str:
    """Return the token of a request; empty if it has none."""
    request = Request(scope)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else request.cookies.get(COOKIE, "")


def _request(scope: Scope, body: bytes) -> list[h11.Event]:
    """Return the request to the worker; its origin becomes the worker's, as the gate has checked it."""
    target = scope.get("raw_path") or scope["path"].encode()
    if query := scope.get("query_string", b""):
        target += b"?" + query
    given = list(scope["headers"])
    omitted = _HOP_BY_HOP | _REWRITTEN
    headers = [(name, value) for name, value in given if name not in omitted]
    headers += [(b"host", NAME.encode()), (b"connection", b"close")]
    if any(name == b"origin" for name, _ in given):
        headers.append((b"origin", f"http://{NAME}".encode()))
    if body or scope["method"] not in {"GET", "HEAD"}:
        headers.append((b"content-length", str(len(body)).encode()))
    head = h11.Request(method=scope["method"], target=target, headers=headers)
    return [head, h11.Data(data=body), h11.EndOfMessage()]


async def _read(
    connection: h11.Connection, reader: asyncio.StreamReader
) -> AsyncIterator[h11.Response | h11.Data]:
    """Yield the reply and its parts.

    Raises:
        h11.RemoteProtocolError: the reply is truncated.
    """
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.EndOfMessage):
            return
        elif isinstance(event, h11.Response | h11.Data):
            yield event
        elif isinstance(event, h11.ConnectionClosed):
            raise h11.RemoteProtocolError(
                "The connection was closed before the reply was complete."
            )


def _start(reply: h11.Response) -> dict[str, object]:
    given = reply.headers
    headers = [(name, value) for name, value in given if name not in _HOP_BY_HOP]
    return {"type": "http.response.start", "status": reply.status_code, "headers": headers}


def _part(data: bytes, *, is_last: bool) -> dict[str, object]:
    return {"type": "http.response.body", "body": data, "more_body": not is_last}


def _silent(cause: Exception) -> WorkerSilentError:
    _log.warning("the worker does not respond: %s", cause)
    return WorkerSilentError(
        "The worker does not respond, so machines cannot be reached.",
        resolution="Check it with `mesocosm status`; start it with `mesocosm service start` or "
        "`mesocosm up`.",
    )
