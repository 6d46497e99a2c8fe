"""Requests, retries and their limits, without input and output: generators that a driver runs.

A flow yields `Request` or `Pause` and receives the reply, or the error of the connection. The sync
and the async client each have a driver for them, so that both behave the same.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from mesocosm.client.errors import (
    CapacityError,
    LateError,
    ProtocolError,
    RequestError,
    ServiceError,
    StateConflictError,
    UnreachableError,
    error_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mesocosm.client.address import Address

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

DEADLINE_S = 120.0
"""How long the service may take for one reply; longer operations are requested again."""

_ATTEMPTS = 5
_FIRST_PAUSE_S = 0.5
_REPLY_MARGIN_S = 30.0
_CONNECT_S = 10.0
_RATE_LIMIT = "access"
_MAX_QUEUE_PAUSE_S = 2.0
"""A freed machine should not stand by for the pause that the service proposes, up to 30 s."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the API.

    Attributes:
        method: HTTP method.
        path: below ``/api/v1``.
        body: JSON content of a POST request.
        wait_s: how long to repeat the request while there is no capacity, or it is late.
        timeout_s: how long the service may take to reply.
        is_repeatable: whether the service executes it once, however often it arrives.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    wait_s: float = 0.0
    timeout_s: float = DEADLINE_S
    is_repeatable: bool = True

    @property
    def url(self) -> str:
        """Path below the service's address."""
        return f"/api/v1{self.path}"

    @property
    def timeout(self) -> httpx.Timeout:
        """Timeouts of its connection."""
        return httpx.Timeout(self.timeout_s + _REPLY_MARGIN_S, connect=_CONNECT_S)


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause before the next attempt."""

    seconds: float


Answer = httpx.Response | httpx.TransportError | None
Flow = Generator[Request | Pause, Answer, T]


def options_of(address: Address) -> dict[str, Any]:
    """Return the options of an httpx client for a service."""
    return {
        "base_url": address.base,
        "headers": {"Authorization": f"Bearer {address.token}"},
        "trust_env": not address.is_loopback,
        "follow_redirects": False,  # the token is for one server
    }


def ask(request: Request, model: type[M]) -> Flow[M]:
    """Send a request and return its reply.

    Raises:
        ServiceError: the request failed; see the table in `errors`.
    """
    response = yield from exchange(request)
    try:
        return model.model_validate_json(response.content)
    except ValidationError as exc:
        raise ProtocolError(
            f"The reply to {request.path} has another format than this client expects.",
            str(exc),
            "Install the version of mesocosm-client that belongs to the service.",
            status=response.status_code,
        ) from None


def exchange(request: Request) -> Flow[httpx.Response]:
    """Send a request, again where that is safe, and return its successful response.

    Raises:
        ServiceError: the request failed.
    """
    started_s, attempts = time.monotonic(), 0
    while True:
        answer = yield request
        if isinstance(answer, httpx.Response):
            if answer.status_code < HTTPStatus.BAD_REQUEST:
                return answer
            error = error_of(answer.status_code, _json_of(answer))
            pause_s = _pause_before_repetition(request, answer, error)
            if pause_s is None or time.monotonic() - started_s + pause_s > _limit_s(request, error):
                raise error
        elif isinstance(answer, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
            # Its text may hold headers, and with them the token.
            raise RequestError(f"{request.method} {request.url} cannot be sent.") from None
        else:
            attempts += 1
            is_unsent = isinstance(answer, httpx.ConnectError | httpx.ConnectTimeout)
            if attempts >= _ATTEMPTS or not (request.is_repeatable or is_unsent):
                raise unreachable(request, answer) from None
            pause_s = _FIRST_PAUSE_S * 2 ** (attempts - 1)
        if pause_s:
            yield Pause(pause_s)


def unreachable(request: Request, error: Answer) -> UnreachableError:
    """Return the error for a request without a reply."""
    cause = str(error) or type(error).__name__
    certificate = "CERTIFICATE" in cause.upper()
    return UnreachableError(
        "The service does not answer.",
        f"{request.method} {request.url}: {cause}",
        "To trust your own certificate, set SSL_CERT_FILE to its file."
        if certificate
        else "Check its address, and that it runs: `mesocosm service start` on its host.",
    )


def closed_error() -> StateConflictError:
    """Return the error of a call after the client was closed."""
    return StateConflictError(
        "The client is closed.", resolution="Call `connect` again, or act within its block."
    )


def _pause_before_repetition(
    request: Request, response: httpx.Response, error: ServiceError
) -> float | None:
    """Return how long to wait before the same request; None if it must not be repeated."""
    if isinstance(error, CapacityError):  # it was not executed
        try:
            pause_s = float(response.headers.get("Retry-After", 1))
        except ValueError:
            pause_s = 1.0
        return pause_s if error.code == _RATE_LIMIT else min(pause_s, _MAX_QUEUE_PAUSE_S)
    if isinstance(error, LateError) and request.is_repeatable:
        return 0.0
    return None


def _limit_s(request: Request, error: ServiceError) -> float:
    return DEADLINE_S if error.code == _RATE_LIMIT else request.wait_s


def _json_of(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None
