"""``mesocosm regrade``: grade kept end states again, with a corrected suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, print_table, say
from appliance.cli.resume import RunName
from appliance.cli.run_options import FleetOption

if TYPE_CHECKING:
    from controller.regrade.regrading import Regraded
    from provisioning.protocols import Json

SuiteOption = Annotated[
    str,
    typer.Option("--suite", help="Name or folder of the corrected suite; the run's by default."),
]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", "-t", help="Only this task; repeatable.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("regrade")(regrade)


def regrade(
    run: RunName,
    suite: SuiteOption = "",
    task: TaskOption = None,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Grade the kept end states of a run again, and show which verdicts flip.

    Each kept machine is started in the state at the end of its trial, graded by the current suite,
    and ended. Nodes that latch (`once`) keep the credit that the log proves; all others are
    evaluated again. Both verdicts are kept. The exit code is 0 if every kept end state was graded,
    else 1.
    """
    from controller.regrade.regrading import Regrading
    from controller.store.runs import Store
    from controller.wiring import open_fleet, open_suite, open_suite_of
    from foundation.settings import get_settings

    settings = get_settings()
    folder = Store(settings.runs_dir).open(run)
    corrected = open_suite(suite, task or ()) if suite else open_suite_of(folder.spec)
    for name in task or ():
        corrected.task(name)
    regrading = Regrading(folder, corrected, open_fleet(fleet, settings, say))
    rows = regrading.run(task or (), on_trial=_report_failure)
    if json:
        print_json(_to_dict(folder.spec.run, rows))
    else:
        _print(rows)
    if any(row.is_failure for row in rows):
        raise typer.Exit(1)


def _report_failure(row: Regraded) -> None:
    if row.regrade is None:
        say(f"{row.task}.{row.repeat} was not graded: {row.why}")


def _to_dict(run: str, rows: list[Regraded]) -> dict[str, Json]:
    return {
        "run": run,
        "flipped": sum(1 for row in rows if row.regrade and row.regrade.is_flipped),
        "trials": [
            {
                "task": row.task,
                "repeat": row.repeat,
                "flipped": row.regrade.is_flipped if row.regrade else None,
                "regrade": row.regrade.model_dump(mode="json") if row.regrade else None,
                "why": row.why,
            }
            for row in rows
        ],
    }


def _print(rows: list[Regraded]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in (
        "task",
        "repeat",
        "then",
        "now",
        "",
        "reason",
        "nodes",
        "from the log",
        "differs",
    ):
        table.add_column(title, no_wrap=title in {"task", "then", "now"})
    judged = [(row, row.regrade) for row in rows if row.regrade is not None]
    for row, judgement in judged:
        cells = (
            row.task,
            str(row.repeat),
            judgement.former[0].value,
            judgement.verdict.value,
            "flips" if judgement.is_flipped else "",
            judgement.reason.value,
            f"{judgement.nodes_met}/{judgement.nodes}",
            ", ".join(judgement.credited),
            ", ".join(judgement.differences),
        )
        table.add_row(*map(Text, cells))
    print_table(table)
    flips = sum(judgement.is_flipped for _, judgement in judged)
    say(f"{flips} of {len(judged)} verdicts flip; both are kept.")
