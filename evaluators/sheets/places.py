"""Places in workbooks: names of cells and ranges, and sheets and cells that are not hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.sheets import Cell, Sheet

T = TypeVar("T")
RANGE_PATTERN = r"^[A-Z]{1,3}[1-9][0-9]{0,6}(:[A-Z]{1,3}[1-9][0-9]{0,6})?$"


def shown_sheet(view: MachineView, path: str, name: str) -> Sheet | None:
    """Return a sheet of a workbook that is not hidden; None if there is none.

    Args:
        view: the machine.
        path: path of the workbook.
        name: name of the sheet; empty for the first shown one.
    """
    book = view.workbook(path)
    tab = book.sheet(name) if book is not None else None
    return tab if tab is not None and tab.is_shown else None


def shown_cell(view: MachineView, path: str, sheet: str, name: str) -> tuple[Sheet, Cell] | None:
    """Return a filled cell that is not hidden, with its sheet; None if there is none."""
    tab = shown_sheet(view, path, sheet)
    cell = tab.cell(name) if tab is not None else None
    if tab is None or cell is None:
        return None
    return (tab, cell) if tab.is_open(cell.row, cell.column) else None


def spot_of(name: str) -> tuple[int, int]:
    """Return row and column of a cell, from 0."""
    letters = name.rstrip("0123456789")
    return int(name.removeprefix(letters)) - 1, column_number(letters)


def column_number(letters: str) -> int:
    """Return the number of a column, from 0, by its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def column_letters(number: int) -> str:
    """Return the letters of a column by its number, from 0."""
    name, number = "", number + 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def name_of(row: int, column: int) -> str:
    """Return the name of a cell by its row and column, from 0."""
    return f"{column_letters(column)}{row + 1}"


def cells_of(first: str, rows: Sequence[Sequence[T]]) -> Iterator[tuple[str, T]]:
    """Yield the names of the cells of a block, with the values in it.

    Args:
        first: the block's upper left cell.
        rows: values by row.
    """
    top, left = spot_of(first)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            yield name_of(top + row, left + column), value


def cells_in(area: str) -> list[str]:
    """Return the names of the cells of a range, such as ``A1:B3`` or ``A1``, row by row."""
    first, _, last = ordered(area).partition(":")
    (top, left), (bottom, right) = spot_of(first), spot_of(last)
    return [
        name_of(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)
    ]


def is_hidden(tab: Sheet, area: str) -> bool:
    """Return whether a row or column of a range is hidden, or kept off the window."""
    return any(not tab.is_open(*spot_of(name)) for name in cells_in(area))


def ordered(area: str) -> str:
    """Return a range, or a cell, as its upper left and its lower right cell."""
    first, _, last = area.upper().replace("$", "").partition(":")
    corners = [spot_of(first), spot_of(last or first)]
    rows, columns = zip(*corners, strict=True)
    return f"{name_of(min(rows), min(columns))}:{name_of(max(rows), max(columns))}"


def qualified(area: str, own: str) -> str:
    """Return a range as ``Sheet!A1:A2``, without quotes and ``$``.

    Args:
        area: range of this or another sheet; its name ends with ``!``, or with ``.`` as in LibreOffice.
        own: name of this sheet.
    """
    plain = area.replace("$", "").replace("'", "")
    if match := re.fullmatch(r"(?:(.*)[!.])?([A-Za-z]+\d+(?::[A-Za-z]+\d+)?)", plain):
        return f"{match[1] or own}!{ordered(match[2])}"
    return plain
