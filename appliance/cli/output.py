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

    from appliance.base.errors import MesocosmError
    from controller.store.report import Report

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON alone on standard output, for machines.")
]
"""Type of the ``--json`` parameter of every command a machine may read."""

_UNLIMITED_COLUMNS = 10_000


@cache
def console_err() -> Console:
    """Return the console for progress, warnings and errors: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@cache
def console_out() -> Console:
    """Return the console for results: standard output."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document and a newline on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def say(message: str) -> None:
    """Print one line on standard error; nothing in it is read as markup."""
    console_err().print(message, markup=False)


def print_error(error: MesocosmError) -> None:
    """Print an error as brief, details and resolution; its text is never read as markup."""
    from rich.text import Text

    console = console_err()
    console.print(Text.assemble(("error: ", "bold red"), (error.brief, "bold")), soft_wrap=True)
    if error.details:
        console.print(Text(error.details, style="dim"), soft_wrap=True)
    if error.resolution:
        console.print(Text.assemble(("→ ", "green"), error.resolution), soft_wrap=True)


def print_table(table: Table) -> None:
    """Print a table on standard output and never cut a word of it.

    Where it does not fit the terminal, or COLUMNS where there is none, it has no borders, and cells
    wrap between words, the last columns first; where that is not enough, lines grow longer than the
    terminal is wide. Identifiers stay whole.
    """
    from rich.console import Console
    from rich.measure import Measurement

    console = console_out()
    if (
        Measurement.get(console, console.options.update(width=_UNLIMITED_COLUMNS), table).maximum
        > console.width
    ):
        table.box, table.padding, table.pad_edge = None, (0, 1, 0, 0), False
    width = _fit_columns(table, console)
    if width > console.width:
        console = Console(width=width, highlight=False)
    console.print(table)


def print_report(report: Report) -> None:
    """Print the trials of a run and what follows from them on standard output."""
    print_table(report.table())
    console_out().print(report.summary(), markup=False)


def _fit_columns(table: Table, console: Console) -> int:
    """Set the widths of a table's columns where they do not fit; return the table's width."""
    from rich.measure import Measurement

    options = console.options.update(width=_UNLIMITED_COLUMNS)
    total = Measurement.get(console, options, table).maximum
    if total <= console.width:
        return total
    spans = [
        [Measurement.get(console, options, cell) for cell in (column.header, *column.cells)]
        for column in table.columns
    ]
    wanted = [max(cell.maximum for cell in cells) for cells in spans]
    least = [
        most if column.no_wrap else max(cell.minimum for cell in cells)
        for column, cells, most in zip(table.columns, spans, wanted, strict=True)
    ]
    borders = total - sum(wanted)
    spare = max(0, console.width - borders - sum(least))
    for column, low, high in zip(table.columns, least, wanted, strict=True):
        growth = min(high - low, spare)
        spare -= growth
        column.width, column.no_wrap, column.overflow = low + growth, False, "fold"
    return borders + sum(column.width or 0 for column in table.columns)


def progress() -> Progress:
    """Make a progress display on standard error; where that is no terminal it stays silent.

    Use it as a context manager; ``add_task(description, total=None)`` gives a spinner,
    a total gives a bar.
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
