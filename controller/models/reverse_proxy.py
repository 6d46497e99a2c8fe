"""Pass requests on to a model's endpoint for a program that must not know its key.

Only what asks the one model is passed on: an endpoint's other paths (files, other models) would be open to
whoever uses its key. Of a request nothing but its checked content goes on, of a reply neither cookies nor
redirects nor the key, should the endpoint repeat it.
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

from appliance.base.errors import MesocosmError
from controller.models.byte_mask import ByteMask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from starlette.types import Receive, Scope, Send

    from controller.models.settings import ModelSettings

PREFIX = "/v1"
MAX_BYTES = 32 << 20
"""How long a request or a reply may be."""
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
    """A request is answered with an error."""

    code = "model_request_refused"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _CutOffError(MesocosmError):
    """A reply that has begun cannot be passed on to its end."""

    code = "model_reply_cut_off"


class ModelProxy:
    """An ASGI application that stands for one model's endpoint; an asynchronous context manager.

    Args:
        settings: where the model is, and the deadline of a request, from its first byte to its reply's last.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
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
            try:
                response = await self._answer(Request(scope, receive), deadline_s)
                await response(scope, receive, send)
            except (ClientDisconnect, asyncio.CancelledError):
                pass  # nobody waits for a reply: the client is gone, or the trial is over
            except _CutOffError as exc:
                # The connection ends without the reply's last chunk, by which the client can tell.
                _log.warning("A reply of %s was cut off: %s.", self._settings.name, exc.brief)

    async def _answer(self, request: Request, deadline_s: float) -> Response:
        """Return the reply to a request; whatever is wrong is an HTTP error."""
        try:
            async with asyncio.timeout_at(deadline_s):
                reply = await self._pass_on(request)
        except _RefusedError as exc:
            return _error(exc.status, exc.brief)
        except (TimeoutError, httpx2.TimeoutException):
            return _error(504, f"the model did not answer in {self._settings.timeout_s:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
            _log.info("%s could not be asked: %r", self._settings.name, exc)
            return _error(502, "the model cannot be reached")
        if reply.status_code in _REDIRECTS:
            await reply.aclose()
            return _error(502, "the model's address redirects")
        headers = {name: reply.headers[name] for name in _KEPT_HEADERS if name in reply.headers}
        return StreamingResponse(self._content(reply, deadline_s), reply.status_code, headers)

    async def _pass_on(self, request: Request) -> httpx2.Response:
        """Send a request to the endpoint and return its reply, of which the head has come.

        Raises:
            _RefusedError: it is none that may be sent.
            TimeoutError, httpx2.HTTPError: there is no reply.
        """
        path = request.url.path
        method = _ALLOWED.get(path)
        if method is None:
            paths = ", ".join(_ALLOWED)
            raise _RefusedError(404, f"only these can be asked for here: {paths}")
        if request.method != method:
            raise _RefusedError(405, f"{path} takes {method}")
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

    async def _content(self, reply: httpx2.Response, deadline_s: float) -> AsyncIterator[bytes]:
        """Return the content of a reply as it comes, without secrets.

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
                raise _CutOffError(repr(exc)) from exc
            yield mask.rest()


async def _read(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        _RefusedError: it is too long.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise _RefusedError(413, f"a request may have {MAX_BYTES} bytes")
    return bytes(body)


def _checked(body: bytes, model: str) -> bytes:
    """Return a request, written anew, so that the endpoint reads what was checked.

    Raises:
        _RefusedError: it is no JSON object, has too many parts, or is for another model.
    """
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MAX_PARTS:
        raise _RefusedError(413, f"a request may have {_MAX_PARTS} values")
    try:
        values: Any = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _RefusedError(400, "the request is no JSON object") from None
    if not isinstance(values, dict):
        raise _RefusedError(400, "the request is no JSON object")
    if values.get("model") != model:
        raise _RefusedError(403, f"the model of this run is {model!r}, and no other can be asked")
    return json.dumps(values).encode()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _below(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def _error(status: int, message: str) -> Response:
    """Return an error as OpenAI's API words it."""
    return JSONResponse({"error": {"message": message, "type": "mesocosm"}}, status)
