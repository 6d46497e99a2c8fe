"""The queue of runs from the worker's side: claim a run, record its progress, release it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, case, func, select, update

from controller.service.state.queued_run import PendingRequest, State, find, to_run, touch
from controller.service.state.tables import QueuedRunRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from controller.service.state.database import Database
    from controller.service.state.queued_run import Counts, QueuedRun
    from foundation.clock import Clock
    from foundation.errors import MesocosmError

_QUEUE = QueuedRunRow.metadata.tables[QueuedRunRow.__tablename__]
_ENDED = _QUEUE.c.passed + _QUEUE.c.failed + _QUEUE.c.inconclusive
# One statement without ORM objects, because it is the largest cost of scheduling a trial.
_NOTE = (
    update(_QUEUE)
    .where(_QUEUE.c.run == bindparam("of_run"))
    .values(
        starts=case((bindparam("ended") > _ENDED, 0), else_=_QUEUE.c.starts),
        planned=bindparam("planned"),
        passed=bindparam("passed"),
        failed=bindparam("failed"),
        inconclusive=bindparam("inconclusive"),
        change=select(func.max(_QUEUE.c.change) + 1).scalar_subquery(),
    )
)


class Claims:
    """Queue operations of the single worker of an appliance.

    Args:
        database: stores the queue.
        clock: provides timestamps.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def claim(self) -> QueuedRun | None:
        """Claim the next run that may start: highest priority first, then oldest request."""
        now_s = self._clock.now_s()
        with self._database.read() as session:
            if _find_next(session, now_s) is None:
                return None
        with self._database.write() as session:
            row = _find_next(session, now_s)
            if row is None:
                return None
            row.state = State.RUNNING
            row.starts += 1
            row.started_s = row.started_s or now_s
            touch(session, row)
            return to_run(row)

    def recover(self) -> list[str]:
        """Requeue the runs that a killed worker left running; return their ids.

        The previous worker must have ended.
        """
        with self._database.write() as session:
            left = list(
                session.scalars(select(QueuedRunRow).where(QueuedRunRow.state == State.RUNNING))
            )
            for row in left:
                row.state = _state_after(PendingRequest(row.pending_request), self._clock, row)
                row.pending_request = PendingRequest.NONE
                touch(session, row)
            return [row.run for row in left]

    def note(self, run: str, counts: Counts) -> None:
        """Record the progress of a run; if another trial has ended, reset the run's start count."""
        values = {
            "of_run": run,
            "ended": counts.ended,
            "planned": counts.planned,
            "passed": counts.passed,
            "failed": counts.failed,
            "inconclusive": counts.inconclusive,
        }
        with self._database.write() as session:
            session.connection().execute(_NOTE, values)

    def release(self, run: str, *, is_stopping: bool) -> QueuedRun:
        """Release a run that ended before it was complete: cancelled, paused, or queued again.

        Args:
            run: its id.
            is_stopping: whether the worker is stopping, so that this start is not counted.
        """
        with self._database.write() as session:
            row = find(session, run)
            if is_stopping:
                row.starts = max(0, row.starts - 1)
            row.state = _state_after(PendingRequest(row.pending_request), self._clock, row)
            row.pending_request = PendingRequest.NONE
            touch(session, row)
            return to_run(row)

    def retry(self, run: str, error: MesocosmError, delay_s: float) -> None:
        """Requeue a run after an error with a delay, unless it was cancelled or paused."""
        with self._database.write() as session:
            row = find(session, run)
            _set_error(row, error)
            row.state = _state_after(PendingRequest(row.pending_request), self._clock, row)
            row.pending_request = PendingRequest.NONE
            row.not_before_s = self._clock.now_s() + delay_s
            touch(session, row)


def _find_next(session: Session, now_s: float) -> QueuedRunRow | None:
    """Return the next run that may start.

    Uses two queries, so that each can follow the index, whose order differs from the queue's.
    """
    may_start = (QueuedRunRow.state == State.QUEUED, QueuedRunRow.not_before_s <= now_s)
    highest = select(QueuedRunRow.priority).where(*may_start)
    priority = session.scalar(highest.order_by(QueuedRunRow.priority.desc()).limit(1))
    if priority is None:
        return None
    first = select(QueuedRunRow).where(*may_start, QueuedRunRow.priority == priority)
    return session.scalar(first.order_by(QueuedRunRow.number).limit(1))


def conclude(
    session: Session, run: str, state: State, clock: Clock, error: MesocosmError | None = None
) -> QueuedRun:
    """Record the end of a run within the caller's transaction."""
    row = find(session, run)
    row.state, row.pending_request, row.ended_s = state, PendingRequest.NONE, clock.now_s()
    row.brief = row.details = row.resolution = ""
    if error is not None:
        _set_error(row, error)
    touch(session, row)
    return to_run(row)


def _state_after(pending_request: PendingRequest, clock: Clock, row: QueuedRunRow) -> State:
    """Return the state of a run that the worker no longer works on."""
    if pending_request is PendingRequest.CANCEL:
        row.ended_s = clock.now_s()
        return State.CANCELLED
    return State.PAUSED if pending_request is PendingRequest.PAUSE else State.QUEUED


def _set_error(row: QueuedRunRow, error: MesocosmError) -> None:
    row.brief, row.details, row.resolution = error.brief, error.details, error.resolution
