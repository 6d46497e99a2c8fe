"""Sign in: a token of the service in a cookie that scripts cannot read and other sites do not send."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.security import APIKeyCookie

from appliance.base.errors import MesocosmError
from controller.service.api.access import AccessError, Around
from controller.service.api.gate import COOKIE
from controller.service.state.tokens import Role
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)

_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False)
Token = Annotated[str | None, Depends(_COOKIE)]


class SignInNeededError(MesocosmError):
    """A page was asked for without a valid token."""

    code = "sign_in"


def viewer(around: Around, token: Token) -> Role:
    """Return the role of who looks at a page.

    Raises:
        SignInNeededError: nobody has signed in.
    """
    role = around.tokens.role_of(token) if token else None
    if role is None:
        raise SignInNeededError("Sign in.")
    return role


Viewer = Annotated[Role, Depends(viewer)]


def operator(role: Viewer) -> Role:
    """Return the role of who changes something by a page.

    Raises:
        AccessError: the token only reads.
    """
    if not role.may_operate:
        raise AccessError(403, "This token may look, not change anything.")
    return role


Operating = Depends(operator)


def redirect_to_sign_in(_request: Request, _exc: Exception) -> Response:
    """Reply to a `SignInNeededError`."""
    return RedirectResponse("/login", status_code=303)


@router.get("/login")
def show_login() -> HTMLResponse:
    """Show the form."""
    return page("login", failed=False)


def _is_encrypted(request: Request) -> bool:
    """Return whether the browser reached this page by TLS, of ours or of a proxy before us."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.lower().startswith("https://")


@router.post("/login")
def log_in(
    request: Request, around: Around, token: Annotated[str, Form(max_length=200)]
) -> Response:
    """Take a token into the cookie."""
    if around.tokens.role_of(token.strip()) is None:
        return page("login", status=403, failed=True)
    reply = RedirectResponse("/", status_code=303)
    reply.set_cookie(
        COOKIE, token.strip(), httponly=True, samesite="strict", secure=_is_encrypted(request)
    )
    return reply


@router.post("/logout")
def log_out(request: Request) -> Response:
    """Forget the token."""
    reply = RedirectResponse("/login", status_code=303)
    reply.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_encrypted(request))
    return reply
