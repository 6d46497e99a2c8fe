"""The page Fleet: machines with their screens, and operations on them."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from controller.service.api.access import Context
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page
from foundation.errors import MesocosmError, UnknownNameError

router = APIRouter(include_in_schema=False)


@router.get("/fleet")
def fleet(
    context: Context, role: Viewer, *, done: Annotated[str, Query(max_length=300)] = ""
) -> HTMLResponse:
    """Show all machines: state, use, screen."""
    rows = context.machine_service.rows()
    return page(
        "fleet/fleet",
        role=role,
        context=context,
        rows=rows,
        lost=[row for row in rows if not row.is_healthy],
        used=sum(row.in_use for row in rows),
        done=done,
    )


@router.get("/fleet/{machine}/picture")
def picture(machine: str, context: Context, _role: Viewer) -> Response:
    """Return a thumbnail of a machine's screen."""
    return Response(context.machine_service.picture(machine), media_type="image/png")


@router.get("/fleet/{machine}")
def one_machine(machine: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show the screen of one machine: live if it has VNC, otherwise as repeated screenshots."""
    rows = {row.machine_id: row for row in context.machine_service.rows()}
    if machine not in rows:
        raise UnknownNameError.of("machine", machine, rows)
    return page(
        "fleet/machine",
        role=role,
        context=context,
        machine=machine,
        row=rows[machine],
        why_still=_why_still(machine, context),
    )


def _why_still(machine: str, context: Context) -> str:
    """Return why a machine's screen is not live; empty if it is."""
    try:
        context.machine_service.vnc(machine)
    except MesocosmError as exc:
        return f"{exc.brief} {exc.details}".strip()
    if context.find_viewer() is None:
        return "noVNC is not available: it could be installed neither from npm nor from the distribution."
    return ""


@router.post("/fleet", dependencies=[Operating])
def fork(context: Context) -> Response:
    """Start a fork of the desktop."""
    return _back(context.machine_service.fork())


@router.post("/fleet/{machine}/{action}", dependencies=[Operating])
def handle(machine: str, action: Literal["rewind", "stop"], context: Context) -> Response:
    """Rewind or stop an unused machine."""
    machine_service = context.machine_service
    return _back(
        machine_service.rewind(machine) if action == "rewind" else machine_service.stop(machine)
    )


def _back(done: str) -> Response:
    return RedirectResponse(f"/fleet?{urlencode({'done': done})}", status_code=303)
