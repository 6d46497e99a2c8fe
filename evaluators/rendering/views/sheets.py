"""View of a workbook, as LibreOffice opens it."""

from __future__ import annotations

from typing import Literal

from evaluators.rendering.views.common import CharacterFormat, Placed, Shown, ViewModel


class Borders(ViewModel):
    """Which sides of a cell have a line."""

    top: bool
    bottom: bool
    left: bool
    right: bool


class CellFormat(CharacterFormat):
    """Formatting of cells, without that of conditions.

    Attributes:
        number_format: its code, such as ``0.00%``.
        is_logical: whether it shows TRUE and FALSE.
        background: ``#rrggbb``; None if there is none.
        horizontal: ``standard``, ``left``, ``center``, ``right``, ``block`` or ``repeat``.
        vertical: ``standard``, ``top``, ``center`` or ``bottom``.
        is_wrapped: whether text continues on the next line.
        is_protected: whether the cell is locked once its sheet is protected.
        is_hidden_by_protection: whether its formula is then hidden.
        borders: sides with a line.
        style: name of the cell style.
    """

    number_format: str
    is_logical: bool
    background: str | None
    horizontal: str
    vertical: str
    is_wrapped: bool
    is_protected: bool
    is_hidden_by_protection: bool
    borders: Borders
    style: str


class CellRun(CharacterFormat):
    """A part of a cell's text with the same formatting.

    Attributes:
        text: its text.
    """

    text: str


class Cell(ViewModel):
    """A filled cell.

    Attributes:
        row: number of its row, from 0.
        column: number of its column, from 0.
        text: its text in its number format: 12 for 41.5 in the format ``"12"``.
        value: its value or the result of its formula; None for errors and stale results.
        formula: its formula with ``=``, in LibreOffice's English names; empty if it has none.
        is_array: whether it is an array formula.
        type: type of its value; ``stale`` if the text is a stored result that the formula does not
            calculate, as the desktop shows it, or the formula changes how its cell looks.
        format: number of its format in `Sheet.formats`.
        runs: parts of its displayed text, if the request has an item for the cell.
    """

    row: int
    column: int
    text: str
    value: float | str | None
    formula: str
    is_array: bool
    type: Literal["number", "boolean", "text", "error", "stale"]
    format: int
    runs: tuple[CellRun, ...]


class Series(ViewModel):
    """A series of a chart.

    Attributes:
        label: its name in the legend.
        values: its values; None for gaps.
        range: cells of its values, such as ``Sheet1.B2:B4``.
        label_range: cell of its name.
    """

    label: str
    values: tuple[float | None, ...]
    range: str
    label_range: str


class Chart(Placed):
    """A chart.

    Attributes:
        name: its name, by which an item can ask whether it is seen.
        number: its number among the objects of its sheet.
        type: LibreOffice's name of the first chart type, such as ``ColumnChartType``.
        is_sideways: whether its bars are horizontal.
        title: its title; empty if it has none.
        is_percent: whether values are drawn as shares of their sum.
        series: its series.
    """

    name: str
    number: int
    type: str
    is_sideways: bool
    title: str
    is_percent: bool = False
    series: tuple[Series, ...]


class DataField(ViewModel):
    """A data field of a pivot table."""

    name: str
    function: str


class PivotTable(ViewModel):
    """A pivot table.

    Attributes:
        name: its name.
        source: range of its source on its sheet; empty for other sources.
        output: range of its output.
        row_fields: names of its row fields.
        column_fields: names of its column fields.
        page_fields: names of its filters.
        data_fields: fields that are aggregated, and how, such as ``sum``.
    """

    name: str
    source: str
    output: str
    row_fields: tuple[str, ...]
    column_fields: tuple[str, ...]
    page_fields: tuple[str, ...]
    data_fields: tuple[DataField, ...]


class Validation(ViewModel):
    """A validity rule of cells.

    Attributes:
        ranges: the cells.
        type: such as ``list`` or ``whole``.
        operator: such as ``between``.
        formula1: its first operand, or the list.
        formula2: its second operand.
        shows_list: whether a list is offered.
        is_refusing: whether invalid input shows an error.
    """

    ranges: tuple[str, ...]
    type: str
    operator: str
    formula1: str
    formula2: str
    shows_list: bool
    is_refusing: bool


class Comment(ViewModel):
    """A comment of a cell; row and column from 0."""

    row: int
    column: int
    text: str
    author: str


class Sheet(ViewModel):
    """A sheet.

    Attributes:
        name: its name.
        is_shown: whether its tab is shown.
        rows: number of rows in use.
        columns: number of columns in use.
        cells: filled cells, row by row.
        formats: formats of the cells.
        hidden_rows: numbers of the hidden rows among those in use.
        hidden_columns: numbers of the hidden columns among those in use.
        merged: ranges of merged cells.
        frozen_rows: number of rows that do not scroll.
        frozen_columns: number of columns that do not scroll.
        scrolled_rows: number of rows above the frozen ones, which no scrolling shows.
        scrolled_columns: number of columns before the frozen ones, which no scrolling shows.
        rows_in_window: number of the row from which on no scrolling shows any, because the frozen rows
            are higher than the screen; None if there is none.
        columns_in_window: number of the column from which on no scrolling shows any.
        zoom_percent: zoom of its window.
        column_widths_mm: widths of the first 200 columns in use; hidden ones have one, too.
        validations: validity rules.
        charts: charts.
        pivot_tables: pivot tables.
        comments: comments of cells.
        texts: texts of shapes.
    """

    name: str
    is_shown: bool
    rows: int
    columns: int
    cells: tuple[Cell, ...]
    formats: tuple[CellFormat, ...]
    hidden_rows: tuple[int, ...]
    hidden_columns: tuple[int, ...]
    merged: tuple[str, ...]
    frozen_rows: int
    frozen_columns: int
    scrolled_rows: int = 0
    scrolled_columns: int = 0
    rows_in_window: int | None = None
    columns_in_window: int | None = None
    zoom_percent: int
    column_widths_mm: tuple[float, ...]
    validations: tuple[Validation, ...]
    charts: tuple[Chart, ...]
    pivot_tables: tuple[PivotTable, ...]
    comments: tuple[Comment, ...]
    texts: tuple[str, ...] = ()

    def cell(self, name: str) -> Cell | None:
        """Return a filled cell by name, such as ``B3``; None if it is empty."""
        letters = name.rstrip("0123456789")
        column = 0
        for letter in letters:
            column = column * 26 + ord(letter) - ord("A") + 1
        spot = int(name.removeprefix(letters)) - 1, column - 1
        return next((cell for cell in self.cells if (cell.row, cell.column) == spot), None)

    def is_open(self, row: int, column: int) -> bool:
        """Return whether a cell is in no hidden row or column, nor kept off the window by frozen panes."""
        rows, columns = self.rows_in_window, self.columns_in_window
        return (
            row not in self.hidden_rows
            and column not in self.hidden_columns
            and row >= self.scrolled_rows
            and column >= self.scrolled_columns
            and (rows is None or row < rows)
            and (columns is None or column < columns)
        )


class Result(ViewModel):
    """What a cell showed with other inputs.

    Attributes:
        text: its displayed text.
        value: its value; None for errors.
        error: LibreOffice's number of the error, or 0.
    """

    text: str
    value: float | str | None
    error: int


class SheetsView(ViewModel):
    """A workbook.

    Attributes:
        version: version of the view.
        kind: its kind.
        sheets: its sheets in the order of their tabs.
        active_sheet: name of the sheet that is shown when it is opened.
        null_date: date of the number 0, such as ``1899-12-30``.
        brings_fonts: whether it brings fonts of its own, whose letters may have any weight, slant and size.
        is_place_asked: whether a formula asks where the file is, and was not told.
        perturbed: results of each perturbation of the request.
        shown: whether each item of the request is seen.
    """

    version: int
    kind: Literal["sheets"]
    sheets: tuple[Sheet, ...]
    active_sheet: str
    null_date: str
    brings_fonts: bool = False
    is_place_asked: bool = False
    perturbed: tuple[tuple[Result, ...], ...]
    shown: tuple[Shown, ...]

    def sheet(self, name: str) -> Sheet | None:
        """Return a sheet by name, the first shown one if the name is empty; None if there is none."""
        if name:
            return next((sheet for sheet in self.sheets if sheet.name == name), None)
        return next((sheet for sheet in self.sheets if sheet.is_shown), None)
