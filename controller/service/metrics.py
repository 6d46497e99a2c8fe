"""Prometheus metrics of the service: gauges read from its state at each scrape."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from controller.service.schedules.register import Outcome
from controller.service.state.queued_run import OVER, State
from controller.service.state.tables import NotificationRow, QueuedRunRow, ScheduleRow, SlotRow
from monitoring.gauges import Gauge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from controller.service.state.database import Database
    from foundation.clock import Clock


class ServiceCollector(Collector):
    """Metrics of queue, schedules and messages; label values are bounded.

    Args:
        database: the service's state.
        clock: determines how late schedules are.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        return (gauge.family() for gauge in read_gauges(self._database, self._clock))


def read_gauges(database: Database, clock: Clock) -> list[Gauge]:
    """Return gauges of queue, schedules and messages.

    Args:
        database: the service's state.
        clock: determines how late schedules are.

    Raises:
        StateError: the database cannot be read.
    """
    with database.read() as session:
        runs = _count(session, QueuedRunRow.state)
        slots = _count(session, SlotRow.outcome)
        messages = _count(session, NotificationRow.state)
        late_s = _late_s(session, clock)
        wait_s = _longest_wait_s(session, clock)
        trials = _open_trials(session)
        schedules = Counter(session.scalars(select(ScheduleRow.is_paused)).all())
    return [
        Gauge(
            "queue_runs",
            "Runs of the queue by state.",
            {(state.value,): runs.get(state.value, 0) for state in State},
            ("state",),
        ),
        Gauge(
            "queue_open_trials",
            "Unfinished trials of runs that have started and are not over.",
            {(): trials},
        ),
        Gauge(
            "queue_longest_wait_seconds",
            "How long the longest-waiting queued run has waited to start; 0 if none waits.",
            {(): wait_s},
        ),
        Gauge(
            "schedules",
            "Schedules by state.",
            {("active",): schedules[False], ("paused",): schedules[True]},
            ("state",),
        ),
        Gauge(
            "schedule_slots",
            "Slots of all schedules by outcome.",
            {(outcome.value,): slots.get(outcome.value, 0) for outcome in Outcome},
            ("outcome",),
        ),
        Gauge(
            "schedule_messages",
            "Messages about runs of schedules by state.",
            {(state,): messages.get(state, 0) for state in ("pending", "sent", "given_up")},
            ("state",),
        ),
        Gauge(
            "schedule_late_seconds",
            "How long the longest-waiting slot has been due; 0 if none is due.",
            {(): late_s},
        ),
    ]


def make_registry(database: Database, clock: Clock) -> CollectorRegistry:
    """Return a registry with the metrics of the service."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(database, clock))
    return registry


def render(registry: CollectorRegistry) -> bytes:
    """Render a registry in Prometheus' text format."""
    return generate_latest(registry)


def _late_s(session: Session, clock: Clock) -> float:
    due_s = session.scalar(select(ScheduleRow.next_s).order_by(ScheduleRow.next_s.nulls_last()))
    return 0.0 if due_s is None else max(0.0, clock.now_s() - due_s)


def _longest_wait_s(session: Session, clock: Clock) -> float:
    waiting = QueuedRunRow.state == State.QUEUED.value
    asked_s = session.scalar(select(func.min(QueuedRunRow.requested_s)).where(waiting))
    return 0.0 if asked_s is None else max(0.0, clock.now_s() - asked_s)


def _open_trials(session: Session) -> int:
    row = QueuedRunRow
    ended = row.passed + row.failed + row.inconclusive
    is_open = row.state.not_in([state.value for state in OVER]) & (row.planned > ended)
    return session.scalar(select(func.sum(row.planned - ended)).where(is_open)) or 0


def _count(session: Session, column: InstrumentedAttribute[str]) -> dict[str, int]:
    return {
        row[0]: row[1] for row in session.execute(select(column, func.count()).group_by(column))
    }
