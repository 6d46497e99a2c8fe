"""Print results on standard output and everything else on standard error."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from controller.store.report import Report
    from foundation.errors import MesocosmError

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
"""Type of the ``--json`` parameter of every command with machine-readable output."""


@cache
def console_err() -> Console:
    """Return the console for progress, warnings and errors: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


@cache
def console_out() -> Console:
    """Return the console for results: standard output."""
    from rich.console import Console

    return Console(highlight=False, emoji=False)


def print_json(value: object) -> None:
    """Print one JSON document and a newline on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def say(message: str) -> None:
    """Print one line on standard error, without interpreting markup."""
    console_err().print(message, markup=False)


def print_error(error: MesocosmError) -> None:
    """Print an error as brief, details and resolution, without interpreting markup."""
    from rich.text import Text

    console = console_err()
    console.print(Text.assemble(("error: ", "bold red"), (error.brief, "bold")), soft_wrap=True)
    if error.details:
        console.print(Text(error.details, style="dim"), soft_wrap=True)
    if error.resolution:
        console.print(Text.assemble(("→ ", "green"), error.resolution), soft_wrap=True)


def print_table(table: Table) -> None:
    """Print a table on standard output without truncating words or identifiers.

    Its width is that of the terminal, or COLUMNS if there is none; see `table_layout.lay_out`.
    """
    from rich.console import Console

    from appliance.cli.table_layout import lay_out

    console = console_out()
    parts, width = lay_out(table, console)
    if width > console.width:
        console = Console(width=width, highlight=False, emoji=False)
    for part in parts:
        console.print(part)


def print_report(report: Report) -> None:
    """Print the trials of a run and their summary on standard output."""
    from appliance.cli.trials_table import trials_table

    print_table(trials_table(report))
    console_out().print(report.summary(), markup=False)


def progress() -> Progress:
    """Create a progress display on standard error, silent if that is not a terminal.

    Use it as a context manager; ``add_task(description, total=None)`` shows a spinner,
    a total shows a bar.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = console_err()
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
