"""Cells of a sheet: displayed text, value, formula, type, number format, formatting, validation.

Everything is read in bulk, because each call through UNO costs about 0.1 ms.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.formatting import character_format, color, paragraphs_of
from images.renderer.program.sheet_results import spots_of, used_range

if TYPE_CHECKING:
    from collections.abc import Container

    from images.renderer.program.office import Office

MAX_FILLED_CELLS = 50_000
MAX_FORMATS = 2_000
MAX_WIDTHS = 200
_CSV_FIELDS = 1 << 17
# Source: LibreOffice help, "Filter Options for CSV": tab, quote, UTF-8, first row, cell content as
# shown (token 9); the last token is the sheet.
_AS_SHOWN = "9,34,76,1,,0,false,true,true,false,false,{}"
_VALUE, _STRING, _ERROR = 1, 2, 4
"""Source: com.sun.star.sheet.FormulaResult."""
_LOGICAL = 1024
"""Source: com.sun.star.util.NumberFormat."""


def read_cells(
    office: Office,
    document: Any,  # noqa: ANN401 - UNO has no types
    number: int,
    asked: list[str],
    stale: Container[tuple[int, int]],
) -> dict[str, Any]:
    """Return the filled cells of a sheet, its formats, hidden rows and columns, merged ranges.

    Args:
        office: the running LibreOffice.
        document: the open workbook.
        number: number of the sheet, from 0.
        asked: names of cells whose differently formatted parts are asked for.
        stale: row and column of formulas whose shown result is not what they calculate.

    Raises:
        DocumentError: it has too many cells or formats.
    """
    sheet = document.Sheets.getByIndex(number)
    used = used_range(sheet)
    address = used.RangeAddress
    rows, columns = address.EndRow + 1, address.EndColumn + 1
    formats, spots, merged, validations = _read_formats(document, used)
    texts = _displayed(office, document, number)
    shows_formulas = document.CurrentController.ShowFormulas
    calculated = set(spots_of(used.queryFormulaCells(_VALUE | _STRING | _ERROR)))
    errors = set(spots_of(used.queryFormulaCells(_ERROR)))
    strings = set(spots_of(used.queryFormulaCells(_STRING)))
    runs = _runs_of(sheet, asked)
    cells = []
    for row, (values, formulas) in enumerate(zip(used.DataArray, used.FormulaArray, strict=True)):
        for column, (value, formula) in enumerate(zip(values, formulas, strict=True)):
            if formula == "":
                continue
            spot = (row, column)
            format_number = spots.get(spot, 0)
            shown_formula = _formula_of(formula) if spot in calculated else ""
            cell = {
                "row": row,
                "column": column,
                "text": (shows_formulas and shown_formula) or _text_at(texts, row, column),
                "formula": shown_formula,
                "is_array": spot in calculated and formula.startswith("{"),
                "format": format_number,
                "type": "stale"
                if spot in stale
                else _type_of(
                    value,
                    is_error=spot in errors,
                    is_string=spot in strings or isinstance(value, str),
                    is_logical=formats[format_number]["is_logical"] if formats else False,
                ),
                "value": None if spot in errors or spot in stale else value,
                "runs": runs.get(spot, []),
            }
            cells.append(cell)
            if len(cells) > MAX_FILLED_CELLS:
                raise DocumentError(f"More than {MAX_FILLED_CELLS} cells of a sheet are filled.")
    hidden_rows, hidden_columns = _hidden(sheet, used, rows, columns)
    return {
        "rows": rows,
        "columns": columns,
        "cells": cells,
        "formats": formats,
        "hidden_rows": hidden_rows,
        "hidden_columns": hidden_columns,
        "merged": merged,
        "validations": validations,
        "column_widths_mm": _widths(sheet, columns),
    }


def _widths(sheet: Any, columns: int) -> list[float]:  # noqa: ANN401 - UNO has no types
    return [sheet.Columns.getByIndex(at).Width / 100 for at in range(min(columns, MAX_WIDTHS))]


def _runs_of(sheet: Any, asked: list[str]) -> dict[tuple[int, int], list[dict[str, Any]]]:  # noqa: ANN401
    """Return the parts of the texts of asked cells with their formatting."""
    runs = {}
    for name in asked:
        cell = sheet.getCellRangeByName(name)
        address = cell.CellAddress
        runs[address.Row, address.Column] = [
            {**character_format(run), "text": run.String}
            for paragraph in paragraphs_of(cell)
            for run in paragraphs_of(paragraph)
            if run.String
        ]
    return runs


def _formula_of(text: str) -> str:
    return text[1:-1] if text.startswith("{") else text


def _type_of(value: object, *, is_error: bool, is_string: bool, is_logical: bool) -> str:
    if is_error:
        return "error"
    if is_string or not isinstance(value, float):
        return "text"
    return "boolean" if is_logical else "number"


def _displayed(office: Office, document: Any, number: int) -> list[list[str]]:  # noqa: ANN401
    """Return the displayed texts of a sheet by row and column."""
    path = office.export(
        document,
        "Text - txt - csv (StarCalc)",
        FilterOptions=_AS_SHOWN.format(number + 1),
    )
    found = path if path.exists() else next(path.parent.glob(f"{path.name}-*"))
    csv.field_size_limit(_CSV_FIELDS)
    with found.open(encoding="utf-8", newline="") as file:
        texts = list(csv.reader(file, delimiter="\t"))
    found.unlink()
    return texts


def _text_at(texts: list[list[str]], row: int, column: int) -> str:
    if row < len(texts) and column < len(texts[row]):
        return texts[row][column]
    return ""


def _read_formats(
    document: Any,  # noqa: ANN401 - UNO has no types
    used: Any,  # noqa: ANN401 - UNO has no types
) -> tuple[list[dict[str, Any]], dict[tuple[int, int], int], list[str], list[dict[str, Any]]]:
    """Return the formats, the number of the format of each cell, merged ranges and validations."""
    groups = used.UniqueCellFormatRanges
    if groups.Count > MAX_FORMATS:
        raise DocumentError(f"The cells of a sheet have more than {MAX_FORMATS} formats.")
    formats: list[dict[str, Any]] = []
    spots: dict[tuple[int, int], int] = {}
    merged: list[str] = []
    validations: list[dict[str, Any]] = []
    for number in range(groups.Count):
        group = groups.getByIndex(number)
        formats.append(_format_of(document, group))
        spots.update(dict.fromkeys(spots_of(group), number))
        merged += _merged(used, group)
        if group.Validation.Type.value != "ANY":
            validations.append(_validation_of(group))
    return formats, spots, merged, validations


def _format_of(document: Any, group: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    number_format = document.NumberFormats.getByKey(group.NumberFormat)
    return {
        **character_format(group),
        "number_format": number_format.FormatString,
        "is_logical": bool(number_format.Type & _LOGICAL),
        "background": color(group.CellBackColor),
        "horizontal": group.HoriJustify.value.lower(),
        "vertical": _VERTICAL.get(group.VertJustify, "standard"),
        "is_wrapped": bool(group.IsTextWrapped),
        "is_protected": bool(group.CellProtection.IsLocked),
        "is_hidden_by_protection": bool(group.CellProtection.IsHidden),
        "borders": {
            side.lower(): group.getPropertyValue(f"{side}Border").OuterLineWidth > 0
            for side in ("Top", "Bottom", "Left", "Right")
        },
        "style": group.CellStyle,
    }


_VERTICAL = {1: "top", 2: "center", 3: "bottom"}


def _merged(used: Any, group: Any) -> list[str]:  # noqa: ANN401 - UNO has no types
    sheet = used.Spreadsheet
    found = []
    for address in group.RangeAddresses:
        first = sheet.getCellByPosition(address.StartColumn, address.StartRow)
        if not first.IsMerged:
            continue
        for row, column in spots_of(group):
            cell = sheet.getCellByPosition(column, row)
            if cell.IsMerged:
                cursor = sheet.createCursorByRange(cell)
                cursor.collapseToMergedArea()
                found.append(cursor.AbsoluteName.rpartition(".")[2].replace("$", ""))
        break
    return found


def _validation_of(group: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    validation = group.Validation
    return {
        "ranges": [
            name.rpartition(".")[2].replace("$", "")
            for name in group.RangeAddressesAsString.split(";")
        ],
        "type": validation.Type.value.lower(),
        "operator": validation.getOperator().value.lower(),
        "formula1": validation.getFormula1(),
        "formula2": validation.getFormula2(),
        "shows_list": validation.ShowList > 0,
        "is_refusing": bool(validation.ShowErrorMessage),
    }


def _hidden(
    sheet: Any,  # noqa: ANN401 - UNO has no types
    used: Any,  # noqa: ANN401 - UNO has no types
    rows: int,
    columns: int,
) -> tuple[list[int], list[int]]:
    """Return the numbers of hidden rows and columns of the used range."""
    visible = used.queryVisibleCells().RangeAddresses
    shown_rows = {row for a in visible for row in range(a.StartRow, a.EndRow + 1)}
    shown_columns = {column for a in visible for column in range(a.StartColumn, a.EndColumn + 1)}
    hidden_rows = [row for row in range(rows) if row not in shown_rows]
    hidden_columns = [column for column in range(columns) if column not in shown_columns]
    # If all rows are hidden, nothing is visible, and nothing is known about columns from that.
    if not shown_rows:
        hidden_columns = [
            column for column in hidden_columns if not sheet.Columns.getByIndex(column).IsVisible
        ]
    return hidden_rows, hidden_columns
