"""Access control by token: as bearer or, for pages, in a cookie."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from controller.service.api.context import ApiContext
from controller.service.api.gate import COOKIE
from controller.service.state.tokens import Role
from foundation.errors import MesocosmError
from foundation.files import digest_bytes

_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token of the service.")
_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False, scheme_name="cookie")


class AccessError(MesocosmError):
    """A request that is not allowed, or not now.

    Args:
        status: 401 without a valid token, 403 with an insufficient one, 429 above a limit.
        brief: one line.
        retry_after_s: with 429, seconds until the client may retry.
    """

    code = "access"

    def __init__(self, status: int, brief: str, *, retry_after_s: int = 0) -> None:
        super().__init__(brief)
        self.status = status
        self.retry_after_s = retry_after_s


def api_context(request: Request) -> ApiContext:
    """Return the context of the API."""
    context = request.app.state.context
    assert isinstance(context, ApiContext)  # noqa: S101 - set only by `make_app`
    return context


Context = Annotated[ApiContext, Depends(api_context)]


def role(
    request: Request,
    context: Context,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
    cookie: Annotated[str | None, Depends(_COOKIE)],
) -> Role:
    """Return the role of a request's token.

    Raises:
        AccessError: the token is missing or invalid, or exceeds its rate limit.
    """
    token = bearer.credentials if bearer is not None else cookie
    token_role = context.tokens.role_of(token) if token else None
    if not token:
        raise AccessError(401, "A token is required.")
    if token_role is None:
        raise AccessError(401, "The token is invalid or was removed.")
    if retry_after_s := request.app.state.rates.tokens.take(digest_bytes(token.encode())):
        raise AccessError(429, "Too many requests with this token.", retry_after_s=retry_after_s)
    return token_role


def operate(token_role: Annotated[Role, Depends(role)]) -> Role:
    """Return the role of a request that changes something.

    Raises:
        AccessError: its token is read-only.
    """
    if not token_role.may_operate:
        raise AccessError(403, "This token is read-only.")
    return token_role


Reader = Depends(role)
Operator = Depends(operate)
