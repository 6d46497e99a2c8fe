"""The page Schedules, and a page of each schedule with its history."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field

from controller.registered.suites import known_suites
from controller.service.api.access import Context
from controller.service.api.schedule_routes import require_valid_schedule
from controller.service.schedules.definition import (
    Event,
    Schedule,
    parse_every,
    parse_schedule,
)
from controller.service.web import views
from controller.service.web.run_form import RunForm, refusing_wrong_values
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page
from foundation.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_SLOTS = 10

Limit = Annotated[int, Query(ge=1, le=10_000)]


class ScheduleForm(RunForm):
    """The form to add a schedule: a cron line, or an interval such as 6h.

    Attributes:
        webhook: URLs that receive a POST, separated by spaces.
        mail: mail addresses, separated by spaces.
        on: events to notify about.
    """

    name: str = Field(max_length=100)
    line: str = Field(default="", max_length=500)
    timezone: str = Field(default="UTC", max_length=100)
    every: str = Field(default="", max_length=20)
    missed: Literal["once", "skip"] = "once"
    baseline: str = Field(default="", max_length=200)
    tolerance: str = Field(default="0", max_length=20)
    priority: str = Field(default="0", max_length=20)
    webhook: str = Field(default="", max_length=20_000)
    mail: str = Field(default="", max_length=4000)
    on: list[Event] = Field(default_factory=list, max_length=10)

    @property
    def trigger(self) -> dict[str, object]:
        """When it fires.

        Raises:
            UsageError: the interval is invalid.
        """
        if self.every:
            return {"kind": "interval", "every_s": parse_every(self.every)}
        return {"kind": "cron", "line": self.line, "timezone": self.timezone}

    @property
    def targets(self) -> list[dict[str, object]]:
        """Who is notified of which events."""
        events: dict[str, object] = {"on": self.on} if self.on else {}
        webhooks = [{"kind": "webhook", "url": url} for url in self.webhook.split()]
        mails = [{"kind": "mail", "to": address} for address in self.mail.split()]
        return [{**target, **events} for target in (*webhooks, *mails)]

    def schedule(self) -> Schedule:
        """Return the schedule.

        Raises:
            WrongValueError: a value is invalid; lists every invalid value.
        """
        same = {name: getattr(self, name) for name in ("name", "missed", "baseline")}
        request = self.request()
        with refusing_wrong_values():
            return parse_schedule(
                {
                    **same,
                    "tolerance": self.tolerance,
                    "priority": self.priority,
                    "trigger": self.trigger,
                    "notify": self.targets,
                    "request": request,
                }
            )


@router.get("/schedules")
def all_schedules(context: Context, role: Viewer) -> HTMLResponse:
    """Show schedules with their last slots, and a form to add one."""
    return page(
        "schedules/schedules",
        role=role,
        context=context,
        entries=views.schedules(context, slots=_SLOTS),
        events=list(Event),
        suites=known_suites(context.settings),
        agents=views.known_agents(context),
    )


@router.post("/schedules", dependencies=[Operating])
def add_schedule(context: Context, form: Annotated[ScheduleForm, Form()]) -> Response:
    """Add a schedule."""
    schedule = form.schedule()
    require_valid_schedule(schedule, context)
    context.register.add(schedule)
    return RedirectResponse("/schedules", status_code=303)


@router.get("/schedules/{name}")
def one_schedule(name: str, context: Context, role: Viewer, *, limit: Limit = 100) -> HTMLResponse:
    """Show a schedule's definition and history; only the history if it was removed."""
    slots = context.register.history(name, limit=limit + 1)
    try:
        entry = context.register.get(name)
    except UnknownNameError:
        entry = None
    return page(
        "schedules/schedule",
        role=role,
        context=context,
        title=name,
        entry=entry,
        slots=slots[:limit],
        limit=limit,
        has_more=len(slots) > limit,
    )


@router.post("/schedules/{name}/{action}", dependencies=[Operating])
def change_schedule(
    name: str, action: Literal["pause", "resume", "run-now", "remove"], context: Context
) -> Response:
    """Pause, resume, run or remove a schedule."""
    getattr(context.register, action.replace("-", "_"))(name)
    return RedirectResponse("/schedules", status_code=303)
