"""Evaluators of charts and pivot tables on sheets.

What a workbook shows is told by LibreOffice ([views of documents](views-of-documents.md)).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.rendering.request import SheetObjectItem
from evaluators.sheets.places import RANGE_PATTERN, cells_in, is_hidden, qualified, shown_sheet
from evaluators.sheets.seen import see_cells
from evaluators.sheets.values import shows_order

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.sheets import Chart, DataField, PivotTable, Sheet

Area = Annotated[str, Field(pattern=RANGE_PATTERN)]
ChartKind = Literal["bar", "column", "line", "pie", "scatter", "area"]
_MAX_RESULTS = 100
_CHARTS: dict[str, ChartKind] = {
    "LineChartType": "line",
    "PieChartType": "pie",
    "ScatterChartType": "scatter",
    "AreaChartType": "area",
}


@evaluator(on="documents")
def sheet_has_chart(
    view: MachineView,
    path: MachinePath,
    kind: ChartKind,
    series: list[str],
    *,
    title: str = "",
    sheet: str = "",
) -> bool:
    """Return whether a sheet has a chart of the given kind with exactly the given ranges.

    The chart must be seen: not hidden, covered or tiny; each series must have a value and be seen in the
    plot, and the title, if it is given, must be seen.

    Args:
        view: the machine.
        path: path of the file.
        kind: kind of chart; ``bar`` is horizontal, ``column`` is vertical.
        series: ranges of the values, such as ``B2:B6`` or ``Data!B2:B6``, in any order; ``$``
            signs and the name of the chart's own sheet are ignored.
        title: the chart's complete title; empty matches any.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_has_chart,
        with: {path: ~/a.ods, kind: column, series: ["B2:B6"]}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None or not series:
        return False
    wanted = sorted(qualified(area, tab.name) for area in series)
    names = [
        chart.name
        for chart in tab.charts
        if _kind_of(chart) == kind
        and title in {"", chart.title}
        and _ranges_of(chart, tab.name) == wanted
        and not (chart.is_percent and len(chart.series) == 1)
    ]
    items = tuple(SheetObjectItem(sheet=sheet, name=name) for name in names)
    book = view.workbook(path, shown=items) if items else None
    return book is not None and any(
        shown.is_shown
        and all(shown.series_are_shown)
        and (not title or shown.is_title_shown is not False)
        for shown in book.shown
    )


@evaluator(on="documents")
def sheet_has_pivot_table(
    view: MachineView,
    path: MachinePath,
    source: Area,
    *,
    rows: list[str],
    values: dict[str, str],
    columns: list[str] | None = None,
    sheet: str = "",
) -> bool:
    """Return whether a sheet has a pivot table with exactly the given fields, and shows its results.

    Args:
        view: the machine.
        path: path of the file.
        source: range of its source, with the headings, such as ``A1:D20``.
        rows: names of the row fields, in order.
        values: how each data field is aggregated: ``sum``, ``count``, ``average``, ``max``, ``min``
            and others.
        columns: names of the column fields, in order.
        sheet: name of the sheet that shows the table; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_has_pivot_table, with: {path: ~/a.ods, source: "A1:C9",
        rows: [City], values: {Price: sum}, sheet: Pivot}}``
    """
    tab = shown_sheet(view, path, sheet)
    # The field "Data" holds the names of several data fields.
    return tab is not None and any(
        table.source == source
        and list(table.row_fields) == rows
        and [name for name in table.column_fields if name != "Data"] == (columns or [])
        and {_field_name(field): field.function for field in table.data_fields} == values
        and not is_hidden(tab, table.output)
        and _shows_results(view, path, sheet, tab, table)
        for table in tab.pivot_tables
    )


def _shows_results(view: MachineView, path: str, sheet: str, tab: Sheet, table: PivotTable) -> bool:
    """Return whether the cells of a pivot table have the names of its fields and results, which are seen."""
    names = cells_in(table.output)
    cells = {name: cell for name in names if (cell := tab.cell(name)) is not None}
    texts = {cell.text for cell in cells.values()}
    results = [name for name, cell in cells.items() if isinstance(cell.value, float)]
    fields = {*table.row_fields, *table.column_fields} - {"Data"}
    if not fields <= texts or not results:
        return False
    seen = see_cells(view, path, sheet, results[:_MAX_RESULTS])
    return all(name in seen and shows_order(seen[name]) for name in results[:_MAX_RESULTS])


def _field_name(field: DataField) -> str:
    """Return the name of a data field without its function: workbooks have Price or Sum - Price."""
    return re.sub(rf"^{field.function} (?:-|of) ", "", field.name, flags=re.IGNORECASE)


def _kind_of(chart: Chart) -> ChartKind | None:
    if chart.type in {"ColumnChartType", "BarChartType"}:
        return "bar" if chart.is_sideways else "column"
    return _CHARTS.get(chart.type)


def _ranges_of(chart: Chart, own: str) -> list[str]:
    """Return the ranges of a chart's series; those without a value have none."""
    return sorted(
        qualified(series.range, own) if any(v is not None for v in series.values) else ""
        for series in chart.series
    )
