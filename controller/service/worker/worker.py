"""The worker: executes runs of the queue until stopped; the next worker resumes a killed one's runs."""

from __future__ import annotations

import dataclasses
import logging
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from controller.executors.local import LocalExecutor
from controller.service.notifications.message import describe_end, find_baseline
from controller.service.notifications.outbox import write_messages
from controller.service.schedules.definition import Schedule
from controller.service.state.claims import Claims, conclude
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import PendingRequest, State
from controller.service.state.tables import ScheduleRow
from controller.service.worker.work import Work
from foundation.errors import MesocosmError, SpecError, StateError, UsageError
from foundation.files import locked
from foundation.logging import log_context

if TYPE_CHECKING:
    from controller.service.state.database import Database
    from controller.service.state.queued_run import QueuedRun
    from controller.service.worker.work import MakeExecutor, Preflight
    from foundation.clock import Clock
    from foundation.settings import Settings

_log = logging.getLogger(__name__)

MAX_STARTS = 10
"""Consecutive starts without another trial ending after which a run is given up."""

_POLL_S = 0.25
_FIRST_DELAY_S = 10.0
_MAX_DELAY_S = 600.0


@dataclass(slots=True)
class _Active:
    """A run that a thread works on."""

    work: Work
    thread: threading.Thread
    is_stopping: threading.Event = field(default_factory=threading.Event)


class Worker:
    """The one worker of an appliance.

    Args:
        database: stores the queue.
        settings: locate runs and machines.
        clock: measures delays.
        preflight: checks that the kinds of machines are available.
        runs_at_once: maximum number of concurrent runs.
        executor: creates the executor of a run.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        *,
        preflight: Preflight,
        runs_at_once: int = 1,
        executor: MakeExecutor = LocalExecutor,
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._preflight = preflight
        self._runs_at_once = runs_at_once
        self._executor = executor
        self._claims = Claims(database, clock)
        self._queue = RunQueue(database, clock)
        self._active: dict[str, _Active] = {}

    def run(self, stop: threading.Event, *, grace_s: float) -> None:
        """Work until `stop` is set; then let running trials finish within the grace period.

        Args:
            stop: ends the work.
            grace_s: how long running trials may continue before they are cancelled; the next
                worker retries cancelled trials.

        Raises:
            MachineBusyError: another worker works on this queue.
            StateError: the queue cannot be read or written.
        """
        with locked(self._settings.run_dir / "worker.lock", what="The queue of runs"):
            for run in self._claims.recover():
                _log.warning("%s was interrupted when its worker ended", run)
            try:
                while not stop.is_set():
                    self._reap()
                    self._obey()
                    self._start()
                    self._clock.wait(stop, _POLL_S)
            finally:
                self._end_all(grace_s)

    def _reap(self) -> None:
        for run in [run for run, active in self._active.items() if not active.thread.is_alive()]:
            del self._active[run]
            # Its thread could not record how it ended.
            if self._queue.get(run).state is State.RUNNING:
                self._claims.release(run, is_stopping=False)

    def _obey(self) -> None:
        """Apply pending cancel and pause requests to active runs."""
        for run, active in self._active.items():
            match self._queue.get(run).pending_request:
                case PendingRequest.CANCEL:
                    active.work.cancel.cancel("The run was cancelled.")
                case PendingRequest.PAUSE:
                    active.work.drain.set()
                case PendingRequest.NONE:
                    pass

    def _start(self) -> None:
        while len(self._active) < self._runs_at_once and (queued := self._claims.claim()):
            work = Work(
                queued,
                self._settings,
                self._clock,
                note=partial(self._claims.note, queued.run),
                preflight=self._preflight,
                executor=self._executor,
            )
            thread = threading.Thread(target=self._execute, name=queued.run, args=(queued.run,))
            self._active[queued.run] = _Active(work, thread)
            thread.start()

    def _end_all(self, grace_s: float) -> None:
        deadline_s = self._clock.monotonic_s() + grace_s
        for active in self._active.values():
            active.is_stopping.set()
            active.work.drain.set()
        for active in self._active.values():
            active.thread.join(max(0.0, deadline_s - self._clock.monotonic_s()))
        for active in self._active.values():
            active.work.cancel.cancel("The service is stopping.")
        for active in self._active.values():
            active.thread.join()
        self._active.clear()

    def _execute(self, run: str) -> None:
        """Execute one run in its own thread; record the outcome unless the database fails."""
        with log_context(run=run):
            try:
                self._execute_and_record(run)
            except StateError as exc:  # the worker's thread gets the same error and ends
                _log.error("the outcome of the run cannot be recorded: %s", exc)

    def _execute_and_record(self, run: str) -> None:
        active = self._active[run]
        try:
            self._attempt(active)
        except MesocosmError as exc:
            self._fail(active.work.queued, exc)
        except KeyboardInterrupt:
            self._claims.release(run, is_stopping=True)
        except Exception as exc:  # noqa: BLE001 - a run must not end the worker
            _log.exception("the run ended with an internal error")
            self._fail(active.work.queued, _internal(exc))

    def _attempt(self, active: _Active) -> None:
        queued = active.work.queued
        if queued.starts > MAX_STARTS:
            brief = f"The run was started {MAX_STARTS} times without any trial ending."
            raise UsageError(queued.brief or brief, details=queued.details or brief)
        if finish := active.work.run():
            self._conclude(queued.run, finish.state, finish.error)
        else:
            left = self._claims.release(queued.run, is_stopping=active.is_stopping.is_set())
            if left.state.is_over:
                self._notify(left)

    def _fail(self, queued: QueuedRun, error: MesocosmError) -> None:
        """Conclude a run as failed if a retry is useless or starts are used up; else retry later."""
        _log.warning("the run cannot continue: %s", error)
        if isinstance(error, UsageError | SpecError) or queued.starts >= MAX_STARTS:
            self._conclude(queued.run, State.FAILED, error)
            return
        delay_s = min(_FIRST_DELAY_S * 2.0 ** (queued.starts - 1), _MAX_DELAY_S)
        self._claims.retry(queued.run, error, delay_s)

    def _notify(self, ended: QueuedRun) -> None:
        """Write the messages about a run whose end is recorded; it may have been resumed since."""
        schedule = self._schedule_of(ended)
        if schedule is None or not schedule.notify:
            return
        baseline = find_baseline(self._database, schedule, ended)
        events, body = describe_end(ended, schedule, baseline, self._settings.runs_dir)
        with self._database.write() as session:
            write_messages(session, schedule, events, body, self._clock)

    def _schedule_of(self, queued: QueuedRun) -> Schedule | None:
        with self._database.read() as session:
            row = session.get(ScheduleRow, queued.schedule) if queued.schedule else None
            return None if row is None else Schedule.model_validate_json(row.definition)

    def _conclude(self, run: str, state: State, error: MesocosmError | None = None) -> None:
        """Record the end of a run and write its schedule's messages in one transaction."""
        queued = self._queue.get(run)
        schedule = self._schedule_of(queued)
        if schedule is None or not schedule.notify:
            with self._database.write() as session:
                conclude(session, run, state, self._clock, error)
            return
        ended = _ended(queued, state, error)
        baseline = find_baseline(self._database, schedule, queued)
        events, body = describe_end(ended, schedule, baseline, self._settings.runs_dir)
        with self._database.write() as session:
            conclude(session, run, state, self._clock, error)
            write_messages(session, schedule, events, body, self._clock)


def _ended(queued: QueuedRun, state: State, error: MesocosmError | None) -> QueuedRun:
    """Return a run with its end recorded."""
    brief = "" if error is None else error.brief
    return dataclasses.replace(queued, state=state, brief=brief)


def _internal(exc: Exception) -> MesocosmError:
    return MesocosmError(
        f"Internal error: {type(exc).__name__}.",
        details=str(exc),
        resolution="Report it with the traceback from the service's log.",
    )
