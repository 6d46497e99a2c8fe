"""``mesocosm suite validate``: prove that a suite's tasks pass with their solutions only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

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
from appliance.cli.suite_show import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.store.proofs import Level
    from controller.validation.evidence import Attempt, Validation
    from controller.validation.rounds import Round
    from controller.validation.validator import Validator
    from evaluators.loading.suite import Suite as SuiteModel

LevelOption = Annotated[
    Literal["quick", "full"],
    typer.Option("--level", help="quick: only solutions and no action; full: everything."),
]
AgainOption = Annotated[
    bool, typer.Option("--again", help="Repeat attempts that are known from earlier validations.")
]


def validate(
    suite: Suite,
    task: Tasks = None,
    tag: Tags = None,
    platform: Platforms = None,
    subset: SubsetOption = "",
    level: LevelOption = "full",
    again: AgainOption = False,
    repeats: Repeats = 1,
    parallel: Parallel = 1,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Check that each task passes with its solutions, and only with them.

    Tries each task with its own solutions, with no action, with other values, with its setup twice, with
    its `must_fail` attempts, with the solutions of other tasks, with cheats under the agent's user,
    with random actions, and with clicks on everything. What was tried before on the same task and
    images is not tried again.
    """
    from controller.selection import choose_tasks
    from controller.wiring import open_suite

    opened = open_suite(suite, task or ())
    _report_skipped(opened)
    chosen = choose_tasks(opened, task or (), tag or (), platforms=platform or (), subset=subset)
    wanted: Level = "quick" if level == "quick" else "full"
    planner = _open_validator(opened, chosen, fleet, wanted, reuse=not again)
    rows = _try(planner, planner.plan(chosen, repeats=repeats), parallel)
    is_sound = not any(row.faults for row in rows)
    if json:
        tasks = [row.to_dict() for row in rows]
        print_json({"suite": digest(opened), "level": level, "ok": is_sound, "tasks": tasks})
    else:
        _print_validations(rows)
    if not is_sound:
        raise typer.Exit(1)


def _open_validator(
    suite: SuiteModel, tasks: Sequence[str], fleet: str, level: Level, *, reuse: bool
) -> Validator:
    """Return what validates tasks on machines whose images are there.

    Raises:
        RequirementError: an image is missing.
    """
    from controller.image_requirements import require_shipped_images, require_suite_images
    from controller.planning import recipes_of
    from controller.validation.validator import Validator
    from controller.wiring import open_fleet
    from foundation.clock import SYSTEM_CLOCK
    from foundation.measures import record
    from foundation.settings import get_settings

    settings = get_settings()
    needs = {spec for name in tasks for spec in suite.task(name).roles.values()}
    is_real = fleet == "real"
    if is_real:
        require_shipped_images(suite, needs, settings)
        require_suite_images(suite, needs, settings)
    return Validator(
        suite,
        open_fleet(fleet, settings, say),
        settings.runs_dir,
        SYSTEM_CLOCK,
        record,
        level=level,
        images=recipes_of(settings, needs) if is_real else {},
        fleet_name="real" if is_real else "fake",
        reuse=reuse,
    )


def _try(planner: Validator, rounds: list[Round], parallel: int) -> list[Validation]:
    """Run rounds while showing progress.

    Raises:
        KeyboardInterrupt: Ctrl-C; the attempts so far are printed.
    """
    from appliance.cli.watch import watching

    attempts = [attempt for row in planner.known(rounds) for attempt in row]
    if attempts:
        say(f"{len(attempts)} attempts are known from earlier validations (--again repeats them)")
    with watching(sum(planned.trials for planned in rounds) - len(attempts)) as display:

        def note(attempt: Attempt) -> None:
            attempts.append(attempt)
            display.advance(attempt.line)

        validator = replace(planner, on_event=display, on_attempt=note, parallel=parallel)
        try:
            return validator.run(rounds)
        except KeyboardInterrupt:
            _print_interrupted(planner.partial_validations(attempts))
            raise


def _report_skipped(suite: SuiteModel) -> None:
    from controller.unfamiliar import misspelt_packages

    for name, why in suite.left_out.items():
        say(f"{name} is skipped: {why}")
    for line in misspelt_packages(suite):
        say(f"note: {line}")


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
        for note in row.notes:
            console_out().print(f"{row.task}: note: {note}", markup=False, soft_wrap=True)
