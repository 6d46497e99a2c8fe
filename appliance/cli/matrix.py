"""``mesocosm run --matrix``: play the rows of an experiment file as one comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from appliance.cli.execution import check_ready, machines_of, perform
from appliance.cli.experiment_table import print_experiment
from appliance.cli.output import print_json, say
from controller.episode.result import Reason
from foundation.errors import MesocosmError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from appliance.cli.watch import RunDisplay
    from controller.experiments.planning import Plan, PlannedRow
    from controller.experiments.record import ExperimentRecord, ExperimentStore
    from controller.experiments.report import ExperimentReport
    from controller.store.runs import RunFolder, Store
    from foundation.settings import Settings
    from provisioning.lease import Fleet

ALLOWED = frozenset({"parallel", "isolate", "executor", "preflight", "fleet"})
"""Options of a run that can be given beside the file."""
_OVERRIDES = ("parallel", "isolate", "executor", "fleet")


def run_matrix(
    path: Path,
    options: Mapping[str, object],
    given: frozenset[str],
    *,
    is_new: bool,
    build: bool,
    dry_run: bool,
    json: bool,
) -> None:
    """Play what is left of an experiment, and print its table.

    Args:
        path: the experiment file.
        options: values of the options of a run.
        given: names of those that were given.
        is_new: begin again, even if an experiment with this name exists.
        build: build images that are not current.
        dry_run: print what would be played; start nothing.
        json: print JSON.

    Raises:
        UsageError: an option was given that belongs in the file.
        SpecError: the file is invalid.
        MesocosmError: requirements are not met.
        typer.Exit: with 1, if trials were inconclusive or did not run.
    """
    from controller.experiments.planning import open_record, read_plan
    from controller.experiments.record import ExperimentStore
    from foundation.settings import get_settings

    if wrong := sorted(given - ALLOWED):
        raise UsageError(
            f"With --matrix, these belong in the file: {', '.join(wrong)}.",
            resolution=f"Beside the file, only {', '.join(sorted(ALLOWED))} can be given.",
        )
    settings = get_settings()
    overrides = {name: options[name] for name in _OVERRIDES if name in given}
    plan = read_plan(path, settings, overrides)
    store = ExperimentStore(settings.experiments_dir)
    record, changed = open_record(plan, store, is_new=is_new)
    for name in changed:
        say(f"{name}: changed since it was played, and is played again")
    player = _Player(plan, store, record, settings, build=build)
    if dry_run:
        player.show_plan(json=json)
        return
    with store.playing(record.id):
        player.check(is_whole=bool(options["preflight"]))
        try:
            player.play()
        except KeyboardInterrupt:
            say(f"To continue: mesocosm run --matrix {path}")
            raise
        finally:
            report = player.report()
            if json:
                print_json(report.to_dict())
            else:
                print_experiment(report)
    _conclude(report, path)


def _conclude(report: ExperimentReport, path: Path) -> None:
    """Say what is left, and exit with 1 if anything is."""
    left = [row for row in report.rows if row.state != "complete"]
    if left:
        names = ", ".join(row.name for row in left)
        say(f"not complete: {names}. To continue: mesocosm run --matrix {path}")
    if report.inconclusive:
        runs = [row.run for row in report.rows if row.figures.metrics.inconclusive]
        say(f"{report.inconclusive} inconclusive; to retry:")
        for run in runs:
            say(f"  mesocosm resume {run} --retry inconclusive")
    if left or report.inconclusive:
        raise typer.Exit(1)


def _judged(folder: RunFolder | None) -> int:
    """Return the number of trials of a run that are not played again."""
    results = folder.results() if folder else []
    return sum(result.reason is not Reason.CANCELLED for result in results)


class _Player:
    """Plays the rows of an experiment one after the other."""

    def __init__(
        self,
        plan: Plan,
        store: ExperimentStore,
        record: ExperimentRecord,
        settings: Settings,
        *,
        build: bool,
    ) -> None:
        from controller.store.runs import Store

        self._plan = plan
        self._store = store
        self._record = record
        self._settings = settings
        self._build = build
        self._runs: Store = Store(settings.runs_dir)
        self._fleet: Fleet | None = None

    def left(self) -> Iterator[tuple[PlannedRow, RunFolder | None]]:
        """Yield the rows that are not complete, with their runs if they have begun."""
        for row in self._record.rows:
            folder = self._folder(row.run)
            if folder is None or not folder.is_complete():
                yield self._plan.rows[row.name], folder

    def show_plan(self, *, json: bool) -> None:
        """Print the rows, and what is left of each."""
        left = {row.name: folder for row, folder in self.left()}
        rows: list[dict[str, object]] = []
        for record in self._record.rows:
            planned = self._plan.rows[record.name]
            folder = left.get(record.name)
            ended = _judged(folder)
            total = len(planned.spec.planned)
            count = 0 if record.name not in left else total - ended
            rows.append(
                {
                    "name": record.name,
                    "agent": planned.spec.agent_name,
                    "trials": total,
                    "left": count,
                }
            )
        if json:
            print_json({"experiment": self._record.id, "rows": rows})
            return
        for row in rows:
            typer.echo(
                f"{row['name']}: {row['agent']}, {row['left']} of {row['trials']} trials left"
            )

    def check(self, *, is_whole: bool) -> None:
        """Raise if a row that is left could not start.

        Raises:
            MesocosmError: the only problem, with the name of its row.
            RequirementError: there are several; each names its row.
        """
        from controller.requests import model_choice
        from foundation.errors import RequirementError, named_error

        errors: dict[str, MesocosmError] = {}
        is_checked = False
        for row, folder in self.left():
            spec = folder.spec if folder else row.spec
            machines = None
            if self._plan.experiment.fleet == "real" and not is_checked:
                machines = machines_of(spec, row.suite, self._settings, build=self._build)
            is_checked = True
            try:
                check_ready(spec, model_choice(row.request), machines, is_whole=is_whole)
            except MesocosmError as exc:
                errors[row.name] = exc
        if len(errors) == 1:
            ((name, error),) = errors.items()
            raise named_error(f"Row {name}", error) from error
        if errors:
            raise RequirementError(
                f"{len(errors)} rows cannot start.",
                details="\n".join(
                    " ".join(f"{name}: {exc.brief} {exc.details}".split())
                    for name, exc in errors.items()
                ),
                resolution="\n".join(
                    dict.fromkeys(exc.resolution for exc in errors.values() if exc.resolution)
                ),
            )

    def play(self) -> None:
        """Play the rows that are left; one that cannot be played does not stop the others.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        from appliance.cli.watch import watching

        self._store.save(self._record)
        left = list(self.left())
        total = sum(len(row.spec.planned) - _judged(folder) for row, folder in left)
        count, done = len(self._record.rows), len(self._record.rows) - len(left)
        say(
            f"experiment {self._record.id}: {count} rows, {done} complete, {total} trial{'s' * (total != 1)} left"
        )
        with watching(total) as display:
            for row, folder in left:
                self._play_row(row, folder, display)

    def report(self) -> ExperimentReport:
        """Return the results so far."""
        from controller.experiments.report import read_experiment_report

        return read_experiment_report(self._record, self._runs)

    def _play_row(self, row: PlannedRow, folder: RunFolder | None, display: RunDisplay) -> None:
        from appliance.cli.output import print_error
        from controller.planning import suite_for

        names = [one.name for one in self._record.rows]
        verb = "continues" if folder else "begins"
        try:
            suite = row.suite
            if folder is None:
                folder = self._begin(row)
            else:
                suite = suite_for(folder.spec, row.suite)
            place = f"row {names.index(row.name) + 1} of {len(names)}"
            say(f"{place}, {row.name}: {verb}, run {folder.spec.run}")
            perform(folder, suite, row.request, self._open_fleet(), self._settings, display)
        except MesocosmError as exc:
            say(f"{row.name} cannot be played:")
            print_error(exc)

    def _begin(self, row: PlannedRow) -> RunFolder:
        """Create the run of a row; its id is noted first, so that a killed process leaves none."""
        from foundation.clock import SYSTEM_CLOCK
        from foundation.ids import new_run_id

        update = {"run": new_run_id(SYSTEM_CLOCK), "started_s": SYSTEM_CLOCK.now_s()}
        spec = row.spec.model_copy(update=update)
        self._record = self._record.with_run(row.name, spec.run)
        self._store.save(self._record)
        return self._runs.create(spec)

    def _open_fleet(self) -> Fleet:
        from controller.wiring import open_fleet

        if self._fleet is None:
            self._fleet = open_fleet(self._plan.experiment.fleet, self._settings, say)
        return self._fleet

    def _folder(self, run: str) -> RunFolder | None:
        return self._runs.open(run) if run and self._runs.has(run) else None
