"""Who may sign in to the sites: the account that all servers share, and a session for each site."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.world.program.sites.pages import read_form, render

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request

    Page = Callable[[Request], Awaitable[Response]]

SEE_OTHER = 303
_COOKIE = "session"
_FORBIDDEN = 403


class Accounts:
    """The account of the state.

    Args:
        state: folder with the world's state.
    """

    def __init__(self, state: Path) -> None:
        self._plain = state / "accounts"
        self._hashed = state / "web-accounts"

    @property
    def login(self) -> tuple[str, str]:
        """Return address and password of the person."""
        email, _, password = self._plain.read_text().strip().partition(":")
        return email, password

    def is_password(self, email: str, password: str) -> bool:
        """Return whether somebody may sign in."""
        line = f"{email.strip().lower()}:{password}"
        return ":" in line and line in self._plain.read_text().splitlines()

    def change_password(self, password: str) -> None:
        """Replace the password of all servers."""
        email, _ = self.login
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
        hashed = f"{email}:{{SHA}}{base64.b64encode(digest).decode()}"
        for path, line in ((self._plain, f"{email}:{password}"), (self._hashed, hashed)):
            part = path.with_suffix(".part")
            part.write_text(f"{line}\n")
            os.chmod(part, 0o600)  # noqa: PTH101 - as the file that it replaces
            part.replace(path)


class Session:
    """The session of one site.

    Args:
        accounts: the account.
        site: name of the site, as its pages show it.
        style: name of its style; see templates/site_base.html.
    """

    def __init__(self, accounts: Accounts, site: str, style: str) -> None:
        self.accounts = accounts
        self._about = {"site": site, "style": style}
        self._token = secrets.token_urlsafe(24)

    @property
    def routes(self) -> list[Route]:
        """Return the routes of signing in and out."""
        return [
            Route("/sign-in", self._form),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    def is_signed_in(self, request: Request) -> bool:
        """Return whether a request is of somebody who has signed in."""
        shown = request.cookies.get(_COOKIE, "")
        return hmac.compare_digest(shown.encode(), self._token.encode())

    def required(self, page: Page) -> Page:
        """Return a page that asks to sign in first."""

        async def guarded(request: Request) -> Response:
            if self.is_signed_in(request):
                return await page(request)
            after = request.url.path
            if request.url.query and request.method == "GET":
                after += f"?{request.url.query}"
            return RedirectResponse(f"/sign-in?after={quote(after)}", SEE_OTHER)

        return guarded

    def page(
        self, request: Request, template: str, status: int = 200, /, **values: object
    ) -> Response:
        """Return a page of the site."""
        shown = self.accounts.login[0] if self.is_signed_in(request) else ""
        return render(template, status, **self._about, account=shown, **values)

    async def _form(self, request: Request) -> Response:
        after = request.query_params.get("after", "/")
        return self.page(request, "site_sign_in.html", after=after, is_wrong=False)

    async def _sign_in(self, request: Request) -> Response:
        form = await read_form(request)
        after = form.get("after", "/")
        if not self.accounts.is_password(form.get("email", ""), form.get("password", "")):
            return self.page(request, "site_sign_in.html", _FORBIDDEN, after=after, is_wrong=True)
        is_own = after.startswith("/") and not after.startswith("//")
        reply = RedirectResponse(after if is_own else "/", SEE_OTHER)
        reply.set_cookie(_COOKIE, self._token, httponly=True, samesite="lax")
        return reply

    async def _sign_out(self, request: Request) -> Response:
        del request
        reply = RedirectResponse("/", SEE_OTHER)
        reply.delete_cookie(_COOKIE)
        return reply
