"""Live screens in the browser: the VNC streams, and noVNC itself.

The VNC protocol runs over plain HTTP: one endless reply carries the server's data, and requests carry
the viewer's data. Therefore the same gate protects it as every page.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from controller.service.api.access import Context
from controller.service.live_screens import LiveScreens
from controller.service.web.session import Token, Viewer
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from controller.service.live_screens import LiveScreen

router = APIRouter(include_in_schema=False)

SESSION_HEADER = "X-Live-Session"
HELD_HEADER = "X-Live-Held"
_PROGRAM_AGE_S = 3600


def live_screens(request: Request) -> LiveScreens:
    """Return the live screens of the application."""
    screens = request.app.state.live_screens
    assert isinstance(screens, LiveScreens)  # noqa: S101 - set only by `make_app_with_pages`
    return screens


Screens = Annotated[LiveScreens, Depends(live_screens)]


class _LiveReply(StreamingResponse):
    """A streaming reply that closes its screen when it ends, even if it never started."""

    def __init__(
        self, screens: LiveScreens, screen: LiveScreen, chunks: AsyncIterator[bytes]
    ) -> None:
        super().__init__(
            chunks,
            media_type="application/octet-stream",
            headers={SESSION_HEADER: screen.session},
        )
        self._screens = screens
        self._screen = screen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._screens.close(self._screen)


@router.get("/static/novnc/{name:path}")
def program(name: str, context: Context) -> FileResponse:
    """Return a file of noVNC; it is public and needs no token."""
    root = context.find_viewer()
    path = None if root is None else (root / name).resolve()
    if root is None or path is None or not path.is_relative_to(root.resolve()):
        raise UnknownNameError(f"noVNC has no file {name!r}.")
    if path.suffix != ".js" or not path.is_file():
        raise UnknownNameError(f"noVNC has no file {name!r}.")
    headers = {"Cache-Control": f"private, max-age={_PROGRAM_AGE_S}"}
    return FileResponse(path, media_type="text/javascript", headers=headers)


@router.get("/fleet/{machine}/live")
async def watch(
    machine: str, context: Context, _role: Viewer, token: Token, screens: Screens
) -> Response:
    """Stream data from a machine's VNC server until it, the viewer or the service ends."""
    socket = await run_in_threadpool(context.machine_service.vnc, machine)
    screen = await screens.open(machine, socket, partial(context.machine_service.take, machine))

    async def is_welcome() -> bool:
        role = await run_in_threadpool(context.tokens.role_of, token or "")
        return role is not None

    chunks = screen.chunks(context.stop.is_set, is_welcome)
    return _LiveReply(screens, screen, chunks)


@router.post("/fleet/{machine}/live/{session}")
async def send(
    machine: str, session: str, request: Request, role: Viewer, screens: Screens
) -> Response:
    """Forward data from a viewer; drop key and pointer events unless its role and the claim allow them."""
    screen = screens.get(machine, session)
    try:
        await screen.send(await request.body(), may_operate=role.may_operate)
    except UsageError:
        screens.close(screen)
        raise
    return Response(status_code=204, headers={HELD_HEADER: str(int(screen.is_held))})
