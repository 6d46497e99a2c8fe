"""One run of the queue: its state, its request and its row in the database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from controller.service.state.tables import QueuedRunRow
from controller.specification.request import RunRequest
from foundation.errors import UnknownNameError, UsageError
from foundation.ids import new_run_id

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from foundation.clock import Clock

MAX_PRIORITY = 1000
_RANDOM_BYTES = 4


class State(StrEnum):
    """State of a queued run."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    """It could not be created or continued; see its error."""
    CANCELLED = "cancelled"
    BUDGET_SPENT = "budget_spent"
    """Its budget is spent and trials are left; it can be resumed with a larger budget."""

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self not in {State.QUEUED, State.RUNNING, State.PAUSED}


OVER = tuple(state for state in State if state.is_over)


class PendingRequest(StrEnum):
    """Pending request to the worker about a running run."""

    NONE = ""
    PAUSE = "pause"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of a run's trials, and of those that ended by verdict."""

    planned: int = 0
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0

    @property
    def ended(self) -> int:
        """Trials with a verdict."""
        return self.passed + self.failed + self.inconclusive


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """Snapshot of one run of the queue; see `QueuedRunRow`."""

    number: int
    run: str
    state: State
    priority: int
    request: RunRequest
    origin: str
    schedule: str
    pending_request: PendingRequest
    starts: int
    not_before_s: float
    requested_s: float
    started_s: float | None
    ended_s: float | None
    counts: Counts
    brief: str
    details: str
    resolution: str
    change: int


@dataclass(frozen=True, slots=True)
class Requester:
    """Requester of a run.

    Attributes:
        origin: for display: ``cli``, ``api``, ``schedule``.
        schedule: name of the schedule; empty for other origins.
        priority: higher runs first; from -1000 to 1000.
        key: idempotency key: a repeated request with the same key returns the first run.
    """

    origin: str
    schedule: str = ""
    priority: int = 0
    key: str | None = None


def enqueue(session: Session, request: RunRequest, requester: Requester, clock: Clock) -> QueuedRun:
    """Add a run to the queue within the caller's transaction.

    Raises:
        UsageError: the priority is out of range, or the key was used for another request.
    """
    require_priority(requester.priority)
    if requester.key is not None:
        known = session.scalar(select(QueuedRunRow).where(QueuedRunRow.key == requester.key))
        if known is not None:
            earlier = to_run(known)
            if earlier.request != request:
                raise UsageError(
                    f"The key {requester.key!r} was already used for a different request."
                )
            return earlier
    row = QueuedRunRow(
        run=_new_id(session, clock),
        state=State.QUEUED,
        priority=requester.priority,
        request=request.model_dump_json(),
        origin=requester.origin,
        schedule=requester.schedule,
        pending_request=PendingRequest.NONE,
        starts=0,
        not_before_s=0.0,
        requested_s=clock.now_s(),
        planned=0,
        passed=0,
        failed=0,
        inconclusive=0,
        brief="",
        details="",
        resolution="",
        key=requester.key,
        change=_next_change(session),
    )
    session.add(row)
    session.flush()
    return to_run(row)


def _new_id(session: Session, clock: Clock) -> str:
    """Generate an id that no other run of the queue has.

    Its random part makes a clash with runs started directly by commands unlikely.
    """
    while True:
        run = new_run_id(clock, random_bytes=_RANDOM_BYTES)
        if session.scalar(select(QueuedRunRow.number).where(QueuedRunRow.run == run)) is None:
            return run


def find(session: Session, run: str) -> QueuedRunRow:
    """Return the row of a run.

    Raises:
        UnknownNameError: there is no such run.
    """
    row = session.scalar(select(QueuedRunRow).where(QueuedRunRow.run == run))
    if row is None:
        newest = select(QueuedRunRow.run).order_by(QueuedRunRow.number.desc()).limit(20)
        raise UnknownNameError.of("queued run", run, session.scalars(newest))
    return row


def touch(session: Session, row: QueuedRunRow) -> None:
    """Mark a row as changed."""
    row.change = _next_change(session)
    session.flush()


def to_run(row: QueuedRunRow) -> QueuedRun:
    """Convert a row to a `QueuedRun`."""
    return QueuedRun(
        number=row.number,
        run=row.run,
        state=State(row.state),
        priority=row.priority,
        request=RunRequest.model_validate_json(row.request),
        origin=row.origin,
        schedule=row.schedule,
        pending_request=PendingRequest(row.pending_request),
        starts=row.starts,
        not_before_s=row.not_before_s,
        requested_s=row.requested_s,
        started_s=row.started_s,
        ended_s=row.ended_s,
        counts=Counts(row.planned, row.passed, row.failed, row.inconclusive),
        brief=row.brief,
        details=row.details,
        resolution=row.resolution,
        change=row.change,
    )


def require_priority(priority: int) -> None:
    """Check a priority.

    Raises:
        UsageError: it is out of range.
    """
    if abs(priority) > MAX_PRIORITY:
        raise UsageError(f"The priority must be from -{MAX_PRIORITY} to {MAX_PRIORITY}.")


def _next_change(session: Session) -> int:
    return (session.scalar(select(func.max(QueuedRunRow.change))) or 0) + 1
