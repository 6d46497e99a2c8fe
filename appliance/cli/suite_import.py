"""``mesocosm suite import``: tasks of CRAB and OSWorld as a suite."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_out, print_json, print_table, progress, say

if TYPE_CHECKING:
    from controller.importing.report import FileResult, ImportReport, Status

Source = Annotated[
    Path,
    typer.Argument(help="A file, or a folder with files, of CRAB's or OSWorld's tasks in JSON."),
]
To = Annotated[
    Path | None,
    typer.Option("--to", help="Folder of the suite; without it, nothing is written."),
]
Files = Annotated[
    Path | None,
    typer.Option("--files", help="Folder with the files that the tasks download or expect."),
]
Image = Annotated[
    str,
    typer.Option(
        "--image",
        help="Image of the desktops, which has the applications that OSWorld's tasks need.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that you changed.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 unless every file was imported whole.")
]


def import_(
    source: Source,
    to: To = None,
    files: Files = None,
    image: Image = "",
    force: Force = False,
    strict: Strict = False,
    json: JsonOption = False,
) -> None:
    """Import tasks of CRAB or OSWorld from your copy of their files.

    Each file is imported whole or in part, or refused; the report says what is missing and why.
    Importing again changes only what has changed, and nothing that you changed.
    """
    from controller.importing.fixtures import Fixtures
    from controller.importing.importer import import_tasks
    from controller.importing.report import IMPORTED

    with progress() as shown:
        task = shown.add_task("reading tasks", total=None)
        report = import_tasks(
            source,
            to,
            fixtures=Fixtures(files),
            image=image,
            force=force,
            on_file=lambda name: shown.update(task, advance=1, description=name),
        )
    if json:
        print_json(report.data)
    else:
        _print(report, to)
    has_task = any(result.status in IMPORTED for result in report.results)
    if not has_task or (strict and not report.is_whole):
        raise typer.Exit(1)


def _has(status: Status, result: FileResult) -> bool:
    return result.status is status


def _print(report: ImportReport, to: Path | None) -> None:
    from rich.table import Table

    from controller.importing.report import KINDS, Status, count_reasons, count_statuses

    out = console_out()
    for result in report.results:
        out.print(f"{result.status.value:9} {result.file}", markup=False, soft_wrap=True)
        for reason in result.reasons:
            out.print(f"          {reason.kind}: {reason.text}", markup=False, soft_wrap=True)
    table = Table("status", "files")
    for status, count in count_statuses(report.results).items():
        table.add_row(status, str(count))
    print_table(table)
    for status in (Status.PART, Status.REFUSED):
        counts = count_reasons(report.results, partial(_has, status))
        if counts:
            reasons = Table(f"{status.value}, because", "files")
            for kind, count in counts.items():
                reasons.add_row(KINDS[kind], str(count))
            print_table(reasons)
    if to is not None and (report.written or report.unchanged or report.removed):
        parts = [f"{len(report.written)} files written", f"{report.unchanged} unchanged"]
        if report.kept:
            parts.append(f"{len(report.kept)} kept as you changed them")
        if report.removed:
            parts.append(f"{len(report.removed)} removed")
        say(f"suite {to}: {', '.join(parts)}")
