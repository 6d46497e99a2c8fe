"""``mesocosm suite``: list, show, validate and register suites."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, console_out, print_json, print_table, say
from appliance.cli.run_options import (
    FleetOption,
    Parallel,
    Platforms,
    Repeats,
    SubsetOption,
    Suite,
    Tags,
    Tasks,
)
from appliance.cli.suite_import import import_
from appliance.cli.suite_show import brief, digest, show

if TYPE_CHECKING:
    from controller.validation.evidence import Attempt, Validation
    from evaluators.loading.suite import Suite as SuiteModel


Folder = Annotated[Path, typer.Argument(help="Folder of a suite.")]


def _registered() -> list[str]:
    from controller.registered.suites import suite_copies
    from foundation.settings import get_settings

    return suite_copies(get_settings()).names()


Name = Annotated[
    str, typer.Argument(help="Name of a registered suite.", autocompletion=_registered)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = make_group(no_args_is_help=True, help="List, validate and register suites of tasks.")
    group.command("list")(list_)
    group.command("show")(show)
    group.command("validate")(validate)
    group.command("import")(import_)
    group.command("add")(add)
    group.command("remove")(remove)
    app.add_typer(group, name="suite")


def list_(json: JsonOption = False) -> None:
    """List the built-in and the registered suites."""
    from rich.table import Table

    from controller.registered.suites import known_suites
    from controller.wiring import open_suite
    from evaluators.loading.suite import list_suites
    from foundation.settings import get_settings

    shipped = list_suites()
    suites = [open_suite(name) for name in known_suites(get_settings())]
    if json:
        rows = [{**brief(suite), "shipped": suite.name in shipped} for suite in suites]
        print_json({"suites": rows})
        return
    table = Table("suite", "version", "tasks", "by", "description")
    for suite in suites:
        by = "Mesocosm" if suite.name in shipped else "you"
        table.add_row(suite.name, suite.version, str(len(suite.tasks)), by, suite.description)
    print_table(table)


def add(folder: Folder, json: JsonOption = False) -> None:
    """Register a copy of a suite, for use in the queue, schedules and API.

    Registering an identical suite again has no effect; a changed one becomes the next version.
    """
    from controller.registered.suites import add_suite
    from foundation.settings import get_settings

    entry = add_suite(folder, get_settings())
    if json:
        print_json(entry.model_dump(mode="json"))
    else:
        say(f"suite {entry.reference} is registered: mesocosm run {entry.name}")


def remove(name: Name, json: JsonOption = False) -> None:
    """Remove all versions of a registered suite, unless a queued run or a schedule uses it."""
    from appliance.cli.service_database import open_database
    from controller.registered.suites import suite_copies
    from controller.service.registered_use import require_unused
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings

    copies = suite_copies(get_settings())
    copies.get(name)
    require_unused(name, lambda request: request.suite, open_database(), SYSTEM_CLOCK)
    removed = copies.remove(name)
    if json:
        print_json({"removed": [entry.reference for entry in removed]})
    else:
        say(f"suite {name} is removed")


def _report_skipped(suite: SuiteModel) -> None:
    from controller.unfamiliar import misspelt_packages

    for name, why in suite.left_out.items():
        say(f"{name} is skipped: {why}")
    for line in misspelt_packages(suite):
        say(f"note: {line}")


def validate(
    suite: Suite,
    task: Tasks = None,
    tag: Tags = None,
    platform: Platforms = None,
    subset: SubsetOption = "",
    repeats: Repeats = 1,
    parallel: Parallel = 1,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Check that each task passes with its solutions, and only with them.

    Tries each task with its own solutions, with no action, with its `must_fail` attempts, with the
    solutions of other tasks, with cheats under the agent's user, with random actions, and with
    clicks on everything.
    """
    from appliance.cli.watch import watching
    from controller.image_requirements import require_shipped_images, require_suite_images
    from controller.selection import choose_tasks
    from controller.validation.validator import Validator
    from controller.wiring import open_fleet, open_suite
    from foundation.clock import SYSTEM_CLOCK
    from foundation.measures import record
    from foundation.settings import get_settings

    settings = get_settings()
    opened = open_suite(suite, task or ())
    _report_skipped(opened)
    if fleet == "real":
        needs = {spec for row in opened.tasks for spec in row.roles.values()}
        require_shipped_images(opened, needs, settings)
        require_suite_images(opened, needs, settings)
    machines = open_fleet(fleet, settings, say)
    planner = Validator(opened, machines, settings.runs_dir, SYSTEM_CLOCK, record)
    chosen = choose_tasks(opened, task or (), tag or (), platforms=platform or (), subset=subset)
    rounds = planner.plan(chosen, repeats=repeats)
    attempts: list[Attempt] = []
    with watching(sum(planned.trials for planned in rounds)) as display:

        def note(attempt: Attempt) -> None:
            attempts.append(attempt)
            display.advance(attempt.line)

        try:
            validator = replace(planner, on_event=display, on_attempt=note, parallel=parallel)
            rows = validator.run(rounds)
        except KeyboardInterrupt:
            _print_interrupted(planner.partial_validations(attempts))
            raise
    is_sound = not any(row.faults for row in rows)
    if json:
        tasks = [row.to_dict() for row in rows]
        print_json({"suite": digest(opened), "ok": is_sound, "tasks": tasks})
    else:
        _print_validations(rows)
    if not is_sound:
        raise typer.Exit(1)


def _print_interrupted(rows: list[Validation]) -> None:
    """Print the attempts before Ctrl-C; whether tasks are sound is not known yet."""
    say("attempts so far:")
    for row in rows:
        for attempt in row.attempts:
            say(f"  {attempt.line} (run {attempt.run})")


def _print_validations(rows: list[Validation]) -> None:
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        sound = Text("sound", "green") if not row.faults else Text("not sound", "red")
        table = Table(title=Text.assemble(row.task, ": ", sound), title_justify="left")
        for name in ("tried", "verdict", "nodes", "steps", "reason", "shows", "run"):
            table.add_column(name, overflow="fold")
        for attempt in row.attempts:
            trial = attempt.result
            nodes = f"{trial.nodes_met}/{trial.nodes}"
            cells = (attempt.label, trial.verdict, nodes, str(trial.steps), trial.reason)
            table.add_row(*map(Text, (*cells, attempt.meaning, attempt.run)))
        print_table(table)
        for fault in row.faults:
            console_out().print(Text(f"{row.task}: {fault}", "red"), soft_wrap=True)
