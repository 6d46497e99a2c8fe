"""Sign-in: a token in a cookie that scripts cannot read and other sites cannot send."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.security import APIKeyCookie

from controller.service.api.access import AccessError, Context
from controller.service.api.gate import COOKIE
from controller.service.state.tokens import Role
from controller.service.web.templating import page
from foundation.errors import MesocosmError

router = APIRouter(include_in_schema=False)

_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False)
Token = Annotated[str | None, Depends(_COOKIE)]


class SignInNeededError(MesocosmError):
    """A page was requested without a valid token."""

    code = "sign_in"


def viewer(context: Context, token: Token) -> Role:
    """Return the role of a page's viewer.

    Raises:
        SignInNeededError: the viewer is not signed in.
    """
    role = context.tokens.role_of(token) if token else None
    if role is None:
        raise SignInNeededError("Sign in.")
    return role


Viewer = Annotated[Role, Depends(viewer)]


def operator(role: Viewer) -> Role:
    """Return the role of a viewer who may change something.

    Raises:
        AccessError: the token is read-only.
    """
    if not role.may_operate:
        raise AccessError(403, "This token is read-only.")
    return role


Operating = Depends(operator)


def redirect_to_sign_in(_request: Request, _exc: Exception) -> Response:
    """Reply to a `SignInNeededError`."""
    return RedirectResponse("/login", status_code=303)


@router.get("/login")
def show_login() -> HTMLResponse:
    """Show the sign-in form."""
    return page("login", failed=False)


def _is_encrypted(request: Request) -> bool:
    """Return whether the browser used TLS, of this server or of a proxy in front of it."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.lower().startswith("https://")


@router.post("/login")
def log_in(
    request: Request, context: Context, token: Annotated[str, Form(max_length=200)]
) -> Response:
    """Store a valid token in the cookie."""
    if context.tokens.role_of(token.strip()) is None:
        return page("login", status=403, failed=True)
    reply = RedirectResponse("/", status_code=303)
    reply.set_cookie(
        COOKIE, token.strip(), httponly=True, samesite="strict", secure=_is_encrypted(request)
    )
    return reply


@router.post("/logout")
def log_out(request: Request) -> Response:
    """Delete the cookie."""
    reply = RedirectResponse("/login", status_code=303)
    reply.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_encrypted(request))
    return reply
