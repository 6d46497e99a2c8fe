"""Cases of the evaluators of the structure of workbooks."""

from __future__ import annotations

from typing import Any

from evaluators.documents import sheet_objects, sheet_structure
from evaluators.testing.case import another_way, forged, near_miss, negative, positive
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, unzipped
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.sheet_books import (
    DATA,
    PATH,
    SAVED,
    added,
    new,
    prices,
    put,
    table,
)

_SIZE: dict[str, Any] = {"path": PATH, "rows": 6, "columns": 3}
_PANES: dict[str, Any] = {"path": PATH, "rows": 1, "columns": 0}
_NAMES: dict[str, Any] = {"path": PATH, "names": ["Data", "More"]}
_CHART: dict[str, Any] = {"path": PATH, "kind": "column", "series": ["B2:B3"], "title": "Prices"}
_MERGED: dict[str, Any] = {"path": PATH, "cells": "A6:C6"}
_PIVOT: dict[str, Any] = {
    "path": PATH, "source": "A1:B3", "rows": ["Item"], "values": {"Price": "sum"}, "sheet": "More",
}  # fmt: skip
_RULE: dict[str, Any] = {"path": PATH, "cells": "C2", "choices": ["yes", "no"]}
_ZOOM: dict[str, Any] = {"path": PATH, "percent": 150}
_LINES: dict[str, Any] = {"path": PATH, "rows": [3], "columns": ["B"]}
_WIDTH: dict[str, Any] = {"path": PATH, "column": "A", "width_mm": 40}


def _chart(kind: str = "col", title: str | None = "Prices", last: int = 3, **more: Any) -> Any:
    """Return a function that adds a chart; `more` has attributes of the chart."""

    def add(book: Any) -> None:
        from openpyxl.chart import BarChart, PieChart, Reference

        chart: Any = PieChart() if kind == "pie" else BarChart()
        if kind != "pie":
            chart.type = kind
        chart.title = title
        for name, value in more.items():
            setattr(chart, name, value)
        chart.add_data(Reference(book.active, min_col=2, min_row=2, max_row=last))
        book.active.add_chart(chart, "E2")

    return add


def _forged_chart(part: str) -> Any:
    """Return a function that adds a chart, a part of which is not seen."""

    def add(book: Any) -> None:
        from openpyxl.chart.marker import DataPoint
        from openpyxl.chart.shapes import GraphicalProperties
        from openpyxl.drawing.text import CharacterProperties

        _chart()(book)
        (chart,) = book.active._charts
        white = GraphicalProperties(solidFill="FFFFFF")
        white.line.solidFill = "FFFFFF"
        if part == "series":
            chart.series[0].graphicalProperties = white
        elif part == "a column":
            point = DataPoint(idx=1, spPr=GraphicalProperties(noFill=True))
            point.graphicalProperties.line.noFill = True
            chart.series[0].dPt.append(point)
        elif part == "direction of the values":
            chart.y_axis.scaling.orientation = "maxMin"
        elif part == "difference of the values":
            chart.y_axis.scaling.max = 1000
        elif part == "title":
            for run in chart.title.tx.rich.p[0].r:
                run.rPr = CharacterProperties(solidFill="FFFFFF")
        else:
            chart.y_axis.scaling.min, chart.y_axis.scaling.max = 100, 200

    return add


def _ranged(book: Any) -> None:
    _chart("bar")(book)
    (chart,) = book.active._charts
    chart.x_axis.scaling.orientation = "maxMin"
    chart.y_axis.scaling.min, chart.y_axis.scaling.max = 0, 10


def _many(book: Any) -> None:
    """Add a chart of nine series, one of them of small values, below a long table."""
    from openpyxl.chart import LineChart, Reference

    for row in range(1, 5):
        for column in range(1, 10):
            book.active.cell(row, column).value = row * column % 5
    chart = LineChart()
    chart.title = "Prices"
    chart.add_data(Reference(book.active, min_col=1, max_col=9, min_row=1, max_row=4))
    book.active.add_chart(chart, "B38")


def _without_objects() -> bytes:
    data = prices(_chart())()
    book = unzipped(data)["xl/workbook.xml"]
    switch = b'<workbookPr showObjects="none"/>'
    return changed(data, {"xl/workbook.xml": book.replace(b"<workbookPr/>", switch)})


def _frozen(place: str, state: str = "frozen", first: str | None = None, hidden: int = 0) -> Any:
    def change(book: Any) -> None:
        book.active.freeze_panes = place
        book.active.sheet_view.topLeftCell = first
        if book.active.sheet_view.pane is not None:
            book.active.sheet_view.pane.state = state
        if hidden:
            book.active.row_dimensions[hidden].hidden = True

    return change


def _merged(cells: str, column: str = "") -> Any:
    def change(book: Any) -> None:
        book.active.merge_cells(cells)
        if column:
            book.active.column_dimensions[column].hidden = True

    return change


def _rule(formula: str = '"yes,no"', **more: Any) -> Any:
    def change(book: Any) -> None:
        from openpyxl.worksheet.datavalidation import DataValidation

        values = {"type": "list", "formula1": formula, "showErrorMessage": True, **more}
        rule = DataValidation(**values)
        book.active.add_data_validation(rule)
        rule.add("C2:C3")

    return change


def _hidden(rows: tuple[int, ...] = (3,), columns: str = "B", height: float | None = None) -> Any:
    def change(book: Any) -> None:
        for row in rows:
            book.active.row_dimensions[row].hidden = height is None
            book.active.row_dimensions[row].height = height
        for column in columns:
            book.active.column_dimensions[column].hidden = True

    return change


def _wide(width: float, *, hidden: bool = False) -> Any:
    def change(book: Any) -> None:
        book.active.column_dimensions["A"].width = width
        book.active.column_dimensions["A"].hidden = hidden

    return change


def _zoomed(percent: int) -> Any:
    return lambda book: setattr(book.active.sheet_view, "zoomScale", percent)


def _hide_sheet(name: str, state: str = "hidden") -> Any:
    def change(book: Any) -> None:
        added("More")(book)
        book[name].sheet_state = state
        book.active = 1 if name == "Data" else 0

    return change


_WHOLE = {"type": "whole", "operator": "between", "formula2": "9"}
TABLES = (
    table(
        sheet_structure.sheet_size_equals,
        _SIZE,
        another_way(
            "formatted cells beyond",
            put(lambda book: setattr(book.active["F9"], "number_format", "0")),
            **_SIZE,
        ),
        positive("named sheet", put(added("More")), path=PATH, rows=1, columns=1, sheet="More"),
        negative("one cell", new({"A1": 1}), **_SIZE),
        near_miss("more", put(D7="x"), **_SIZE),
        near_miss("rows and columns exchanged", new({"F3": 1}), **_SIZE),
        forged("last row hidden", put(_hidden((6,), "")), **_SIZE),
        forged("on a hidden sheet", put(_hide_sheet("Data")), **_SIZE, sheet="Data"),
    ),
    table(
        sheet_structure.panes_frozen,
        _PANES,
        positive("rows and columns", put(_frozen("C3")), path=PATH, rows=2, columns=2),
        another_way("openpyxl", put(_frozen("A2")), **_PANES),
        another_way("frozen split", put(_frozen("A2", "frozenSplit")), **_PANES),
        negative("no frozen panes", put(), **_PANES),
        near_miss("more rows", put(_frozen("A3")), **_PANES),
        near_miss("column", put(_frozen("B1")), **_PANES),
        near_miss("missing sheet", SAVED, **_PANES, sheet="None"),
        forged("split, not frozen", put(_frozen("A2", "split")), **_PANES),
        forged("frozen row is not the first", put(_frozen("A2", first="A3")), **_PANES),
        forged("frozen row hidden", put(_frozen("A2", hidden=1)), **_PANES),
    ),
    table(
        sheet_structure.sheet_names_equal,
        _NAMES,
        another_way("openpyxl", put(added("More")), **_NAMES),
        negative("one sheet", put(), **_NAMES),
        near_miss("additional sheet", put(added("More", "x")), **_NAMES),
        near_miss("different order", SAVED, **{**_NAMES, "names": ["More", "Data"]}),
        near_miss("letter case", put(added("more")), **_NAMES),
        forged("one is hidden", put(_hide_sheet("More")), **_NAMES),
        forged("one cannot be unhidden", put(_hide_sheet("More", "veryHidden")), **_NAMES),
    ),
    table(
        sheet_objects.sheet_has_chart,
        _CHART,
        *forgeries("sheet_has_chart"),
        another_way("openpyxl", put(_chart()), **{**_CHART, "series": ["Data!$b2:B$3"]}),
        positive("bar chart", put(_chart("bar")), **{**_CHART, "kind": "bar"}),
        positive(
            "pie, any title", put(_chart("pie", None)), path=PATH, kind="pie", series=["B2:B3"]
        ),
        negative("no chart", put(), **_CHART),
        near_miss("bars are horizontal", put(_chart("bar")), **_CHART),
        near_miss("different range", put(_chart(last=4)), **_CHART),
        near_miss("different title", SAVED, **{**_CHART, "title": "Price"}),
        near_miss("empty expected ranges", SAVED, **{**_CHART, "series": []}),
        forged("one EMU large", put(_chart(width=1 / 360_000, height=1 / 360_000)), **_CHART),
        forged(
            "on a hidden sheet",
            put(lambda book: (_chart()(book), _hide_sheet("Data")(book))),
            **_CHART,
            sheet="Data",
        ),
        forged("of empty cells", put(_chart(), B2=None, B3=None), **_CHART),
        another_way(
            "nine lines, across pages",
            new({}, None, _many),
            **{**_CHART, "kind": "line", "series": [f"{name}1:{name}4" for name in "ABCDEFGHI"]},
        ),
        *(
            forged(f"{part} not seen", put(_forged_chart(part)), **_CHART)
            for part in (
                "series",
                "title",
                "values within the axis",
                "a column",
                "direction of the values",
                "difference of the values",
            )
        ),
        another_way(
            "bars from the top, with a range of the axis",
            put(_ranged),
            **{**_CHART, "kind": "bar"},
        ),
        forged("objects are switched off", at(PATH, _without_objects), **_CHART),
        equivalent={
            "*args.title: empty": "any title",
            "*args.series: swap case": "letter case is ignored",
        },
    ),
    table(
        sheet_structure.cells_merged,
        _MERGED,
        another_way("openpyxl", put(_merged("A6:C6")), **_MERGED),
        negative("none", put(), **_MERGED),
        near_miss("larger range", put(_merged("A6:D6")), **_MERGED),
        near_miss("other sheet", SAVED, **_MERGED, sheet="More"),
        forged("centred across, not merged", put(A6="   Prices of last week"), **_MERGED),
        forged("partly hidden", put(_merged("A6:C6", "B")), **_MERGED),
    ),
    table(
        sheet_objects.sheet_has_pivot_table,
        _PIVOT,
        *forgeries("sheet_has_pivot_table"),
        another_way("no column fields given", SAVED, **_PIVOT, columns=[]),
        negative("no pivot table", put(added("More")), **_PIVOT),
        near_miss("other function", SAVED, **{**_PIVOT, "values": {"Price": "max"}}),
        near_miss("other source", SAVED, **{**_PIVOT, "source": "A1:B4"}),
        near_miss("column field", SAVED, **{**_PIVOT, "columns": ["Item"], "rows": []}),
        near_miss("other sheet", SAVED, **{**_PIVOT, "sheet": "Data"}),
        forged(
            "typed results",
            put(lambda book: (added("More")(book), book["More"].append(["Sum - Price", 6.5]))),
            **_PIVOT,
        ),
        forged(
            "formulas",
            put(lambda book: (added("More")(book), book["More"].append(["=Data!A2", "=Data!B2"]))),
            **_PIVOT,
        ),
    ),
    table(
        sheet_structure.cells_validated,
        _RULE,
        another_way("more cells have it", put(_rule()), **_RULE),
        positive(
            "whole number",
            put(_rule("1", **_WHOLE)),
            path=PATH,
            cells="C2:C3",
            rule="whole between 1 9",
        ),
        negative("none", put(), **_RULE),
        near_miss("fewer choices", put(_rule('"yes"')), **_RULE),
        near_miss("not all cells", SAVED, **{**_RULE, "cells": "C2:C3"}),
        near_miss(
            "other limits",
            put(_rule("1", **_WHOLE)),
            path=PATH,
            cells="C2:C3",
            rule="whole between 1 10",
        ),
        near_miss("nothing asked", SAVED, **{**_RULE, "choices": []}),
        forged("nothing is refused", put(_rule(showErrorMessage=False)), **_RULE),
        forged("no list is offered", put(_rule(showDropDown=True)), **_RULE),
    ),
    table(
        sheet_structure.sheet_zoom_equals,
        _ZOOM,
        another_way("openpyxl", put(_zoomed(150)), **_ZOOM),
        negative("100 %", put(), **_ZOOM),
        near_miss("149 %", put(_zoomed(149)), **_ZOOM),
        forged(
            "large characters",
            put(lambda book: setattr(book.active.sheet_format, "defaultRowHeight", 22.5)),
            **_ZOOM,
        ),
        forged(
            "of the print", put(lambda book: setattr(book.active.page_setup, "scale", 150)), **_ZOOM
        ),
    ),
    table(
        sheet_structure.lines_hidden,
        _LINES,
        another_way(
            "in another order",
            put(_hidden((2, 3), "BA")),
            path=PATH,
            rows=[3, 2],
            columns=["A", "B"],
        ),
        another_way("rows only", put(_hidden((3,), "")), path=PATH, rows=[3]),
        negative("none", put(), **_LINES),
        near_miss("column only", put(_hidden(())), **_LINES),
        near_miss("more", put(_hidden((2, 3))), **_LINES),
        forged(
            "emptied",
            new({name: value for name, value in DATA.items() if name[0] != "B" and name[1] != "3"}),
            **_LINES,
        ),
        forged("low row", put(_hidden(height=1.5)), **_LINES),
        good=prices(_hidden()),
        is_in_xlsx=False,
    ),
    table(
        sheet_structure.column_width_equals,
        _WIDTH,
        another_way("openpyxl", put(_wide(16.2)), **_WIDTH, tolerance_mm=2.0),
        negative("default width", put(), **_WIDTH),
        near_miss("1 mm less", SAVED, **{**_WIDTH, "width_mm": 39}),
        near_miss("other column", SAVED, **{**_WIDTH, "column": "B"}),
        forged("hidden", put(_wide(16.2, hidden=True)), **_WIDTH, tolerance_mm=2.0),
        forged("beyond the used area", SAVED, **{**_WIDTH, "column": "D", "width_mm": 22.58}),
        equivalent={"*args.tolerance_mm: more": "a larger tolerance accepts all of a smaller one"},
    ),
)
