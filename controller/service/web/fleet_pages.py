"""The page Fleet: machines with their screens, and operations on them."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from appliance.base.errors import MesocosmError, UnknownNameError
from controller.service.api.access import Around
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/fleet")
def fleet(
    around: Around, role: Viewer, *, done: Annotated[str, Query(max_length=300)] = ""
) -> HTMLResponse:
    """Show all machines: state, use, screen."""
    rows = around.desk.rows()
    return page(
        "fleet/fleet",
        role=role,
        around=around,
        rows=rows,
        lost=[row for row in rows if not row.is_well],
        used=sum(row.in_use for row in rows),
        done=done,
    )


@router.get("/fleet/{machine}/picture")
def picture(machine: str, around: Around, _role: Viewer) -> Response:
    """Return a thumbnail of a machine's screen."""
    return Response(around.desk.picture(machine), media_type="image/png")


@router.get("/fleet/{machine}")
def one_machine(machine: str, around: Around, role: Viewer) -> HTMLResponse:
    """Show the screen of one machine: live if it has VNC, otherwise as repeated screenshots."""
    rows = {row.machine_id: row for row in around.desk.rows()}
    if machine not in rows:
        raise UnknownNameError.of("machine", machine, rows)
    return page(
        "fleet/machine",
        role=role,
        around=around,
        machine=machine,
        row=rows[machine],
        why_still=_why_still(machine, around),
    )


def _why_still(machine: str, around: Around) -> str:
    """Return why a machine's screen is not live; empty if it is."""
    try:
        around.desk.vnc(machine)
    except MesocosmError as exc:
        return f"{exc.brief} {exc.details}".strip()
    if around.find_viewer() is None:
        return "noVNC is not available: it could be installed neither from npm nor from the distribution."
    return ""


@router.post("/fleet", dependencies=[Operating])
def fork(around: Around) -> Response:
    """Start a fork of the desktop."""
    return _back(around.desk.fork())


@router.post("/fleet/{machine}/{action}", dependencies=[Operating])
def handle(machine: str, action: Literal["rewind", "stop"], around: Around) -> Response:
    """Rewind or stop an unused machine."""
    desk = around.desk
    return _back(desk.rewind(machine) if action == "rewind" else desk.stop(machine))


def _back(done: str) -> Response:
    return RedirectResponse(f"/fleet?{urlencode({'done': done})}", status_code=303)
