"""``mesocosm compare``: compare two runs task by task."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from appliance.cli.output import JsonOption, console_out, print_json, print_table, say
from appliance.cli.results import SuiteOption, runs

if TYPE_CHECKING:
    from controller.comparison.comparison import RunComparison
    from controller.comparison.lines import Breakdown
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from evaluators.metrics.intervals import Comparison

First = Annotated[
    str, typer.Argument(help="Id of a run, latest, or latest:SUITE,AGENT.", autocompletion=runs)
]
Second = Annotated[str, typer.Argument(help="Another run of the suite.", autocompletion=runs)]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Refuse runs with different recipes, accelerators or code."),
]
FormatOption = Annotated[
    Literal["table", "md", "csv", "json", "html"],
    typer.Option("--format", help="html: a single file with charts."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", dir_okay=False, help="File to write to; standard output by default."
    ),
]


_DIGEST = re.compile(r"\b[0-9a-f]{40,64}\b")
_DIGEST_CHARS = 12


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    first: First,
    second: Second,
    strict: StrictOption = False,
    suite: SuiteOption = "",
    format: FormatOption = "table",  # noqa: A002 - the option's name
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs on the tasks that they share; differences are second minus first.

    Compares all shared tasks together, and by task, application, complexity, capability, reason
    and cost.
    """
    from controller.comparison.comparison import compare_runs
    from controller.comparison.lines import break_down
    from controller.store.runs import Store
    from foundation.errors import UsageError
    from foundation.settings import get_settings

    chosen = "json" if json else format
    if output is not None and chosen == "table":
        raise UsageError(
            "A table cannot be written to a file.", resolution="Use --format with --output."
        )
    store = Store(get_settings().runs_dir)
    ours, theirs = store.open(first), store.open(second)
    comparison = compare_runs(ours, theirs, strict=strict)
    breakdown = break_down(ours, theirs, comparison, _suite_of(ours, suite))
    if chosen == "table":
        _print(comparison, breakdown)
    elif output is not None:
        _write(output, _text(comparison, breakdown, chosen))
    elif chosen == "json":
        print_json(comparison.to_dict() | breakdown.to_dict())
    else:
        typer.echo(_text(comparison, breakdown, chosen), nl=False)


def _suite_of(folder: RunFolder, reference: str) -> Suite | None:
    """Return the suite of a run; None if no suite was given and the run's own is not found."""
    from controller.wiring import open_suite_of
    from foundation.errors import UnknownNameError

    try:
        return open_suite_of(folder.spec, reference)
    except UnknownNameError:
        if reference:
            raise
        return None


def _text(comparison: RunComparison, breakdown: Breakdown, chosen: str) -> str:
    import json

    from controller.comparison.page import to_html
    from controller.comparison.text import to_csv, to_markdown

    if chosen == "json":
        return json.dumps(comparison.to_dict() | breakdown.to_dict(), indent=2) + "\n"
    writers = {"md": to_markdown, "csv": to_csv, "html": to_html}
    return writers[chosen](comparison, breakdown)


def _write(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        UsageError: it cannot be written.
    """
    from foundation.errors import UsageError
    from foundation.files import write_atomic

    try:
        write_atomic(path, text)
    except OSError as exc:
        raise UsageError(f"Cannot write {path}.", details=str(exc)) from exc
    say(f"Wrote {path}.")


def _print(comparison: RunComparison, breakdown: Breakdown) -> None:
    from rich.table import Table

    from controller.comparison.text import HEADER, cells

    title = f"{comparison.first} against {comparison.second}"
    lines = [f"warning: {warning}" for warning in comparison.warnings]
    lines += [f"left out: {task}: {reason}" for task, reason in comparison.left_out.items()]
    for line in lines:
        console_out().print(line, markup=False)
    table = Table("compared", "first", "second", title=title)
    for difference in comparison.differences:
        table.add_row(difference.name, _shown(difference.first), _shown(difference.second))
    print_table(table)
    for name, rows in breakdown.sections():
        table = Table(*HEADER, title=name)
        for row in rows:
            table.add_row(*cells(row))
        print_table(table)
    lines = [*breakdown.notes]
    lines.append(f"tasks compared: {', '.join(comparison.tasks)}")
    lines.append(f"SR {_figure(comparison.success_rate)}")
    lines.append(f"CR {_figure(comparison.completion_ratio)}")
    for line in lines:
        console_out().print(line, markup=False)


def _shown(value: object) -> str:
    """Return a value as text, with digests shortened (--json prints them in full)."""
    text = "-" if value is None or value == "" else str(value)
    return _DIGEST.sub(lambda match: match[0][:_DIGEST_CHARS], text)


def _figure(row: Comparison) -> str:
    if row.difference is None:
        return "-"
    interval = (
        "" if row.interval is None else f" (95 %: {row.interval[0]:+.3f} to {row.interval[1]:+.3f})"
    )
    chance = "" if row.p_value is None else f", p {row.p_value:.3g}"
    return f"{row.difference:+.3f}{interval}{chance}, better {row.better}, worse {row.worse}"
