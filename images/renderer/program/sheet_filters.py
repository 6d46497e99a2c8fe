"""The buttons of filters, which the screen draws over the end of their cells, and a print leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from images.renderer.program.pages import DPI, Box

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SIZE_MM = 18 / DPI * 25.4
"""Width and height of a button, at any zoom; at most half the width of the cell."""
_MARGINS_MM = 1.6
"""What a cell has at both ends of its text, with what fonts have there, and with rounding to pixels."""
_NARROWING = 0.96
"""Width of columns on the screen, compared with texts, which LibreOffice fits to its printer."""
_RIGHT_TO_LEFT = 1
"""Source: com.sun.star.text.WritingMode2.RL_TB."""
Spot = tuple[int, int]


@dataclass(frozen=True)
class FilterButton:
    """The button of a cell's filter.

    Attributes:
        width_mm: width of the cell.
        height_mm: height of the cell.
        size_mm: width and height of the button, if the cell has place for it.
        makes_room: whether the screen draws the text beside it, if both fit.
        needs_room: whether a text that does not fit is replaced, as numbers are.
    """

    width_mm: float
    height_mm: float
    size_mm: float
    makes_room: bool
    needs_room: bool

    def covers(self, cell: Box, letters: Sequence[Box]) -> bool:
        """Return whether letters are under the button, or replaced because of it.

        Args:
            cell: place of the cell.
            letters: places of its letters in a print.
        """
        if not letters:
            return False
        size = max(box.right for box in letters) - min(box.left for box in letters)
        is_fitting = size + _MARGINS_MM + self.size_mm <= self.width_mm * _NARROWING
        if self.needs_room or (self.makes_room and is_fitting):
            return not is_fitting
        right, bottom = cell.left + self.width_mm, cell.top + self.height_mm
        left = right - min(self.size_mm / _NARROWING, self.width_mm / 2)
        own = Box(cell.page, left, bottom - min(self.size_mm, self.height_mm), right, bottom)
        return any(map(own.overlaps, letters))


def button_of(cell: Any, zoom_percent: int, *, is_merged: bool) -> FilterButton:  # noqa: ANN401
    """Return the button of a cell that has one.

    Args:
        cell: the cell.
        zoom_percent: zoom of its window; buttons do not become smaller.
        is_merged: whether it is merged with others.
    """
    is_plain = not is_merged and not cell.IsTextWrapped and cell.RotateAngle == 0
    return FilterButton(
        cell.Columns.getByIndex(0).Width / 100,
        cell.Rows.getByIndex(0).Height / 100,
        _SIZE_MM * 100 / min(max(zoom_percent, 1), 100),
        makes_room=is_plain,
        needs_room=is_plain and cell.Type.value != "TEXT",
    )


def is_mirrored(sheet: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Return whether the columns of a sheet run from right to left."""
    return bool(sheet.TableLayout == _RIGHT_TO_LEFT)


def filtered_cells(document: Any, number: int) -> set[Spot]:  # noqa: ANN401 - UNO has no types
    """Return row and column of the cells of a sheet that have the button of a filter.

    Args:
        document: the workbook.
        number: number of the sheet, from 0.
    """
    return {
        (area.StartRow, column)
        for area in _areas(document, number)
        if area.Sheet == number
        for column in range(area.StartColumn, area.EndColumn + 1)
    }


def _areas(document: Any, number: int) -> Iterator[Any]:  # noqa: ANN401 - UNO has no types
    named = document.DatabaseRanges
    unnamed = document.getPropertyValue(
        "UnnamedDatabaseRanges"
    )  # which its list of properties lacks
    found = [named.getByIndex(at) for at in range(named.Count)]
    if unnamed.hasByTable(number):
        found.append(unnamed.getByTable(number))
    for one in found:
        if one.AutoFilter:
            yield one.DataArea
