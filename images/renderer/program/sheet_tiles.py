"""Tiles of a sheet: ranges of cells of a fixed size, each of which is one page of a print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.sheet_objects import shapes_of

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_LINES = 300
"""Rows or columns of a tile, if they are hidden or tiny."""


@dataclass(frozen=True)
class Tile:
    """A range of cells on one page of the print."""

    sheet: str
    first_column: int
    first_row: int
    last_column: int
    last_row: int
    left_mm: float
    top_mm: float


def keep_heights(sheet: Any, tile: Tile) -> None:  # noqa: ANN401 - UNO has no types
    """Let rows keep their heights when a cell shows nothing; else all below it would move."""
    for number in range(tile.first_row, tile.last_row + 1):
        row = sheet.Rows.getByIndex(number)
        if row.IsVisible:
            row.Height = row.Height


def cut(position_of: Callable[[int], int], line: int, size_mm: float) -> tuple[int, int]:
    """Return the first and last row or column of the tile that a row or column belongs to.

    Tile number n has those that begin at n times its size or later, and before the next tile.
    """
    size = size_mm * 100
    number = int(position_of(line) // size)
    return (
        first_from(position_of, number * size, line),
        first_from(position_of, (number + 1) * size, line + _MOST_LINES) - 1,
    )


def first_from(position_of: Callable[[int], int], offset: float, last: int) -> int:
    """Return the first row or column up to the last that begins at an offset or later."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if position_of(middle) >= offset:
            high = middle
        else:
            low = middle + 1
    return low


def cell_at(sheet: Any, position: Any) -> tuple[int, int]:  # noqa: ANN401 - UNO has no types
    """Return column and row of the cell at a position."""
    columns, rows = sheet.Columns.Count - 1, sheet.Rows.Count - 1
    column = first_from(
        lambda at: sheet.getCellByPosition(at, 0).Position.X, position.X + 1, columns
    )
    row = first_from(lambda at: sheet.getCellByPosition(0, at).Position.Y, position.Y + 1, rows)
    return max(0, column - 1), max(0, row - 1)


def range_of(sheet: Any, tile: Tile) -> Any:  # noqa: ANN401 - UNO has no types
    """Return the address of a tile's cells."""
    return sheet.getCellRangeByPosition(
        tile.first_column, tile.first_row, tile.last_column, tile.last_row
    ).RangeAddress


def extent_of(sheet: Any) -> tuple[int, int]:  # noqa: ANN401 - UNO has no types
    """Return the last column and row that have cells, formats or objects."""
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    used = cursor.RangeAddress
    ends = [(used.EndColumn, used.EndRow)]
    ends += [cell_at(sheet, end_of(shape)) for shape in shapes_of(sheet.DrawPage)]
    return max(column for column, _ in ends), max(row for _, row in ends)


def end_of(shape: Any) -> Any:  # noqa: ANN401 - UNO has no types
    """Return the lower right corner of a shape."""
    across, down = (
        shape.Position.X + shape.Size.Width,
        shape.Position.Y + shape.Size.Height,
    )
    return uno.createUnoStruct("com.sun.star.awt.Point", across, down)


def fit_rows(sheet: Any, last_row: int, tiles: int) -> None:  # noqa: ANN401 - UNO has no types
    """Give rows without a height of their own the one that LibreOffice gives them when it edits them.

    Files of other programs have a default height, which the first edit in LibreOffice replaces.

    Args:
        sheet: the sheet.
        last_row: its last row with content.
        tiles: number of tiles that are printed at most.
    """
    rows = sheet.Rows
    for number in range(min(last_row + 1, tiles * _MOST_LINES)):
        row = rows.getByIndex(number)
        if row.OptimalHeight and row.IsVisible:
            row.OptimalHeight = True
