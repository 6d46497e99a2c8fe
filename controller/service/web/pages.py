"""The pages Overview, Runs, one run, Schedules."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from appliance.base.errors import UnknownNameError
from controller.registered.suites import known_suites
from controller.registered.use import pin
from controller.service.api.access import Around
from controller.service.api.queue_routes import require_valid
from controller.service.api.schedule_routes import require_valid_schedule
from controller.service.requests import parse_request
from controller.service.schedules.definition import parse_schedule
from controller.service.state.queued_run import Asker
from controller.service.web import views
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)

_STATIC = FilePath(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {path.name: path for path in _STATIC.iterdir()}
_RUNS = 50
_SLOTS = 10

Page = Annotated[int, Query(ge=0, le=1_000_000)]
Filter = Annotated[str, Query(max_length=100)]
Fleet = Annotated[Literal["real", "fake"], Form()]


@router.get("/static/{name}")
def static(name: str) -> FileResponse:
    """Return a file that pages need; it tells nothing, and needs no token."""
    if name not in _FILES:
        raise UnknownNameError.of("file", name, _FILES)
    return FileResponse(_FILES[name], media_type=_TYPES[_FILES[name].suffix])


@router.get("/")
def overview(around: Around, role: Viewer) -> HTMLResponse:
    """Show what runs now, alerts that fire, last night against the night before, machines, disk."""
    return page(
        "overview",
        role=role,
        around=around,
        open_runs=views.open_runs(around),
        alerts=views.alerts(around),
        nights=views.nights(around),
        machines=around.machines(),
        disk=views.disk(around),
        now_s=around.clock.now_s(),
    )


@router.get("/runs")
def runs(
    around: Around,
    role: Viewer,
    *,
    suite: Filter = "",
    agent: Filter = "",
    state: Filter = "",
    number: Page = 0,
) -> HTMLResponse:
    """Show recorded runs, those that the queue holds, and a form to queue one."""
    filters = {"suite": suite, "agent": agent, "state": state}
    rows, count = views.recorded_runs(around, filters, offset=number * _RUNS, limit=_RUNS)
    return page(
        "runs",
        role=role,
        around=around,
        open_runs=views.open_runs(around),
        rows=rows,
        filters=filters,
        number=number,
        has_more=count > (number + 1) * _RUNS,
        count=count,
        suites=known_suites(around.settings),
        agents=views.known_agents(around),
    )


@router.post("/runs", dependencies=[Operating])
def queue_run(
    around: Around,
    suite: Annotated[str, Form(max_length=200)],
    agent: Annotated[str, Form(max_length=200)],
    *,
    repeats: Annotated[int, Form()] = 1,
    priority: Annotated[int, Form(ge=-1000, le=1000)] = 0,
    fleet: Fleet = "real",
) -> Response:
    """Queue a run."""
    request = parse_request({"suite": suite, "agent": agent, "repeats": repeats, "fleet": fleet})
    require_valid(request)
    asker = Asker("page", priority=priority)
    added = around.queue.add(pin(request, around.settings), asker)
    return RedirectResponse(f"/runs/{added.run}", status_code=303)


@router.get("/runs/{run}")
def one_run(run: str, around: Around, role: Viewer) -> HTMLResponse:
    """Show one run: its state in the queue, its results, its trials."""
    queued, report = views.queued(around, run), views.report(around, run)
    if queued is None and report is None:
        around.store.open(run)
    return page("run", role=role, around=around, run=run, queued=queued, report=report)


@router.post("/runs/{run}/{action}", dependencies=[Operating])
def change_run(run: str, action: Literal["cancel", "pause", "resume"], around: Around) -> Response:
    """Cancel, pause or resume a run."""
    getattr(around.queue, action)(run)
    return RedirectResponse(f"/runs/{run}", status_code=303)


@router.get("/schedules")
def all_schedules(around: Around, role: Viewer) -> HTMLResponse:
    """Show schedules with their slots, and a form to add one."""
    return page(
        "schedules",
        role=role,
        around=around,
        entries=views.schedules(around, slots=_SLOTS),
        suites=known_suites(around.settings),
        agents=views.known_agents(around),
    )


class ScheduleForm(BaseModel):
    """What is filled in to add a schedule: a cron line, or seconds from slot to slot."""

    name: str = Field(max_length=100)
    suite: str = Field(max_length=200)
    agent: str = Field(max_length=200)
    line: str = Field(default="", max_length=500)
    timezone: str = Field(default="UTC", max_length=100)
    every_s: str = Field(default="", max_length=20)
    repeats: int = 1
    fleet: Literal["real", "fake"] = "real"

    @property
    def trigger(self) -> dict[str, str]:
        """When it fires."""
        if self.every_s:
            return {"kind": "interval", "every_s": self.every_s}
        return {"kind": "cron", "line": self.line, "timezone": self.timezone}


@router.post("/schedules", dependencies=[Operating])
def add_schedule(around: Around, form: Annotated[ScheduleForm, Form()]) -> Response:
    """Add a schedule."""
    request = parse_request(form.model_dump(include={"suite", "agent", "repeats", "fleet"}))
    values = {"name": form.name, "trigger": form.trigger, "request": request}
    schedule = parse_schedule({**values, "baseline": "previous"})
    require_valid_schedule(schedule, around)
    around.register.add(schedule)
    return RedirectResponse("/schedules", status_code=303)


@router.post("/schedules/{name}/{action}", dependencies=[Operating])
def change_schedule(
    name: str, action: Literal["pause", "resume", "run-now", "remove"], around: Around
) -> Response:
    """Pause, resume, run or remove a schedule."""
    getattr(around.register, action.replace("-", "_"))(name)
    return RedirectResponse("/schedules", status_code=303)
