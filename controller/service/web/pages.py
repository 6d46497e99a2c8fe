"""The pages Overview and Runs, and the page of one run."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from pydantic import Field

from controller.registered.suites import known_suites
from controller.service.api.access import Context
from controller.service.api.queue_routes import require_valid
from controller.service.registered_use import pin
from controller.service.state.queued_run import Requester
from controller.service.web import views
from controller.service.web.run_form import RunForm
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page
from foundation.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_STATIC = FilePath(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {path.name: path for path in _STATIC.iterdir()}
_RUNS = 50

Page = Annotated[int, Query(ge=0, le=1_000_000)]
Filter = Annotated[str, Query(max_length=100)]


@router.get("/static/{name}")
def static(name: str) -> FileResponse:
    """Return a static file; it is public and needs no token."""
    if name not in _FILES:
        raise UnknownNameError.of("file", name, _FILES)
    return FileResponse(_FILES[name], media_type=_TYPES[_FILES[name].suffix])


@router.get("/")
def overview(context: Context, role: Viewer) -> HTMLResponse:
    """Show open runs, firing alerts, the last two runs of each schedule, machines and disk."""
    return page(
        "overview",
        role=role,
        context=context,
        open_runs=views.open_runs(context),
        alerts=views.alerts(context),
        schedule_histories=views.schedule_histories(context),
        machines=context.machines(),
        disk=views.disk(context),
        now_s=context.clock.now_s(),
    )


@router.get("/runs")
def runs(
    context: Context,
    role: Viewer,
    *,
    suite: Filter = "",
    agent: Filter = "",
    state: Filter = "",
    number: Page = 0,
) -> HTMLResponse:
    """Show recorded runs, open runs of the queue, and a form to queue one."""
    filters = {"suite": suite, "agent": agent, "state": state}
    rows, count = views.recorded_runs(context, filters, offset=number * _RUNS, limit=_RUNS)
    return page(
        "runs",
        role=role,
        context=context,
        open_runs=views.open_runs(context),
        rows=rows,
        filters=filters,
        number=number,
        has_more=count > (number + 1) * _RUNS,
        count=count,
        suites=known_suites(context.settings),
        agents=views.known_agents(context),
    )


class QueueForm(RunForm):
    """The form to queue a run."""

    priority: int = Field(default=0, ge=-1000, le=1000)


@router.post("/runs", dependencies=[Operating])
def queue_run(context: Context, form: Annotated[QueueForm, Form()]) -> Response:
    """Queue a run."""
    request = form.request()
    require_valid(request)
    requester = Requester("page", priority=form.priority)
    added = context.queue.add(pin(request, context.settings), requester)
    return RedirectResponse(f"/runs/{added.run}", status_code=303)


@router.get("/runs/{run}")
def one_run(run: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show one run: its state in the queue, its results, its trials."""
    queued, report = views.queued(context, run), views.report(context, run)
    if queued is None and report is None:
        context.store.open(run)
    return page("run", role=role, context=context, run=run, queued=queued, report=report)


@router.post("/runs/{run}/{action}", dependencies=[Operating])
def change_run(
    run: str, action: Literal["cancel", "pause", "resume"], context: Context
) -> Response:
    """Cancel, pause or resume a run."""
    getattr(context.queue, action)(run)
    return RedirectResponse(f"/runs/{run}", status_code=303)
