"""``mesocosm suite proof``: what validations have shown about a suite's tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_err, print_json, print_table
from appliance.cli.run_options import FleetOption, Platforms, SubsetOption, Suite, Tags, Tasks
from appliance.cli.suite_show import digest

if TYPE_CHECKING:
    from controller.validation.proof_report import ProofReport

PageOption = Annotated[
    Path | None, typer.Option("--page", help="Markdown file to write the report to.")
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Write the proofs to proof.json in the suite's folder, to ship."),
]


def proof(
    suite: Suite,
    task: Tasks = None,
    tag: Tags = None,
    platform: Platforms = None,
    subset: SubsetOption = "",
    fleet: FleetOption = "real",
    page: PageOption = None,
    save: SaveOption = False,
    json: JsonOption = False,
) -> None:
    """Report which tasks are proven, by what `suite validate` has shown on the present images.

    Exits with code 1 if a task is not proven.
    """
    from controller.selection import narrow
    from controller.validation.proof_report import read_proofs
    from controller.wiring import open_suite
    from foundation.settings import get_settings

    opened = open_suite(suite, task or ())
    opened = narrow(opened, task or (), tag or (), platforms=platform or (), subset=subset)
    report = read_proofs(opened, get_settings(), "fake" if fleet == "fake" else "real")
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(report.page())
        console_err().print(f"{page}: proof of {opened.name}")
    if save:
        console_err().print(f"{report.save()}: proofs of {opened.name}")
    if json:
        print_json({"suite": digest(opened), **report.to_dict()})
    else:
        _print(report)
    if not report.is_complete:
        raise typer.Exit(1)


def _print(report: ProofReport) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=report.headline)
    for name in ("task", "proof", "attempts", "solution, s", "faults"):
        table.add_column(name, overflow="fold")
    for row in report.rows:
        colour = "red" if row.level == "unproven" else "green"
        found = row.proof
        cells = (
            ("", "", "")
            if found is None
            else (str(found.attempts), f"{found.solution_s:.0f}", "\n".join(found.faults))
        )
        table.add_row(row.task.id, Text(row.level, colour), *cells)
    print_table(table)
