"""Data of the pages, read from queue, schedules and event logs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.agents.registry import AGENTS
from controller.opened_suites import open_unchanged
from controller.registered.agents import agent_copies
from controller.registered.suites import known_suites
from controller.service.state.queued_run import OVER, State
from controller.service.web.metrics.prometheus import Prometheus
from controller.store.index import list_runs
from controller.store.report import read_report
from foundation.errors import MesocosmError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.service.api.context import ApiContext
    from controller.service.schedules.register import Registered, Slot
    from controller.service.state.queued_run import QueuedRun
    from controller.service.web.metrics.prometheus import Alert
    from controller.store.index import RunRow
    from controller.store.report import Report
    from evaluators.loading.suite import Suite

_RUNS_PER_SCHEDULE = 2
_ALERTS_TIMEOUT_S = 3.0
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Progress:
    """A run that is not over, with its estimated remaining time.

    Attributes:
        queued: the run.
        left_s: estimated remaining seconds; None while unknown.
    """

    queued: QueuedRun
    left_s: float | None


@dataclass(frozen=True, slots=True)
class ScheduleHistory:
    """The last runs of a schedule, latest first."""

    name: str
    runs: Sequence[QueuedRun]


@dataclass(frozen=True, slots=True)
class Disk:
    """Capacity of the disk that runs are written to, in GiB."""

    free_gib: float
    total_gib: float


def open_runs(context: ApiContext) -> list[Progress]:
    """Return the runs that are not over, oldest request first."""
    states = [state for state in State if state not in OVER]
    rows = context.queue.entries(states, limit=1000)
    return [Progress(row, _left_s(row, context.clock.now_s())) for row in reversed(rows)]


def schedule_histories(context: ApiContext) -> list[ScheduleHistory]:
    """Return the last two runs of each schedule that are over."""
    rows = context.queue.entries(OVER, limit=1000)
    histories = []
    for entry in context.register.entries():
        name = entry.schedule.name
        histories.append(
            ScheduleHistory(
                name, [row for row in rows if row.schedule == name][:_RUNS_PER_SCHEDULE]
            )
        )
    return [history for history in histories if history.runs]


def alerts(context: ApiContext) -> Sequence[Alert] | None:
    """Return the firing alerts; None if Prometheus cannot be queried."""
    try:
        return Prometheus(context.prometheus, timeout_s=_ALERTS_TIMEOUT_S).firing()
    except MesocosmError:
        return None


def named_suites(context: ApiContext) -> tuple[list[Suite], dict[str, str]]:
    """Return the readable shipped and registered suites, and the errors of the others by name."""
    suites, faults = [], {}
    for name in known_suites(context.settings):
        try:
            suites.append(open_unchanged(name))
        except MesocosmError as exc:
            faults[name] = exc.brief
    return suites, faults


def known_agents(context: ApiContext) -> list[str]:
    """Return the available agents: shipped and registered ones."""
    return [*AGENTS, *agent_copies(context.settings).names()]


def disk(context: ApiContext) -> Disk | None:
    """Return the disk's capacity; None if there is no state folder yet."""
    try:
        usage = shutil.disk_usage(context.settings.state_dir)
    except OSError:
        return None
    return Disk(usage.free / _GIB, usage.total / _GIB)


def recorded_runs(
    context: ApiContext, filters: Mapping[str, str], *, offset: int, limit: int
) -> tuple[list[RunRow], int]:
    """Return a page of the recorded runs, latest first, and the number of runs that match the filters.

    Args:
        context: context of the API.
        filters: substrings of suite, agent and state, case-insensitive; empty ones match all.
        offset: number of runs to skip.
        limit: maximum number of runs to return.
    """
    rows = [
        row
        for row in reversed(list_runs(context.store))
        if all(text.lower() in getattr(row, name).lower() for name, text in filters.items())
    ]
    return rows[offset : offset + limit], len(rows)


def report(context: ApiContext, run: str) -> Report | None:
    """Return a run's report; None if nothing is recorded yet.

    Raises:
        StoreError: its logs are damaged.
    """
    if not context.store.has(run):
        return None
    return read_report(context.store.open(run))


def queued(context: ApiContext, run: str) -> QueuedRun | None:
    """Return a run of the queue; None for runs started directly by a command."""
    try:
        return context.queue.get(run)
    except UnknownNameError:
        return None


def schedules(context: ApiContext, *, slots: int) -> list[tuple[Registered, list[Slot]]]:
    """Return all schedules with their last slots."""
    return [
        (entry, context.register.recent(entry.schedule.name, limit=slots))
        for entry in context.register.entries()
    ]


def _left_s(row: QueuedRun, now_s: float) -> float | None:
    """Estimate a run's remaining time from its ended trials; pauses inflate it."""
    counts = row.counts
    if row.state is not State.RUNNING or row.started_s is None or not counts.ended:
        return None
    return (now_s - row.started_s) / counts.ended * (counts.planned - counts.ended)
