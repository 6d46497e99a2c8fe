"""Error replies: one table of status codes, one format."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from controller.service.api.access import AccessError
from controller.service.api.models import ErrorReply
from controller.service.episodes.errors import (
    CapacityError,
    DeadlineError,
    InfrastructureError,
    TaskFaultError,
)
from controller.store.received import AttemptOverError
from foundation.errors import (
    LinkError,
    MachineBusyError,
    MachineError,
    MesocosmError,
    RequirementError,
    SpecError,
    StoreError,
    UnknownNameError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI, Request

_log = logging.getLogger(__name__)

_STATUS: dict[type[MesocosmError], int] = {
    UnknownNameError: 404,
    UsageError: 409,
    SpecError: 409,
    RequirementError: 503,
    StoreError: 503,
    AttemptOverError: 409,
    MachineError: 503,
    MachineBusyError: 409,
    LinkError: 503,
    CapacityError: 429,
    DeadlineError: 504,
    InfrastructureError: 503,
    TaskFaultError: 409,
}
"""The first class in an error's MRO that is listed here decides; 500 if none is."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": text}
    for status, text in {
        400: "The request is malformed.",
        401: "There is no valid token.",
        403: "The token or the request's origin is not allowed to do this.",
        404: "The resource does not exist.",
        405: "The method is not allowed.",
        408: "The body did not arrive in time.",
        409: "The current state does not allow this.",
        413: "The body is too large.",
        421: "The server has another name.",
        422: "A value is invalid.",
        429: "Too many requests.",
        503: "A requirement of the host is not met, or its state cannot be used.",
    }.items()
}
"""Error replies of every route, for the OpenAPI document."""


class WrongValueError(UsageError):
    """A request names something in its body that does not exist or does not fit."""

    code = "wrong_value"


def reply(
    status: int, code: str, brief: str, details: str = "", resolution: str = "", **more: object
) -> JSONResponse:
    """Return an error reply in the common format, with additional fields of some routes."""
    error = {"code": code, "brief": brief, "details": details, "resolution": resolution}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 - HTTP's
    return JSONResponse({"error": error, **more}, status_code=status, headers=headers)


def install(app: FastAPI) -> None:
    """Install the error handlers in an application."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)


def status_of(error: MesocosmError) -> int:
    """Return the status code of an error."""
    if isinstance(error, WrongValueError):
        return 422
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def _on_error(_request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, MesocosmError)  # noqa: S101 - registered for it
    status = exc.status if isinstance(exc, AccessError) else status_of(exc)
    if status >= 500:  # noqa: PLR2004 - HTTP's
        _log.error("%s", exc)
    answer = reply(
        status, exc.code, exc.brief, exc.details, exc.resolution, **_more_of_episodes(exc)
    )
    if isinstance(exc, CapacityError | AccessError) and exc.retry_after_s:
        answer.headers["Retry-After"] = str(exc.retry_after_s)
    return answer


def _more_of_episodes(error: MesocosmError) -> dict[str, object]:
    """Return additional fields of episode errors; without a verdict, the reward is null."""
    match error:
        case CapacityError():
            waits = {"queue_length": error.queue_length, "retry_after_s": error.retry_after_s}
            return {"reward": None, **waits}
        case InfrastructureError() | TaskFaultError():
            return {"reward": None}
    return {}


def _on_validation(_request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)  # noqa: S101 - registered for it
    rows = (
        f"{'.'.join(map(str, row['loc']))}: {row['msg'].replace('valid tuple', 'valid list')}"
        for row in exc.errors()
    )
    return reply(
        422,
        "wrong_value",
        "A value is invalid.",
        "\n".join(rows),
        "Send the request's fields as /api/v1/openapi.json describes them.",
    )


def _on_http(_request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)  # noqa: S101 - registered for it
    answer = reply(exc.status_code, "http", str(exc.detail))
    answer.headers.update(exc.headers or {})
    return answer


HANDLERS: dict[type[Exception], Callable[[Request, Exception], JSONResponse]] = {
    MesocosmError: _on_error,
    RequestValidationError: _on_validation,
    HTTPException: _on_http,
}
"""Handler of each error class."""
