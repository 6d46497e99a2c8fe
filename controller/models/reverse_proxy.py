"""Forward requests to a model's endpoint for a program that must not know its key.

Only requests to the run's model are forwarded, because the key would also open the endpoint's other
paths (files, other models). Only the validated content of a request is forwarded. Cookies and
redirects are removed from replies, and so is the key, in case the endpoint repeats it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit, urlunsplit

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from controller.models.byte_mask import ByteMask
from controller.models.failures import RETRIED, SERVER_ERROR, asked_pause_s
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from starlette.types import Receive, Scope, Send

    from controller.models.outage import OutageMeter
    from controller.models.settings import ModelSettings

PREFIX = "/v1"
MAX_BYTES = 32 << 20
"""Size limit of a request or a reply."""
_MAX_PARTS = 500_000
_AT_ONCE = 4
_ALLOWED = {
    "/v1/chat/completions": "POST",
    "/v1/completions": "POST",
    "/v1/responses": "POST",
    "/v1/models": "GET",
}
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")
_REDIRECTS = range(300, 400)
_log = logging.getLogger(__name__)


class _RefusedError(MesocosmError):
    """A request is rejected with an HTTP error."""

    code = "model_request_refused"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _CutOffError(MesocosmError):
    """A reply that has started cannot be forwarded completely."""

    code = "model_reply_cut_off"


class ModelProxy:
    """An ASGI application that proxies one model's endpoint; an asynchronous context manager.

    Args:
        settings: the model's address, and the deadline of a request, measured from its first byte to
            the last byte of the reply.
        meter: measures how long requests are not answered.
    """

    def __init__(self, settings: ModelSettings, meter: OutageMeter) -> None:
        self._settings = settings
        self._meter = meter
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

    async def _answer(self, request: Request, deadline_s: float, number: int) -> Response:
        """Return the reply to a request; failures become HTTP errors."""
        try:
            async with asyncio.timeout_at(deadline_s):
                reply = await self._forward(request)
        except _RefusedError as exc:
            return _error(exc.status, exc.brief)
        except (TimeoutError, httpx2.TimeoutException):
            await self._fail(request, number)
            return _error(504, f"the model did not answer in {self._settings.timeout_s:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
            _log.info("%s is unavailable: %r", self._settings.name, exc)
            await self._fail(request, number)
            return _error(502, "the model cannot be reached")
        if reply.status_code in _REDIRECTS:
            await reply.aclose()
            return _error(502, "the model's address redirects")
        if reply.status_code in RETRIED or reply.status_code >= SERVER_ERROR:
            self._meter.fail(number, asked_pause_s(reply, SYSTEM_CLOCK.now_s()))
        headers = {name: reply.headers[name] for name in _KEPT_HEADERS if name in reply.headers}
        content = self._content(reply, deadline_s, number)
        return StreamingResponse(content, reply.status_code, headers)

    async def _fail(self, request: Request, number: int) -> None:
        """Measure a request as unanswered, unless its client has given it up."""
        if not await request.is_disconnected():
            self._meter.fail(number)

    async def _forward(self, request: Request) -> httpx2.Response:
        """Forward a request to the endpoint and return the reply once its headers have arrived.

        Raises:
            _RefusedError: the request is not allowed.
            TimeoutError, httpx2.HTTPError: there is no reply.
        """
        path = request.url.path
        method = _ALLOWED.get(path)
        if method is None:
            paths = ", ".join(_ALLOWED)
            raise _RefusedError(404, f"only these paths are available: {paths}")
        if request.method != method:
            raise _RefusedError(405, f"{path} requires {method}")
        headers = {"Accept": request.headers.get("accept", "*/*"), "Accept-Encoding": "identity"}
        content = None
        if method == "POST":
            content = _checked(await _read(request), self._settings.name)
            headers["Content-Type"] = "application/json"
        if key := self._settings.api_key.get_secret_value():
            headers["Authorization"] = f"Bearer {key}"
        url = _below(self._settings.base_url, path.removeprefix(PREFIX))
        onward = self._client.build_request(method, url, content=content, headers=headers)
        return await self._client.send(onward, stream=True)

    async def _content(
        self, reply: httpx2.Response, deadline_s: float, number: int
    ) -> AsyncIterator[bytes]:
        """Yield the content of a reply as it arrives, without secrets.

        Raises:
            _CutOffError: it ends early, is too long or too slow.
        """
        mask = ByteMask(self._settings.secrets())
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
        _RefusedError: the body is too long.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise _RefusedError(413, f"a request must not exceed {MAX_BYTES} bytes")
    return bytes(body)


def _checked(body: bytes, model: str) -> bytes:
    """Validate and reserialize a request, so that the endpoint reads exactly what was checked.

    Raises:
        _RefusedError: it is not a JSON object, has too many values, or is for another model.
    """
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MAX_PARTS:
        raise _RefusedError(413, f"a request must not exceed {_MAX_PARTS} values")
    try:
        values: Any = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _RefusedError(400, "the request is not a JSON object") from None
    if not isinstance(values, dict):
        raise _RefusedError(400, "the request is not a JSON object")
    if values.get("model") != model:
        raise _RefusedError(403, f"only the model of this run is available: {model!r}")
    return json.dumps(values).encode()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _below(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def _error(status: int, message: str) -> Response:
    """Return an error response in the format of OpenAI's API."""
    return JSONResponse({"error": {"message": message, "type": "mesocosm"}}, status)
