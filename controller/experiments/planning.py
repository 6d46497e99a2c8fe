"""Plan an experiment: specify its rows, and find those of an earlier part that are still the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.experiments.definition import RowSettings, place_of_row, read_experiment
from controller.experiments.record import ExperimentRecord, RowRecord
from controller.experiments.rows import digest_of, request_of
from controller.requests import specify_request
from controller.selection import choose_tasks
from controller.wiring import open_suite
from evaluators.model.platforms import platform_of
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, SpecError, UsageError
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.experiments.definition import Experiment
    from controller.experiments.record import ExperimentStore
    from controller.specification.request import RunRequest
    from controller.specification.run import RunSpec
    from evaluators.loading.suite import Suite
    from foundation.clock import Clock
    from foundation.settings import Settings
    from foundation.yaml_source import Source


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A row that can be played.

    Attributes:
        name: its name.
        request: the request for its run.
        spec: the specification of its run, if it begins now.
        suite: its suite, with its limits.
    """

    name: str
    request: RunRequest
    spec: RunSpec
    suite: Suite


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment that can be played.

    Attributes:
        experiment: as its file says.
        path: the file.
        rows: its rows by name, in order.
    """

    experiment: Experiment
    path: Path
    rows: Mapping[str, PlannedRow]


def read_plan(
    path: Path, settings: Settings, overrides: Mapping[str, object], clock: Clock = SYSTEM_CLOCK
) -> Plan:
    """Read an experiment file and specify all of its rows.

    Args:
        path: the file.
        settings: of the appliance.
        overrides: fields of the experiment that the command line sets.
        clock: provides the time.

    Raises:
        SpecError: the file is invalid, or a row cannot be specified; the error has the line.
    """
    experiment, source = read_experiment(path)
    experiment = experiment.model_copy(update=dict(overrides))
    folder = path.resolve().parent
    _check_tasks(experiment, source, folder)
    rows: dict[str, PlannedRow] = {}
    errors: list[SpecError] = []
    for name, row in experiment.named_rows():
        try:
            request = request_of(experiment, row, folder)
            rows[name] = PlannedRow(name, request, *specify_request(request, settings, clock=clock))
        except MesocosmError as exc:
            place = place_of_row(experiment, name)
            errors.append(source.error(place, f"{name}: {exc.brief}", exc.details, exc.resolution))
    if errors:
        raise errors[0] if len(errors) == 1 else join_errors(errors)
    return Plan(experiment, path.resolve(), rows)


def _check_tasks(experiment: Experiment, source: Source, folder: Path) -> None:
    """Check suite, tasks and tags once, as all rows have the same.

    Raises:
        SpecError: they do not exist, or a file of the suite is invalid.
    """
    place = "suite"
    try:
        suite = open_suite(request_of(experiment, RowSettings(), folder).suite)
        keys = ("tasks", "tags", "subset", "platforms")
        place = next((key for key in keys if getattr(experiment, key)), "suite")
        choose_tasks(
            suite,
            experiment.tasks,
            experiment.tags,
            platforms=experiment.platforms,
            subset=experiment.subset,
        )
    except MesocosmError as exc:
        raise source.error((place,), exc.brief, exc.details, exc.resolution) from exc


def open_record(
    plan: Plan, store: ExperimentStore, *, is_new: bool, clock: Clock = SYSTEM_CLOCK
) -> tuple[ExperimentRecord, tuple[str, ...]]:
    """Return the record of an experiment: the latest with its name, or a new one.

    Rows of the latest one whose settings are unchanged keep their runs.

    Args:
        plan: the experiment.
        store: the experiments of this appliance.
        is_new: begin again in any case.
        clock: provides the time.

    Returns:
        The record, which is not written; and the names of rows that changed and are played again.

    Raises:
        UsageError: the latest one began on other machines.
        StoreError: it cannot be read.
    """
    name = plan.experiment.name
    latest = "" if is_new else store.latest(name)
    known: dict[str, RowRecord] = {}
    id_, started_s = store.next_id(name), clock.now_s()
    if latest:
        earlier = store.open(latest)
        if earlier.fleet != plan.experiment.fleet:
            raise UsageError(
                f"The experiment {latest} began on {earlier.fleet} machines.",
                resolution="Begin again with --new, or use the same machines.",
            )
        known = {row.name: row for row in earlier.rows if row.run}
        id_, started_s = earlier.id, earlier.started_s
    rows, changed = [], []
    for row in plan.rows.values():
        digest = digest_of(row.request)
        before = known.get(row.name)
        is_same = before is not None and before.digest == digest
        rows.append(before if before and is_same else RowRecord(name=row.name, digest=digest))
        if before is not None and not is_same:
            changed.append(row.name)
    return _record(plan, id_, started_s, tuple(rows)), tuple(changed)


def _record(
    plan: Plan, id_: str, started_s: float, rows: tuple[RowRecord, ...]
) -> ExperimentRecord:
    experiment = plan.experiment
    first = next(iter(plan.rows.values()))
    platforms = {
        task.id: platform_of(set(first.suite.task(task.id).kinds.values()))
        for task in first.spec.tasks
    }
    return ExperimentRecord(
        id=id_,
        name=experiment.name,
        file=str(plan.path),
        started_s=started_s,
        suite=first.spec.suite,
        tasks=first.spec.tasks,
        platforms=platforms,
        repeats=experiment.repeats,
        fleet=experiment.fleet,
        human=experiment.human,
        rows=rows,
    )
