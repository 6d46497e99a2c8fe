"""``mesocosm export``: trajectories of trials for training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, progress, say
from appliance.cli.results import runs as known_runs

if TYPE_CHECKING:
    from controller.store.runs import Attempt, RunFolder, Store
    from controller.trajectories.exporting import Format, Selection

RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        help="Ids of runs, latest, or latest:SUITE,AGENT; all runs by default.",
        autocompletion=known_runs,
    ),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Folder to write to; again to continue.")
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option("--format", help="atif, messages; repeatable; both by default."),
]
ExperimentOption = Annotated[
    list[str] | None,
    typer.Option("--experiment", help="The runs of an experiment's rows, by its name; repeatable."),
]
SuiteFilter = Annotated[
    list[str] | None, typer.Option("--suite", help="Only runs of this suite; repeatable.")
]
TaskFilter = Annotated[
    list[str] | None,
    typer.Option("--task", "-t", help="Only this task, or tasks that match; repeatable."),
]
PassedOption = Annotated[bool, typer.Option("--passed", help="Only trials that passed.")]
AttemptsOption = Annotated[
    bool, typer.Option("--all-attempts", help="Also attempts before the last one.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    output: OutputOption,
    runs: RunNames = None,
    experiment: ExperimentOption = None,
    format_: FormatOption = None,
    suite: SuiteFilter = None,
    task: TaskFilter = None,
    passed: PassedOption = False,
    all_attempts: AttemptsOption = False,
    json: JsonOption = False,
) -> None:
    """Export trajectories for training: as ATIF, and as messages with their pictures.

    What is complete in the folder is kept, so that an interrupted export continues. The exit code
    is 1 if a trial could not be exported. See docs/export.md.
    """
    from controller.experiments.record import ExperimentStore
    from controller.store.runs import Store
    from controller.trajectories.exporting import Exporter, Selection
    from foundation.errors import UsageError
    from foundation.settings import get_settings

    selection = Selection(
        tuple(suite or ()),
        tuple(task or ()),
        passed_only=passed,
        all_attempts=all_attempts,
        formats=_formats(format_),
    )
    settings = get_settings()
    experiments = ExperimentStore(settings.experiments_dir)
    names = [*(runs or ()), *(run for name in experiment or () for run in experiments.runs(name))]
    jobs = _jobs(Store(settings.runs_dir), tuple(names), selection)
    if not jobs:
        raise UsageError(
            "No trial matches.", resolution="`mesocosm results` lists runs with their suites."
        )
    exporter = Exporter(output, selection)
    with progress() as display:
        bar = display.add_task("exporting", total=len(jobs))
        outcome = exporter.export(
            jobs, lambda name: display.update(bar, advance=1, description=name)
        )
    if json:
        print_json({"folder": str(output), **outcome.to_dict()})
    else:
        say(
            f"{outcome.written} trials written to {output}, {outcome.kept} were there, "
            f"{outcome.left_out} left out; {outcome.rows} rows of messages, "
            f"{outcome.exact_rows} of them exactly what a model was sent"
        )
        if outcome.missing_pictures:
            say(f"{len(outcome.missing_pictures)} pictures are no longer available")
        for name, why in outcome.failed.items():
            say(f"{name}: {why}")
    if outcome.failed:
        raise typer.Exit(1)


def _formats(names: list[str] | None) -> tuple[Format, ...]:
    """Return the formats with these names; all without any.

    Raises:
        UnknownNameError: there is no such format.
    """
    from controller.trajectories.exporting import FORMATS
    from foundation.errors import UnknownNameError

    for name in names or ():
        if name not in FORMATS:
            raise UnknownNameError.of("format", name, FORMATS)
    return tuple(one for one in FORMATS if not names or one in names)


def _jobs(
    store: Store, names: tuple[str, ...], selection: Selection
) -> list[tuple[RunFolder, Attempt]]:
    """Return the attempts of runs; without names, of all that can be read."""
    from foundation.errors import StoreError

    folders: dict[str, RunFolder] = {}
    for name in names or store.names():
        try:
            folder = store.open(name)
        except StoreError as exc:
            if names:
                raise
            say(f"skipping the run {name}: {exc.brief}")
            continue
        folders[folder.spec.run] = folder
    return [
        (folder, attempt) for folder in folders.values() for attempt in selection.attempts(folder)
    ]
