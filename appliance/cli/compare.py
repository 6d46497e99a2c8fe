"""``mesocosm compare``: compare two runs task by task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_out, print_json, print_table
from appliance.cli.results import runs

if TYPE_CHECKING:
    from controller.store.comparison import RunComparison
    from evaluators.metrics.intervals import Comparison

First = Annotated[
    str, typer.Argument(help="Id of a run, latest, or latest:SUITE,AGENT.", autocompletion=runs)
]
Second = Annotated[str, typer.Argument(help="Another run of the suite.", autocompletion=runs)]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Refuse runs of different recipes, accelerators or code."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    first: First, second: Second, strict: StrictOption = False, json: JsonOption = False
) -> None:
    """Compare two runs on the tasks that are the same in both; figures are second less first."""
    from appliance.base.settings import get_settings
    from controller.store.comparison import compare_runs
    from controller.store.runs import Store

    store = Store(get_settings().runs_dir)
    comparison = compare_runs(store.open(first), store.open(second), strict=strict)
    if json:
        print_json(comparison.to_dict())
    else:
        _print(comparison)


def _print(comparison: RunComparison) -> None:
    from rich.table import Table

    title = f"{comparison.first} against {comparison.second}"
    table = Table("compared", "first", "second", title=title)
    for difference in comparison.differences:
        table.add_row(difference.name, _shown(difference.first), _shown(difference.second))
    print_table(table)
    lines = [f"warning: {warning}" for warning in comparison.warnings]
    lines += [f"left out: {task}: {reason}" for task, reason in comparison.left_out.items()]
    lines.append(f"tasks compared: {', '.join(comparison.tasks) or 'none'}")
    lines.append(f"SR {_figure(comparison.success_rate)}")
    lines.append(f"CR {_figure(comparison.completion_ratio)}")
    for line in lines:
        console_out().print(line, markup=False, soft_wrap=True)


def _shown(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def _figure(row: Comparison) -> str:
    if row.difference is None:
        return "-"
    interval = (
        "" if row.interval is None else f" (95 %: {row.interval[0]:+.3f} to {row.interval[1]:+.3f})"
    )
    chance = "" if row.p_value is None else f", p {row.p_value:.3g}"
    return f"{row.difference:+.3f}{interval}{chance}, better {row.better}, worse {row.worse}"
