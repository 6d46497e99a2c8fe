"""Pages of human mode: choose a task, do it, see the verdict."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from controller.actions.space import Action
from controller.registered.suites import known_suites
from controller.service.api.access import Context
from controller.service.episodes.orders import ActionOrder
from controller.service.web import views
from controller.service.web.human.session import HumanSessions
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page
from foundation.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

Short = Annotated[str, Form(max_length=200)]


def human_sessions(request: Request) -> HumanSessions:
    """Return the sessions of the application."""
    sessions = request.app.state.human_sessions
    assert isinstance(sessions, HumanSessions)  # noqa: S101 - set only by `make_app_with_pages`
    return sessions


Sessions = Annotated[HumanSessions, Depends(human_sessions)]


@router.get("/human")
def choose_task(context: Context, role: Viewer, sessions: Sessions) -> HTMLResponse:
    """Show the tasks that can be done by hand, and the sessions since the start."""
    suites, _ = views.named_suites(context)
    return page(
        "human/human", role=role, context=context, suites=suites, sessions=sessions.entries()
    )


@router.post("/human", dependencies=[Operating])
def begin(
    context: Context,
    sessions: Sessions,
    task: Short,
    *,
    fleet: Annotated[Literal["real", "fake"], Form()] = "real",
    trees: Annotated[bool, Form()] = False,
) -> Response:
    """Start a task; `task` is SUITE/TASK."""
    suite, _, name = task.partition("/")
    known = known_suites(context.settings)
    if suite not in known:
        raise UnknownNameError.of("suite", suite, known)
    session = sessions.open(suite, name, fleet=fleet, trees=trees)
    return RedirectResponse(f"/human/{session.run}", status_code=303)


@router.get("/human/{run}", dependencies=[Operating])
def do_task(run: str, context: Context, role: Viewer, sessions: Sessions) -> HTMLResponse:
    """Show the screens of a session."""
    session = sessions.get(run)
    roles = session.task.kinds
    return page("human/trial", role=role, context=context, session=session, roles=roles)


@router.get("/human/{run}/state", dependencies=[Operating])
def state(run: str, sessions: Sessions) -> dict[str, Any]:
    """Return the state of the trial."""
    return sessions.get(run).describe()


@router.get("/human/{run}/screen/{name}", dependencies=[Operating])
def screen(run: str, name: str, sessions: Sessions) -> Response:
    """Return a machine's current screen; no content before the trial starts and after it ends."""
    shown = sessions.get(run).picture(name)
    if shown is None:
        return Response(status_code=204)
    return Response(shown, media_type="image/jpeg")


@router.post("/human/{run}/act", dependencies=[Operating])
def act(run: str, order: ActionOrder, sessions: Sessions) -> dict[str, Any]:
    """Execute one action of the person."""
    session = sessions.get(run)
    step = session.act(Action(order.do, order.on, order.args))
    return {"feedback": step.feedback, "done": step.done, **session.describe()}


@router.post("/human/{run}/give-up", dependencies=[Operating])
def give_up(run: str, sessions: Sessions) -> Response:
    """End the trial as cancelled."""
    sessions.get(run).cancel("The person gave up.")
    return RedirectResponse(f"/human/{run}", status_code=303)
