"""Pages of human mode: choose a task, do it, see the verdict."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from appliance.base.errors import UnknownNameError
from controller.actions.space import Action
from controller.registered.suites import known_suites
from controller.service.api.access import Around
from controller.service.episodes.orders import ActionOrder
from controller.service.web import views
from controller.service.web.human.session import HumanDesk
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)

Short = Annotated[str, Form(max_length=200)]


def human_desk(request: Request) -> HumanDesk:
    """Return the desk of the application."""
    desk = request.app.state.human_desk
    assert isinstance(desk, HumanDesk)  # noqa: S101 - set only by `make_app_with_pages`
    return desk


Desk = Annotated[HumanDesk, Depends(human_desk)]


@router.get("/human")
def choose_task(around: Around, role: Viewer, desk: Desk) -> HTMLResponse:
    """Show the tasks that can be done by hand, and the sessions since the start."""
    suites, _ = views.named_suites(around)
    return page("human/human", role=role, around=around, suites=suites, sessions=desk.sessions())


@router.post("/human", dependencies=[Operating])
def begin(
    around: Around,
    desk: Desk,
    task: Short,
    *,
    fleet: Annotated[Literal["real", "fake"], Form()] = "real",
    trees: Annotated[bool, Form()] = False,
) -> Response:
    """Start a task; `task` is SUITE/TASK."""
    suite, _, name = task.partition("/")
    known = known_suites(around.settings)
    if suite not in known:
        raise UnknownNameError.of("suite", suite, known)
    session = desk.open(suite, name, fleet=fleet, trees=trees)
    return RedirectResponse(f"/human/{session.run}", status_code=303)


@router.get("/human/{run}", dependencies=[Operating])
def do_task(run: str, around: Around, role: Viewer, desk: Desk) -> HTMLResponse:
    """Show the screens of a session."""
    session = desk.get(run)
    roles = {name: kind.value for name, kind in session.task.roles.items()}
    return page("human/seat", role=role, around=around, session=session, roles=roles)


@router.get("/human/{run}/state", dependencies=[Operating])
def state(run: str, desk: Desk) -> dict[str, Any]:
    """Return the state of the trial."""
    return desk.get(run).describe()


@router.get("/human/{run}/screen/{name}", dependencies=[Operating])
def screen(run: str, name: str, desk: Desk) -> Response:
    """Return a machine's current screen; no content before the trial starts and after it ends."""
    shown = desk.get(run).picture(name)
    if shown is None:
        return Response(status_code=204)
    return Response(shown, media_type="image/jpeg")


@router.post("/human/{run}/act", dependencies=[Operating])
def act(run: str, order: ActionOrder, desk: Desk) -> dict[str, Any]:
    """Execute one action of the person."""
    session = desk.get(run)
    step = session.act(Action(order.do, order.on, order.args))
    return {"feedback": step.feedback, "done": step.done, **session.describe()}


@router.post("/human/{run}/give-up", dependencies=[Operating])
def give_up(run: str, desk: Desk) -> Response:
    """End the trial as cancelled."""
    desk.get(run).cancel("The person gave up.")
    return RedirectResponse(f"/human/{run}", status_code=303)
