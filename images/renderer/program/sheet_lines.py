"""Lines of asked cells in their print, whose letters the host reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pypdfium2

from images.renderer.program.drawn_text import make_line
from images.renderer.program.letters import Letter, lines_of, text_of
from images.renderer.program.pages import around, points_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from images.renderer.program.sheet_drawn import Character
    from images.renderer.program.sheet_letters import AskedCell

MAX_LINES = 100
"""Lines of cells that are read of a workbook; those of cells with something else in their place first."""
_INSET_MM = 0.1
_CUT_MM = 0.1


def border_mm(sheet: Any, area: Any) -> float:  # noqa: ANN401 - UNO has no types
    """Return how far the borders of a cell reach into it.

    Args:
        sheet: its sheet.
        area: its address, or that of the merged cells.
    """
    left, right, top, bottom = area.StartColumn, area.EndColumn, area.StartRow, area.EndRow
    sides = (
        (left, top, "LeftBorder2"),
        (left - 1, top, "RightBorder2"),
        (right, top, "RightBorder2"),
        (right + 1, top, "LeftBorder2"),
        (left, top, "TopBorder2"),
        (left, top - 1, "BottomBorder2"),
        (left, bottom, "BottomBorder2"),
        (left, bottom + 1, "TopBorder2"),
    )
    columns, rows = sheet.Columns.Count, sheet.Rows.Count
    widths = (
        getattr(sheet.getCellByPosition(column, row), name).LineWidth
        for column, row, name in sides
        if 0 <= column < columns and 0 <= row < rows
    )
    return float(_INSET_MM + max(widths) / 200)


def lines_of_cells(path: Path, cells: Sequence[AskedCell]) -> list[list[dict[str, Any]]]:
    """Return the lines of each cell, as `attach_readings` takes them.

    Args:
        path: the print in which the cells are drawn.
        cells: the cells.
    """
    with pypdfium2.PdfDocument(path) as pdf:
        pages = {box.page for cell in cells for box in cell.boxes}
        contents = {page: (pdf[page].get_textpage(), pdf[page].get_height()) for page in pages}
        found = [_lines(cell, *contents[cell.boxes[0].page]) for cell in cells]
    suspects = [[row for row in rows if not row["is_clean"]] for rows in found]
    is_too_much = sum(map(len, found)) > MAX_LINES and any(suspects)
    return suspects if is_too_much else found


def _lines(cell: AskedCell, content: Any, height: float) -> list[dict[str, Any]]:  # noqa: ANN401
    inside, outside = cell.inside(), around(cell.boxes)
    within = replace(inside, top=outside.top, bottom=outside.bottom)
    if cell.is_clean and _is_cut(cell):
        return []  # a low row, of which little can be read
    found = []
    for letters in lines_of(_whole_letters(cell, height)):
        line = make_line(0, text_of(letters), letters, content, height)
        line = replace(line, within=within, context=cell.shown)
        found.append({"line": line, "is_clean": cell.is_clean and not line.has_symbols})
    return found


def _is_cut(cell: AskedCell) -> bool:
    """Return whether letters of a cell reach above or below it, where they are cut off."""
    place = around(cell.boxes)
    return any(
        letter.box.top < place.top - _CUT_MM or letter.box.bottom > place.bottom + _CUT_MM
        for letter in cell.letters
        if not letter.text.isspace()
    )


def _whole_letters(cell: AskedCell, height: float) -> list[Letter]:
    """Return the letters of a cell without those at which its text is cut off, which may be half of them."""
    letters = [_letter(letter, height) for letter in cell.letters if not letter.text.isspace()]
    words = "".join(cell.shown.split())
    drawn = "".join(letter.character for letter in letters)
    start = words.find(drawn)
    if start < 0 or drawn == words:
        return letters
    return letters[start > 0 : len(letters) - (start + len(drawn) < len(words))]


def _letter(letter: Character, height: float) -> Letter:
    box = letter.box
    sides = (
        points_of(box.left),
        height - points_of(box.bottom),
        points_of(box.right),
        height - points_of(box.top),
    )
    return Letter(box.page, letter.index, letter.text, 0, *sides)
