"""The window of a workbook: what its settings keep from the screen, though a print would have it."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from images.renderer.program.sheet_results import RESULTS, is_restyling, used_range
from images.renderer.program.sheet_tiles import first_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WIDTH_MM, _HEIGHT_MM = 1280 / 96 * 25.4, 800 / 96 * 25.4
"""Size of the desktop's screen, which no window exceeds."""
_HIDE = 1
"""Source: com.sun.star.sheet.SpreadsheetViewObjectsMode."""
_PLACE = re.compile(r"\bCELL\(", re.IGNORECASE)


def read_window(document: Any, sheet: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    """Return frozen panes and zoom of a sheet, and which rows and columns no scrolling shows."""
    controller = document.CurrentController
    active = controller.ActiveSheet
    controller.setActiveSheet(sheet)
    frozen = controller.hasFrozenPanes()
    rows, columns = (controller.SplitRow, controller.SplitColumn) if frozen else (0, 0)
    zoom, pane = controller.ZoomValue, controller.getByIndex(0)
    first_row = pane.FirstVisibleRow if rows else 0
    first_column = pane.FirstVisibleColumn if columns else 0
    controller.setActiveSheet(active)

    def top(row: int) -> int:
        return int(sheet.getCellByPosition(0, row).Position.Y)

    def left(column: int) -> int:
        return int(sheet.getCellByPosition(column, 0).Position.X)

    return {
        "frozen_rows": rows,
        "frozen_columns": columns,
        "zoom_percent": zoom,
        "scrolled_rows": first_row,
        "scrolled_columns": first_column,
        "rows_in_window": _end(top, first_row, rows, _HEIGHT_MM / zoom),
        "columns_in_window": _end(left, first_column, columns, _WIDTH_MM / zoom),
    }


def _end(position_of: Callable[[int], int], first: int, last: int, size: float) -> int | None:
    """Return the first of the frozen lines that lies beyond the window, as all after it do.

    Args:
        position_of: returns where a line begins, in hundredths of a millimetre.
        first: the first frozen line that is not scrolled away.
        last: the line behind the last frozen one.
        size: size of the window in hundreds of millimetres.
    """
    limit = position_of(first) + size * 10_000
    return None if position_of(last) < limit else first_from(position_of, limit, last)


def is_open(window: dict[str, Any], row: int, column: int) -> bool:
    """Return whether the window of a sheet can show a cell."""
    rows, columns = window["rows_in_window"], window["columns_in_window"]
    is_scrolled = row < window["scrolled_rows"] or column < window["scrolled_columns"]
    is_beyond = (rows is not None and row >= rows) or (columns is not None and column >= columns)
    return not is_scrolled and not is_beyond


def print_settings(document: Any) -> dict[str, bool]:  # noqa: ANN401 - UNO has no types
    """Return the properties of page styles that print what the window shows."""
    controller = document.CurrentController
    return {
        "PrintZeroValues": bool(controller.ShowZeroValues),
        "PrintFormulas": bool(controller.ShowFormulas),
        "PrintCharts": controller.ShowCharts != _HIDE,
        "PrintObjects": controller.ShowObjects != _HIDE,
        "PrintDrawing": controller.ShowDrawing != _HIDE,
    }


def is_place_asked(document: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Return whether a formula may ask where the file of a workbook is."""
    formulas = chain(_shared_formulas(document), _cell_formulas(document))
    return any(_PLACE.search(formula) for formula in formulas)


def is_restyled(document: Any) -> bool:  # noqa: ANN401 - UNO has no types
    """Return whether formulas that may belong to any cell change how it looks, now or after some seconds."""
    return any(is_restyling(formula) for formula in _shared_formulas(document))


def _shared_formulas(document: Any) -> Iterator[str]:  # noqa: ANN401 - UNO has no types
    """Yield the formulas of named expressions and conditional formats."""
    sheets = [document.Sheets.getByIndex(number) for number in range(document.Sheets.Count)]
    for owner in (document, *sheets):
        names = owner.NamedRanges
        yield from (names.getByIndex(number).Content for number in range(names.Count))
    for sheet in sheets:
        for form in sheet.ConditionalFormats.getConditionalFormats():
            for number in range(form.Count):
                entry = form.getByIndex(number)
                yield from (getattr(entry, name, "") for name in ("Formula1", "Formula2"))


def _cell_formulas(document: Any) -> Iterator[str]:  # noqa: ANN401 - UNO has no types
    for number in range(document.Sheets.Count):
        sheet = document.Sheets.getByIndex(number)
        if sheet.queryFormulaCells(RESULTS).Count:
            yield from (formula for row in used_range(sheet).FormulaArray for formula in row)
