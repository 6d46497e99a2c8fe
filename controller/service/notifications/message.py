"""Messages about runs that are over, and the events that they report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sqlalchemy import select

from controller.comparison.comparison import compare_runs
from controller.service.schedules.definition import PREVIOUS, Event
from controller.service.state.queued_run import State
from controller.service.state.tables import QueuedRunRow
from controller.store.report import read_report
from controller.store.runs import Store
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from pathlib import Path

    from controller.service.schedules.definition import Schedule
    from controller.service.state.database import Database
    from controller.service.state.queued_run import QueuedRun
    from controller.store.runs import RunFolder
    from provisioning.protocols import Json

_log = logging.getLogger(__name__)

_ROUNDING = 1e-9


def describe_end(
    queued: QueuedRun, schedule: Schedule, baseline: str, runs_dir: Path
) -> tuple[set[Event], dict[str, Json]]:
    """Return the events that the end of a run triggers, and the message about it.

    Args:
        queued: the run, in its final state.
        schedule: the schedule that fired it.
        baseline: id of the run to compare with; empty for none.
        runs_dir: the folder of all runs.
    """
    counts = queued.counts
    body: dict[str, Json] = {
        "schedule": schedule.name,
        "run": queued.run,
        "suite": queued.request.suite,
        "agent": queued.request.agent_label,
        "state": queued.state.value,
        "planned": counts.planned,
        "PASS": counts.passed,
        "FAIL": counts.failed,
        "INCONCLUSIVE": counts.inconclusive,
        "error": queued.brief,
    }
    events = {Event.END}
    if queued.state in {State.FAILED, State.BUDGET_SPENT} or counts.inconclusive:
        events.add(Event.FAILURE)
    store = Store(runs_dir)
    if queued.state is State.FINISHED and store.has(queued.run):
        folder = store.open(queued.run)
        body |= _rates(folder)
        if baseline:
            body["comparison"] = _compare(store, baseline, folder)
            if _has_regressed(body["comparison"], schedule.tolerance):
                events.add(Event.REGRESS)
    body["events"] = [event.value for event in Event if event in events]
    return events, body


def find_baseline(database: Database, schedule: Schedule, queued: QueuedRun) -> str:
    """Return the id of a run's baseline run; empty if there is none."""
    if schedule.baseline != PREVIOUS:
        return schedule.baseline
    chosen = (
        select(QueuedRunRow.run)
        .where(
            QueuedRunRow.schedule == schedule.name,
            QueuedRunRow.state == State.FINISHED,
            QueuedRunRow.number < queued.number,
        )
        .order_by(QueuedRunRow.number.desc())
        .limit(1)
    )
    with database.read() as session:
        return session.scalar(chosen) or ""


def _rates(folder: RunFolder) -> dict[str, Json]:
    metrics = read_report(folder).metrics
    interval = metrics.success_interval
    return {
        "SR": metrics.success_rate,
        "SR_95": None if interval is None else list(interval),
        "CR": metrics.completion_ratio,
    }


def _compare(store: Store, baseline: str, folder: RunFolder) -> dict[str, Json]:
    """Return the comparison with a baseline, or the error if they cannot be compared."""
    try:
        return compare_runs(store.open(baseline), folder).to_dict()
    except MesocosmError as exc:
        _log.warning("%s cannot be compared with %s: %s", folder.spec.run, baseline, exc)
        return {"first": baseline, "second": folder.spec.run, "error": exc.brief}


def _has_regressed(comparison: Json, tolerance: float) -> bool:
    if not isinstance(comparison, dict):
        return False
    rate = comparison.get("SR")
    difference = rate.get("difference") if isinstance(rate, dict) else None
    return isinstance(difference, int | float) and difference < -tolerance - _ROUNDING
