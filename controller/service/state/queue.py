"""The queue of runs from the client's side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from controller.service.state.queued_run import (
    PendingRequest,
    State,
    enqueue,
    find,
    require_priority,
    to_run,
    touch,
)
from controller.service.state.tables import QueuedRunRow
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from controller.service.state.database import Database
    from controller.service.state.queued_run import QueuedRun, Requester
    from controller.specification.request import RunRequest
    from controller.specification.run import BudgetSpec
    from foundation.clock import Clock


class RunQueue:
    """The queue of runs of one appliance.

    Args:
        database: stores the queue.
        clock: provides timestamps.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, request: RunRequest, requester: Requester) -> QueuedRun:
        """Add a run to the queue; the caller has checked its request.

        Raises:
            UsageError: the priority is out of range, or the key was used for another request.
            StateError: the database cannot be written.
        """
        with self._database.write() as session:
            return enqueue(session, request, requester, self._clock)

    def get(self, run: str) -> QueuedRun:
        """Return one run.

        Raises:
            UnknownNameError: there is no such run.
            StateError: the database cannot be read.
        """
        with self._database.read() as session:
            return to_run(find(session, run))

    def entries(
        self, states: Sequence[State] = (), *, limit: int = 100, before: int | None = None
    ) -> list[QueuedRun]:
        """Return runs, latest request first.

        Args:
            states: only runs in these states; all by default.
            limit: maximum number of runs.
            before: only runs with a smaller number.
        """
        chosen = select(QueuedRunRow).order_by(QueuedRunRow.number.desc()).limit(limit)
        if states:
            chosen = chosen.where(QueuedRunRow.state.in_(states))
        if before is not None:
            chosen = chosen.where(QueuedRunRow.number < before)
        with self._database.read() as session:
            return [to_run(row) for row in session.scalars(chosen)]

    def changed_since(self, change: int, *, limit: int = 100) -> list[QueuedRun]:
        """Return the runs with a newer `change`, oldest change first."""
        chosen = (
            select(QueuedRunRow)
            .where(QueuedRunRow.change > change)
            .order_by(QueuedRunRow.change)
            .limit(limit)
        )
        with self._database.read() as session:
            return [to_run(row) for row in session.scalars(chosen)]

    def last_change(self) -> int:
        """Return the newest `change` of any run; 0 if there are no runs."""
        with self._database.read() as session:
            return session.scalar(select(func.max(QueuedRunRow.change))) or 0

    def count(self) -> dict[State, int]:
        """Return the number of runs in each state."""
        counted = select(QueuedRunRow.state, func.count()).group_by(QueuedRunRow.state)
        with self._database.read() as session:
            numbers = {row[0]: row[1] for row in session.execute(counted)}
        return {state: numbers.get(state, 0) for state in State}

    def cancel(self, run: str) -> QueuedRun:
        """Cancel a run: immediately if it waits; running trials end at their next step.

        Raises:
            UnknownNameError: there is no such run.
            UsageError: it is over.
        """
        return self._ask(run, PendingRequest.CANCEL, State.CANCELLED)

    def pause(self, run: str) -> QueuedRun:
        """Pause a run: its running trials finish, no others start.

        Raises:
            UnknownNameError: there is no such run.
            UsageError: it is over.
        """
        return self._ask(run, PendingRequest.PAUSE, State.PAUSED)

    def resume(self, run: str, budget: BudgetSpec | None = None) -> QueuedRun:
        """Continue a paused run, or retry a failed or cancelled one.

        Args:
            run: its id.
            budget: new budget of all its attempts; fields that it leaves open do not change.

        Raises:
            UnknownNameError: there is no such run.
            UsageError: it is finished or being cancelled, it is running and a new budget is given,
                or its budget is spent and no new one is given.
        """
        with self._database.write() as session:
            row = find(session, run)
            state = State(row.state)
            _require_resumable(row, budget)
            if budget is not None:
                request = to_run(row).request
                changed = {"budget": request.budget.replaced_by(budget)}
                row.request = request.model_copy(update=changed).model_dump_json()
            if state is not State.RUNNING:
                row.state, row.ended_s, row.starts, row.not_before_s = State.QUEUED, None, 0, 0.0
                row.brief = row.details = row.resolution = ""
            row.pending_request = PendingRequest.NONE
            touch(session, row)
            return to_run(row)

    def set_priority(self, run: str, priority: int) -> QueuedRun:
        """Change the priority of a run that is not over.

        Raises:
            UnknownNameError: there is no such run.
            UsageError: it is over, or the priority is out of range.
        """
        require_priority(priority)
        with self._database.write() as session:
            row = _find_open(session, run)
            row.priority = priority
            touch(session, row)
            return to_run(row)

    def _ask(self, run: str, pending_request: PendingRequest, at_once: State) -> QueuedRun:
        with self._database.write() as session:
            row = _find_open(session, run)
            if row.state == State.RUNNING:
                # A pending cancellation is not replaced.
                row.pending_request = (
                    PendingRequest.CANCEL
                    if row.pending_request == PendingRequest.CANCEL
                    else pending_request
                )
            else:
                row.state = at_once
                row.ended_s = self._clock.now_s() if at_once.is_over else None
            touch(session, row)
            return to_run(row)


def _require_resumable(row: QueuedRunRow, budget: BudgetSpec | None) -> None:
    """Check that a run can be resumed.

    Raises:
        UsageError: it cannot be resumed.
    """
    state = State(row.state)
    if state is State.FINISHED:
        raise UsageError(f"{row.run} is finished: it has no trials left to run.")
    if state is State.RUNNING and row.pending_request == PendingRequest.CANCEL:
        raise UsageError(
            f"{row.run} is being cancelled.", resolution="Resume it after it has ended."
        )
    if state is State.RUNNING and budget is not None:
        raise UsageError(
            f"{row.run} is running: its budget cannot be changed now.", resolution="Pause it first."
        )
    if state is State.BUDGET_SPENT and budget is None:
        raise UsageError(
            f"The budget of {row.run} is spent.",
            details=row.details,
            resolution=f"Increase it: mesocosm queue resume {row.run} --budget-tokens N",
        )


def _find_open(session: Session, run: str) -> QueuedRunRow:
    row = find(session, run)
    if State(row.state).is_over:
        raise UsageError(f"{run} is already {row.state}.")
    return row
