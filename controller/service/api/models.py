"""Requests and replies of the API; keys are only added, never removed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from controller.service.schedules.definition import Schedule
from controller.service.schedules.register import Outcome, Registered
from controller.service.state.queued_run import PendingRequest, QueuedRun, State
from controller.specification.request import RunRequest
from controller.specification.run import BudgetSpec

Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorBody(_Model):
    """An error: what happened, details, and how to resolve it."""

    code: str
    brief: str
    details: str = ""
    resolution: str = ""


class ErrorReply(_Model):
    """Reply to every refused request."""

    error: ErrorBody


class NewRun(_Model):
    """A run to be queued."""

    request: RunRequest
    priority: int = Field(default=0, ge=-1000, le=1000)
    key: Name | None = None


class Priority(_Model):
    """A new priority."""

    priority: int = Field(ge=-1000, le=1000)


class Resumption(_Model):
    """A new budget of a run; fields that it leaves open do not change."""

    budget: BudgetSpec | None = None


class QueuedRunReply(_Model):
    """A run of the queue."""

    run: str
    state: State
    asked: PendingRequest
    priority: int
    origin: str
    schedule: str
    request: RunRequest
    requested_s: float
    started_s: float | None
    ended_s: float | None
    planned: int
    passed: int
    failed: int
    inconclusive: int
    error: ErrorBody | None
    change: int


class Queue(_Model):
    """A page of the queue, latest request first; ``before`` requests the next page."""

    runs: list[QueuedRunReply]
    before: int | None


class ScheduleReply(_Model):
    """A registered schedule."""

    schedule: Schedule
    origin: str
    is_paused: bool
    created_s: float
    next_s: float | None


class Schedules(_Model):
    """All schedules."""

    schedules: list[ScheduleReply]


class SlotReply(_Model):
    """Outcome of a slot."""

    schedule: str
    slot_s: float
    outcome: Outcome
    run: str
    recorded_s: float
    details: str


class History(_Model):
    """The slots of a schedule, latest first."""

    slots: list[SlotReply]


class RunRowReply(_Model):
    """Summary of a recorded run."""

    run: str
    suite: str
    agent: str
    started_s: float
    state: str
    planned: int
    passed: int
    failed: int
    inconclusive: int
    stamp: int
    fleet: str


class Runs(_Model):
    """Recorded runs, latest first."""

    runs: list[RunRowReply]


class TrialReply(_Model):
    """A part of a trial's event log."""

    task: str
    repeat: int
    attempt: int
    attempts: int
    events: list[dict[str, Any]]
    next: int | None


class TaskReply(_Model):
    """Summary of a task."""

    id: str
    instruction: str
    roles: dict[str, str]


class SuiteReply(_Model):
    """A suite."""

    name: str
    version: str
    digest: str
    tasks: list[TaskReply]


class Suites(_Model):
    """The names of suites."""

    suites: list[str]


class Agents(_Model):
    """The names of agents."""

    agents: list[str]


class Records(_Model):
    """Records of machines, or findings of the doctor."""

    records: list[dict[str, Any]]


class Health(_Model):
    """Health of the service."""

    status: str
    version: str


def queued_run(run: QueuedRun) -> QueuedRunReply:
    """Convert a run of the queue to its reply."""
    error = None
    if run.brief:
        error = ErrorBody(
            code="run", brief=run.brief, details=run.details, resolution=run.resolution
        )
    counts = run.counts
    return QueuedRunReply(
        run=run.run,
        state=run.state,
        asked=run.pending_request,
        priority=run.priority,
        origin=run.origin,
        schedule=run.schedule,
        request=run.request,
        requested_s=run.requested_s,
        started_s=run.started_s,
        ended_s=run.ended_s,
        planned=counts.planned,
        passed=counts.passed,
        failed=counts.failed,
        inconclusive=counts.inconclusive,
        error=error,
        change=run.change,
    )


def registered(entry: Registered) -> ScheduleReply:
    """Convert a schedule to its reply."""
    return ScheduleReply(
        schedule=entry.schedule,
        origin=entry.origin,
        is_paused=entry.is_paused,
        created_s=entry.created_s,
        next_s=entry.next_s,
    )
