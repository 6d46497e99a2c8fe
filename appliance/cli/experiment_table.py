"""The tables of an experiment, for a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from appliance.cli.output import console_out, print_table

if TYPE_CHECKING:
    from controller.experiments.figures import Figures
    from controller.experiments.report import ExperimentReport, RowReport

_LEGEND = (
    "% of trials; each task counts once. FC false completion, RSL step limit, IA invalid action, "
    "AF active finish (no limit and no fault ended the trial)"
)


def print_experiment(report: ExperimentReport) -> None:
    """Print the figures of all rows, AgentStudio's failure modes, and the figures by platform."""
    print_table(_rates(report))
    out = console_out()
    legend = _LEGEND + ("; (?) inconclusive" if report.inconclusive else "")
    out.print(legend, markup=False)
    out.print()
    print_table(_modes(report))
    if len(report.platforms) > 1:
        out.print()
        print_table(_platforms(report))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("row", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _rates(report: ExperimentReport) -> Table:
    record = report.record
    title = f"{record.id} · {record.suite.name} {record.suite.version} · {record.fleet} machines"
    table = _table(title, "trials", "SR", "CR", "EE", "CE", "FC", "RSL", "IA", "AF")
    for row in report.all_rows:
        metrics, ends = row.figures.metrics, row.figures.endings
        table.add_row(
            Text(row.name),
            _count(row),
            percent(metrics.success_rate),
            percent(metrics.completion_ratio),
            percent(metrics.execution_efficiency),
            scientific(metrics.cost_efficiency),
            whole(ends.get("false_completion")),
            whole(ends.get("step_limit")),
            whole(row.figures.invalid_action),
            whole(row.figures.active_finish),
        )
    return table


def _modes(report: ExperimentReport) -> Table:
    table = _table(
        "how trials fail", "false finish", "parse error", "steps", "time", "repeated", "other"
    )
    for row in report.all_rows:
        ends = row.figures.endings
        other = None
        if ends:
            other = ends["other"] + ends["invalid_action"]
        table.add_row(
            Text(row.name),
            whole(ends.get("false_completion")),
            whole(ends.get("parse_error")),
            whole(ends.get("step_limit")),
            whole(ends.get("time_limit")),
            whole(ends.get("repetition_limit")),
            whole(other),
        )
    return table


def _platforms(report: ExperimentReport) -> Table:
    columns = [f"{name}\n{figure}" for name in report.platforms for figure in ("SR", "CR")]
    table = _table("by platform", *columns)
    for row in report.all_rows:
        parts = [row.platforms.get(name) for name in report.platforms]
        table.add_row(Text(row.name), *(cell for part in parts for cell in _pair(part)))
    return table


def _pair(figures: Figures | None) -> tuple[str, str]:
    if figures is None:
        return "-", "-"
    return whole(figures.metrics.success_rate), whole(figures.metrics.completion_ratio)


def _count(row: RowReport) -> str:
    """Return the number of trials; how many of them ended, if some did not."""
    left = row.planned != row.ended
    invalid = row.figures.metrics.inconclusive
    text = f"{row.ended}/{row.planned}" if left else str(row.ended)
    return f"{text} ({invalid}?)" if invalid else text


def percent(ratio: float | None) -> str:
    """Format a ratio as a percentage with one decimal, without its sign; None as a dash."""
    return "-" if ratio is None else f"{100 * ratio:.1f}"


def whole(ratio: float | None) -> str:
    """Format a ratio as a whole percentage, without its sign; None as a dash."""
    return "-" if ratio is None else f"{100 * ratio:.0f}"


def scientific(ratio: float | None) -> str:
    """Format a small ratio as a percentage in scientific form; None as a dash, nothing met as 0."""
    if not ratio:
        return "-" if ratio is None else "0"
    return f"{100 * ratio:.1e}"
