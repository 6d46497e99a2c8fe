"""Render a comparison of two runs as Markdown or CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from typing import TYPE_CHECKING

from controller.comparison.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.comparison.comparison import RunComparison
    from controller.comparison.lines import Breakdown

HEADER = ("", "tasks", "first", "second", "difference", "95 %", "p")


def cells(line: Line) -> tuple[str, ...]:
    """Return the cells of a line as text, one for each column of `HEADER`."""
    interval = "" if line.low is None else f"{line.low:+.3g} to {line.high:+.3g}"
    return (
        line.name,
        "" if line.tasks is None else str(line.tasks),
        figure(line.first),
        figure(line.second),
        "" if line.difference is None else f"{line.difference:+.4g}",
        interval,
        "" if line.p is None else f"{line.p:.3g}",
    )


def figure(value: float | None) -> str:
    """Return a figure as text."""
    return "-" if value is None else f"{value:.4g}"


def facts(comparison: RunComparison, breakdown: Breakdown) -> list[str]:
    """Return the caveats of a comparison, one sentence each."""
    return [
        *(f"Warning: {warning}" for warning in comparison.warnings),
        *(f"Left out: {task}: {reason}" for task, reason in comparison.left_out.items()),
        *breakdown.notes,
    ]


def to_markdown(comparison: RunComparison, breakdown: Breakdown) -> str:
    """Return a comparison as Markdown."""
    parts = [f"# {comparison.first} versus {comparison.second}", _compared(comparison)]
    if rows := facts(comparison, breakdown):
        parts.append("\n".join(f"* {_escaped(row)}" for row in rows))
    for title, lines in breakdown.sections():
        parts.append(f"## {title.capitalize()}")
        parts.append(_table(HEADER, map(cells, lines)))
    return "\n\n".join(parts) + "\n"


def _compared(comparison: RunComparison) -> str:
    rows = ((row.name, _shown(row.first), _shown(row.second)) for row in comparison.differences)
    return _table(("compared", comparison.first, comparison.second), rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _shown(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def to_csv(comparison: RunComparison, breakdown: Breakdown) -> str:
    """Return the lines of a comparison as CSV; missing figures are empty cells."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    names = [field.name for field in fields(Line)]
    writer.writerow(["first_run", "second_run", *names])
    for line in breakdown.lines:
        values = [getattr(line, name) for name in names]
        writer.writerow([comparison.first, comparison.second, *values])
    return buffer.getvalue()
