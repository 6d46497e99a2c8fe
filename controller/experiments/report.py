"""The report of an experiment: one row each, with the trials of people on the same tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.experiments.figures import by_platform, figures_of, read_outcomes
from controller.store.index import list_runs
from controller.store.report import read_report
from controller.store.run_fleet import fleet_of
from evaluators.model.platforms import PLATFORMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.experiments.figures import Figures, Outcome
    from controller.experiments.record import ExperimentRecord
    from controller.store.runs import Store
    from evaluators.model.platforms import Platform
    from provisioning.protocols import Json

HUMAN = "human"
"""Agent name of people in results, and name of their row."""
WAITING, REMOVED, COMPLETE = "waiting", "removed", "complete"


@dataclass(frozen=True, slots=True)
class RowReport:
    """The results of a row.

    Attributes:
        name: its name.
        run: its run; empty before it began, and for the row of people, which has many.
        state: ``complete``, ``unfinished``, ``budget_spent``, ``waiting``, or ``removed`` if the
            run's folder is gone.
        planned: number of its trials.
        ended: number of those that ended.
        figures: over all trials.
        platforms: by platform, for those that have trials.
        agent: name of its agent; empty before it began.
    """

    name: str
    run: str
    state: str
    planned: int
    ended: int
    figures: Figures
    platforms: Mapping[Platform, Figures]
    agent: str = ""

    def to_dict(self) -> dict[str, Json]:
        """Return the row as JSON."""
        return {
            "name": self.name,
            "run": self.run or None,
            "agent": self.agent or None,
            "state": self.state,
            "planned": self.planned,
            "ended": self.ended,
            "figures": self.figures.to_dict(),
            "platforms": {name: part.to_dict() for name, part in self.platforms.items()},
        }


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    """The results of an experiment.

    Attributes:
        record: the experiment.
        rows: its rows, in the order of the file.
        human: trials of people on the same tasks; None if there are none, or they are not wanted.
    """

    record: ExperimentRecord
    rows: Sequence[RowReport]
    human: RowReport | None = None

    @property
    def all_rows(self) -> tuple[RowReport, ...]:
        """The rows, with that of people as the last."""
        return (*self.rows, *([self.human] if self.human else []))

    @property
    def is_complete(self) -> bool:
        """Whether every trial of every row was judged."""
        return all(row.state == COMPLETE for row in self.rows)

    @property
    def inconclusive(self) -> int:
        """Number of inconclusive trials of the rows."""
        return sum(row.figures.metrics.inconclusive for row in self.rows)

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """The platforms of its tasks, in a fixed order."""
        present = set(self.record.platforms.values())
        return tuple(name for name in PLATFORMS if name in present)

    def to_dict(self) -> dict[str, Json]:
        """Return the machine-readable form; keys are never removed."""
        record = self.record
        return {
            "experiment": record.id,
            "name": record.name,
            "file": record.file,
            "suite": {"name": record.suite.name, "digest": record.suite.digest},
            "tasks": [task.id for task in record.tasks],
            "repeats": record.repeats,
            "fleet": record.fleet,
            "complete": self.is_complete,
            "rows": [row.to_dict() for row in self.rows],
            "human": None if self.human is None else self.human.to_dict(),
        }


def read_experiment_report(record: ExperimentRecord, store: Store) -> ExperimentReport:
    """Read the results of an experiment from the logs of its runs.

    Raises:
        StoreError: a log is damaged.
    """
    rows = [_read_row(record, row.name, row.run, store) for row in record.rows]
    return ExperimentReport(record, rows, _read_human(record, store) if record.human else None)


def _read_row(record: ExperimentRecord, name: str, run: str, store: Store) -> RowReport:
    planned = len(record.tasks) * record.repeats
    if not run or not store.has(run):
        state = REMOVED if run else WAITING
        return RowReport(name, run, state, planned, 0, figures_of(()), {})
    folder = store.open(run)
    outcomes = read_outcomes(folder)
    return RowReport(
        name,
        run,
        read_report(folder).ended,
        len(folder.spec.planned),
        len(outcomes),
        figures_of(outcomes),
        _platforms(record, outcomes),
        folder.spec.agent_name,
    )


def _platforms(record: ExperimentRecord, outcomes: Sequence[Outcome]) -> dict[Platform, Figures]:
    groups = by_platform(outcomes, record.platforms)
    return {name: figures_of(groups[name]) for name in PLATFORMS if name in groups}


def _read_human(record: ExperimentRecord, store: Store) -> RowReport | None:
    """Return the trials of people on the same tasks, of any limits, on machines of the same fleet."""
    tasks = {task.id: task for task in record.tasks}
    outcomes: list[Outcome] = []
    for row in list_runs(store):
        if row.agent != HUMAN or row.suite != record.suite.name:
            continue
        folder = store.open(row.run)
        same = {
            task.id
            for task in folder.spec.tasks
            if task.id in tasks and not set(tasks[task.id].differences(task)) - {"limits"}
        }
        found = [one for one in read_outcomes(folder) if one.result.task in same]
        if fleet_of(folder.spec, [one.result for one in found]) in {"", record.fleet}:
            outcomes += found
    if not outcomes:
        return None
    count, figures = len(outcomes), figures_of(outcomes)
    return RowReport(
        HUMAN, "", COMPLETE, count, count, figures, _platforms(record, outcomes), HUMAN
    )
