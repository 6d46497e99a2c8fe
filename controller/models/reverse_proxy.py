"""Forward requests to a model's endpoint for a program that must not know its key.

Only requests to the run's model are forwarded, because the key would also open the endpoint's other
paths (files, other models): the adapter of its vendor knows which these are. Only the validated content of a request is forwarded. Cookies and
redirects are removed from replies, and so is the key, in case the endpoint repeats it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit, urlunsplit

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from controller.models.adapters import find_adapter
from controller.models.byte_mask import ByteMask
from controller.models.failures import RefusedRequestError, asked_pause_s, is_retried
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from starlette.types import Receive, Scope, Send

    from controller.models.client import Route, UsageReader
    from controller.models.outage import OutageMeter
    from controller.models.settings import ModelSettings
    from controller.models.usage import UsageMeter

MAX_BYTES = 32 << 20
"""Size limit of a request or a reply."""
_AT_ONCE = 4
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")
_REDIRECTS = range(300, 400)
_log = logging.getLogger(__name__)


class _CutOffError(MesocosmError):
    """A reply that has started cannot be forwarded completely."""

    code = "model_reply_cut_off"


class ModelProxy:
    """An ASGI application that proxies one model's endpoint; an asynchronous context manager.

    Args:
        settings: the model's address, and the deadline of a request, measured from its first byte to
            the last byte of the reply.
        meter: measures how long requests are not answered.
        usage: measures the usage that the replies of calls report.
    """

    def __init__(self, settings: ModelSettings, meter: OutageMeter, usage: UsageMeter) -> None:
        self._settings = settings
        self._rules = find_adapter(settings.adapter).gateway
        self._meter = meter
        self._usage = usage
        self._readers: dict[int, UsageReader] = {}
        self._client = httpx2.AsyncClient(timeout=settings.timeout_s, follow_redirects=False)
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        async with self._slots:
            deadline_s = asyncio.get_running_loop().time() + self._settings.timeout_s
            number = self._meter.begin()
            try:
                response = await self._answer(Request(scope, receive), deadline_s, number)
                await response(scope, receive, send)
            except (ClientDisconnect, asyncio.CancelledError):
                pass  # no reply is needed: the client disconnected, or the trial is over
            except _CutOffError as exc:
                # The connection closes without the reply's last chunk, so the client can detect it.
                _log.warning("A reply of %s was cut off: %s.", self._settings.name, exc.brief)
            finally:
                self._meter.end(number)
                if reader := self._readers.pop(number, None):
                    self._usage.end(reader.usage())

    async def _answer(self, request: Request, deadline_s: float, number: int) -> Response:
        """Return the reply to a request; failures become HTTP errors."""
        try:
            route = self._route(request)
            async with asyncio.timeout_at(deadline_s):
                reply = await self._forward(request, route)
        except RefusedRequestError as exc:
            return self._error(exc.status, exc.brief)
        except (TimeoutError, httpx2.TimeoutException):
            await self._fail(request, number)
            return self._error(504, f"the model did not answer in {self._settings.timeout_s:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
            _log.info("%s is unavailable: %r", self._settings.name, exc)
            await self._fail(request, number)
            return self._error(502, "the model cannot be reached")
        if reply.status_code in _REDIRECTS:
            await reply.aclose()
            return self._error(502, "the model's address redirects")
        if is_retried(reply.status_code):
            self._meter.fail(number, asked_pause_s(reply.headers, SYSTEM_CLOCK.now_s()))
        headers = {name: reply.headers[name] for name in _KEPT_HEADERS if name in reply.headers}
        if route.is_call and reply.is_success:
            self._usage.begin()
            content_type = reply.headers.get("content-type", "")
            self._readers[number] = self._rules.read_usage(content_type)
        content = self._content(reply, deadline_s, number)
        return StreamingResponse(content, reply.status_code, headers)

    async def _fail(self, request: Request, number: int) -> None:
        """Measure a request as unanswered, unless its client has given it up."""
        if not await request.is_disconnected():
            self._meter.fail(number)

    def _route(self, request: Request) -> Route:
        """Return what is known of a request's path.

        Raises:
            RefusedRequestError: it or its method is not available.
        """
        path = request.url.path
        routes = self._rules.routes(self._settings.name)
        if path not in routes:
            paths = ", ".join(routes)
            raise RefusedRequestError(404, f"only these paths are available: {paths}")
        route = routes[path]
        if request.method != route.method:
            raise RefusedRequestError(405, f"{path} requires {route.method}")
        return route

    async def _forward(self, request: Request, route: Route) -> httpx2.Response:
        """Forward a request to the endpoint and return the reply once its headers have arrived.

        Raises:
            RefusedRequestError: the request is not allowed.
            TimeoutError, httpx2.HTTPError: there is no reply.
        """
        headers = {"Accept": request.headers.get("accept", "*/*"), "Accept-Encoding": "identity"}
        content = None
        if route.is_call:
            body = await _read(request)
            content, headers["Content-Type"] = self._rules.check(body, self._settings.name)
        headers |= self._rules.headers(self._settings)
        path = request.url.path.removeprefix(self._rules.prefix)
        url = _below(self._settings.base_url, path)
        onward = self._client.build_request(route.method, url, content=content, headers=headers)
        return await self._client.send(onward, stream=True)

    def _error(self, status: int, message: str) -> Response:
        content, media_type = self._rules.error(message)
        return Response(content, status, media_type=media_type)

    async def _content(
        self, reply: httpx2.Response, deadline_s: float, number: int
    ) -> AsyncIterator[bytes]:
        """Yield the content of a reply as it arrives, without secrets, and measure its usage.

        Raises:
            _CutOffError: it ends early, is too long or too slow.
        """
        mask, reader = ByteMask(self._settings.secrets()), self._readers.get(number)
        left = MAX_BYTES
        async with contextlib.aclosing(reply), contextlib.aclosing(reply.aiter_bytes()) as chunks:
            try:
                while True:
                    async with asyncio.timeout_at(deadline_s):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        break
                    left -= len(chunk)
                    if left < 0:
                        raise _CutOffError(f"it is longer than {MAX_BYTES} bytes")
                    if reader:
                        reader.feed(chunk)
                    yield mask.feed(chunk)
            except (TimeoutError, httpx2.HTTPError) as exc:
                # A reply that is only too long for the deadline was chosen by the program.
                if left == MAX_BYTES or not isinstance(exc, TimeoutError):
                    self._meter.fail(number)
                raise _CutOffError(repr(exc)) from exc
            yield mask.rest()


async def _read(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        RefusedRequestError: the body is too long.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise RefusedRequestError(413, f"a request must not exceed {MAX_BYTES} bytes")
    return bytes(body)


def _below(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))
