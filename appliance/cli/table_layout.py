"""Lay out tables to fit a terminal without truncating words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

_UNLIMITED_COLUMNS = 10_000
_READABLE = 24
"""Minimum width of a column whose cells wrap."""
_INDENT = 4


class Layout(NamedTuple):
    """The parts to print in order, and their width in terminal columns."""

    parts: list[RenderableType]
    width: int


class _Span(NamedTuple):
    """Widths of a column: of its longest word, readable, and with every cell on one line."""

    least: int
    readable: int
    most: int


def lay_out(table: Table, console: Console) -> Layout:
    """Lay out a table for a console; may modify the table.

    If the table does not fit, it gets no borders, and cells wrap between words, starting with the
    last columns. If that is not enough, the last columns move below their row, each with its title.
    A single word that is longer than the console's width is not broken.
    """
    if _width(table, console) <= console.width:
        return Layout([table], console.width)
    table.box, table.padding, table.pad_edge = None, (0, 1, 0, 0), False
    total = _width(table, console)
    if total <= console.width:
        return Layout([table], console.width)
    spans = [_span(column, console) for column in table.columns]
    gap = 1
    shown = len(spans)
    while shown > 1 and sum(span.readable + gap for span in spans[:shown]) > console.width:
        shown -= 1
    width = _set_widths(table.columns[:shown], spans[:shown], gap, console.width)
    if shown == len(spans):
        return Layout([table], width)
    return _rows_in_two(table, shown, console, width)


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(width=_UNLIMITED_COLUMNS), table).maximum


def _span(column: Column, console: Console) -> _Span:
    options = console.options.update(width=_UNLIMITED_COLUMNS)
    cells = [Measurement.get(console, options, cell) for cell in (column.header, *column.cells)]
    most = max(cell.maximum for cell in cells)
    least = most if column.no_wrap else max(cell.minimum for cell in cells)
    return _Span(least, max(least, min(most, _READABLE)), most)


def _set_widths(columns: Sequence[Column], spans: Sequence[_Span], gap: int, width: int) -> int:
    """Set the widths of columns, giving spare width to the first ones; return the total."""
    spare = max(0, width - sum(extent.readable + gap for extent in spans))
    for column, span in zip(columns, spans, strict=True):
        growth = min(span.most - span.readable, spare)
        spare -= growth
        column.width, column.no_wrap, column.overflow = span.readable + growth, False, "fold"
    return max(width, sum((column.width or 0) + gap for column in columns))


def _rows_in_two(table: Table, shown: int, console: Console, width: int) -> Layout:
    """Lay out each row's first cells as a row, and the others below it with their titles."""
    columns, others = table.columns[:shown], table.columns[shown:]
    below = [_below(others, row) for row in range(table.row_count)]
    options = console.options.update(width=_UNLIMITED_COLUMNS)
    longest = max((Measurement.get(console, options, text).minimum for text in below), default=0)
    width = max(width, longest + _INDENT)
    parts: list[RenderableType] = []
    if table.title:
        parts.append(table.title)
    if table.show_header:
        parts.append(_one_row(columns, [column.header for column in columns], bold=True))
    for row, text in enumerate(below):
        parts.append(_one_row(columns, [list(column.cells)[row] for column in columns]))
        if text.plain:
            parts.append(Padding(text, (0, 0, 0, _INDENT)))
    if table.caption:
        parts.append(table.caption)
    return Layout(parts, width)


def _one_row(
    columns: Sequence[Column], cells: Sequence[RenderableType], *, bold: bool = False
) -> Table:
    row = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        style = "bold" if bold else column.style
        row.add_column(width=column.width, justify=column.justify, overflow="fold", style=style)
    row.add_row(*cells)
    return row


def _below(columns: Sequence[Column], row: int) -> Text:
    """Return the nonempty cells that do not fit in a row, each with its title."""
    parts = []
    for column in columns:
        cell, title = list(column.cells)[row], _as_text(column.header)
        if (text := _as_text(cell)).plain:
            parts.append(Text.assemble((title.plain + ": ", "dim"), text) if title.plain else text)
    return Text(" · ").join(parts)


def _as_text(cell: RenderableType) -> Text:
    """Return the styled text of a cell, which is text or markup."""
    return cell if isinstance(cell, Text) else Text.from_markup(str(cell))
