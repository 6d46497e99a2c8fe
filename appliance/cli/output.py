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

    from appliance.base.errors import MesocosmError

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON alone on standard output, for machines.")
]
"""Type of the ``--json`` parameter of every command a machine may read."""


@cache
def console_err() -> Console:
    """Give the console for progress, warnings and errors: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@cache
def console_out() -> Console:
    """Give the console for results: standard output."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document and a newline on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def say(words: str) -> None:
    """Print one line on standard error; nothing in it is read as markup."""
    console_err().print(words, markup=False)


def print_error(error: MesocosmError) -> None:
    """Print an error as brief, details and resolution; its text is never read as markup."""
    from rich.text import Text

    console = console_err()
    console.print(Text.assemble(("error: ", "bold red"), (error.brief, "bold")), soft_wrap=True)
    if error.details:
        console.print(Text(error.details, style="dim"), soft_wrap=True)
    if error.resolution:
        console.print(Text.assemble(("→ ", "green"), error.resolution), soft_wrap=True)


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
