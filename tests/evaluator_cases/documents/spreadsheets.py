"""Cases of the evaluators of spreadsheets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.documents import spreadsheets
from evaluators.testing.case import CaseTable, hostile, near_miss, negative, positive
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at, document_cases
from tests.evaluator_cases.sheet_format_ways import (
    chart_kind_cases,
    column_fill_cases,
    passage_cases,
    reference_cases,
    tab_cases,
    typed_value_cases,
)
from tests.evaluator_cases.sheet_ways import (
    block_cases,
    bold_cases,
    calculated_cases,
    chart_cases,
    fill_cases,
    formula_cases,
    name_cases,
    size_cases,
    value_cases,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/prices"
_STYLES = (
    '<style:style style:name="F" style:family="table-cell">'
    '<style:table-cell-properties fo:background-color="#ffff00"/>'
    '<style:text-properties fo:font-weight="bold"/></style:style>'
)


def xlsx(
    cells: Mapping[str, Any], values: Mapping[str, Any] | None = None, more: Any = None
) -> Make:
    """Return a function that creates an .xlsx with these cells in a sheet ``Data``."""

    @cache
    def make() -> bytes:
        def build(book: Any) -> None:
            book.active.title = "Data"
            for place, value in cells.items():
                book.active[place] = value
            if more is not None:
                more(book)

        return file_builders.xlsx(build, values)

    return make


def _cell(value: Any, formula: str = "", style: str = "") -> str:
    of = f' table:formula="of:{formula}"' if formula else ""
    look = f' table:style-name="{style}"' if style else ""
    if value is None:
        return f"<table:table-cell{of}{look}/>"
    if isinstance(value, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, float | int):
        kind = f'office:value-type="float" office:value="{value}"'
    else:
        kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}{of}{look}><text:p>{value}</text:p></table:table-cell>"


def sheet(name: str, *rows: list[str], after: str = "") -> str:
    """Return the XML of a sheet from the XML of its cells."""
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    return f'<table:table table:name="{name}">{after}{body}</table:table>'


def ods(*sheets: str, **more: Any) -> Make:
    """Return a function that creates an .ods of sheets."""

    @cache
    def make() -> bytes:
        return file_builders.odf("spreadsheet", "".join(sheets), automatic=_STYLES, **more)

    return make


def _fill(*places: str, fill: str = "", bold: bool = False) -> Any:
    def add(book: Any) -> None:
        from openpyxl.styles import Font, PatternFill

        for place in places:
            if fill:
                book.active[place].fill = PatternFill("solid", fgColor=fill)
            if bold:
                book.active[place].font = Font(bold=True)

    return add


def _chart(
    kind: str = "col",
    title: str = "Prices",
    last: int = 3,
    first: int = 2,
    columns: tuple[int, ...] = (2,),
) -> Any:
    def add(book: Any) -> None:
        from openpyxl.chart import BarChart, PieChart, Reference

        chart: Any = PieChart() if kind == "pie" else BarChart()
        if kind != "pie":
            chart.type = kind
        if title:
            chart.title = title
        for column in columns:
            chart.add_data(Reference(book.active, min_col=column, min_row=first, max_row=last))
        book.active.add_chart(chart, "E2")

    return add


def _sheets(*names: str) -> Any:
    def add(book: Any) -> None:
        for name in names:
            book.create_sheet(name)["A1"] = 7

    return add


BARE: dict[str, Any] = {"xlsx": xlsx({}), "ods": ods(sheet("Data", [_cell(None)]))}
DATA: dict[str, Any] = {
    "A1": "Item",
    "B1": "Price",
    "A2": "Tea",
    "B2": 2.5,
    "A3": "Milk",
    "B3": 4,
    "C3": True,
}
SUM: dict[str, Any] = {**DATA, "B4": "=SUM(B2:B3)"}
ROWS = [
    [_cell("Item"), _cell("Price")],
    [_cell("Tea"), _cell(2.5)],
    [_cell("Milk"), _cell(4), _cell(True)],
    [_cell(None), _cell(6.5, "=SUM([.B2:.B3])")],
]
_data = {"xlsx": xlsx(SUM, {"B4": 6.5}), "ods": ods(sheet("Data", *ROWS))}
_TEA: dict[str, Any] = {"path": PATH, "cell": "B2", "value": 2.5}
_SUM: dict[str, Any] = {"path": PATH, "cell": "B4", "formula": "=SUM(B2:B3)"}
_DONE: dict[str, Any] = {"path": PATH, "cell": "B4", "value": 6.5, "function": "SUM"}
_BLOCK: dict[str, Any] = {
    "path": PATH,
    "first": "A1",
    "rows": [["Item", "Price"], ["Tea", 2.5], ["Milk", 4]],
}
_SIZE: dict[str, Any] = {"path": PATH, "rows": 4, "columns": 3}
_NAMES: dict[str, Any] = {"path": PATH, "names": ["Data", "More"]}
_names = {"xlsx": xlsx(DATA, more=_sheets("More")), "ods": ods(sheet("Data", *ROWS), sheet("More"))}
_CHART: dict[str, Any] = {"path": PATH, "kind": "column", "series": ["B2:B3"], "title": "Prices"}
_OBJECT = (
    '<table:shapes><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>'
)


def _ods_chart(style: str = "", kind: str = "chart:bar") -> Make:
    chart = (
        f'<chart:chart chart:class="{kind}"><chart:title><text:p>Prices</text:p></chart:title>'
        '<chart:plot-area chart:style-name="p"><chart:axis><chart:title><text:p>axis</text:p>'
        "</chart:title></chart:axis><chart:series chart:values-cell-range-address="
        '"Data.$B$2:Data.$B$3"/></chart:plot-area></chart:chart>'
    )
    return ods(sheet("Data", *ROWS, after=_OBJECT), files=file_builders.chart_object(chart, style))


_VERTICAL = (
    '<style:style style:name="p" style:family="chart">'
    '<style:chart-properties chart:vertical="true"/></style:style>'
)
_charts = {"xlsx": xlsx(DATA, more=_chart()), "ods": _ods_chart()}
_BOLD: dict[str, Any] = {"path": PATH, "cells": ["A1", "B1"]}
_bold = {
    "xlsx": xlsx(DATA, more=_fill("A1", "B1", bold=True)),
    "ods": ods(sheet("Data", [_cell("a", style="F"), _cell("b", style="F")], [_cell("c")])),
}
_FILL: dict[str, Any] = {"path": PATH, "cell": "A1", "colour": "FFFF00"}
_fills = {"xlsx": xlsx(DATA, more=_fill("A1", fill="FFFF00")), "ods": _bold["ods"]}
_USED = "the other values of the row are ignored"


def _is(data: Mapping[str, Any], values: Mapping[str, Any] | None = None, more: Any = None) -> Any:
    return at(PATH, xlsx(data, values, more))


TABLES = (
    CaseTable(
        spreadsheets.cell_equals,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _data["xlsx"]), **_TEA),
            positive("ods", at(PATH, _data["ods"]), **_TEA),
            positive("calculated value", at(PATH, _data["xlsx"]), path=PATH, cell="B4", value=6.5),
            positive(
                "text with surrounding spaces", _is({"A1": " x "}), path=PATH, cell="A1", value="x"
            ),
            positive(
                "expected text has surrounding spaces",
                _is({"A1": "x"}),
                path=PATH,
                cell="A1",
                value=" x ",
            ),
            positive("true", at(PATH, _data["ods"]), path=PATH, cell="C3", value=True),
            positive(
                "repeated rows and columns",
                at(
                    PATH,
                    ods(
                        '<table:table table:name="Data"><table:table-row table:number-rows-repeated="2">'
                        '<table:table-cell table:number-columns-repeated="26"/><table:table-cell '
                        'office:value-type="float" office:value="5" table:number-columns-repeated="2"/>'
                        "</table:table-row></table:table>"
                    ),
                ),
                path=PATH,
                cell="AB2",
                value=5,
            ),
            positive(
                "a date",
                at(
                    PATH,
                    ods(
                        sheet(
                            "Data",
                            [
                                '<table:table-cell office:value-type="date" office:date-value="2026-11-21T00:00:00"/>'
                            ],
                        )
                    ),
                ),
                path=PATH,
                cell="A1",
                value="2026-11-21",
            ),
            positive(
                "on a different sheet",
                _is(DATA, more=_sheets("More")),
                path=PATH,
                cell="A1",
                value=7,
                sheet="More",
            ),
            positive(
                "at the tolerance",
                at(PATH, _data["xlsx"]),
                **{**_TEA, "value": 2.75},
                tolerance=0.25,
            ),
            negative("different value", _is({"B2": 3}), **_TEA),
            near_miss(
                "beyond the tolerance",
                at(PATH, _data["xlsx"]),
                **{**_TEA, "value": 2.76},
                tolerance=0.25,
            ),
            near_miss("text that looks like the number", _is({"B2": "2.5"}), **_TEA),
            near_miss("number instead of a text", _is({"B2": 2.5}), **{**_TEA, "value": "2.5"}),
            near_miss("1 instead of true", _is({"B2": 1}), **{**_TEA, "value": True}),
            near_miss("true instead of 1", _is({"B2": True}), **{**_TEA, "value": 1}),
            near_miss("neighbouring cell", _is({"B3": 2.5}), **_TEA),
            near_miss(
                "only on a different sheet",
                _is({}, more=_sheets("More")),
                path=PATH,
                cell="A1",
                value=7,
            ),
            near_miss("missing sheet", at(PATH, _data["xlsx"]), **_TEA, sheet="More"),
            near_miss("never calculated", _is(SUM), path=PATH, cell="B4", value=6.5),
            near_miss(
                "different letter case", at(PATH, _data["xlsx"]), path=PATH, cell="A1", value="item"
            ),
            hostile(
                "one million rows",
                at(
                    PATH,
                    ods(
                        '<table:table table:name="Data"><table:table-row table:number-rows-repeated="1000000">'
                        + _cell(2.5)
                        + _cell(2.5)
                        + "</table:table-row></table:table>"
                    ),
                ),
                **_TEA,
            ),
            *document_cases(_data, BARE, _TEA, bomb=True),
            *value_cases(_TEA),
            *typed_value_cases(_TEA),
        ),
        equivalent={
            "at the tolerance: args.tolerance: more": "a larger tolerance accepts everything that a smaller one accepts",
            "*: args.sheet: empty": "any sheet",
        },
    ),
    CaseTable(
        spreadsheets.cell_has_formula,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _data["xlsx"]), **_SUM),
            positive("ods", at(PATH, _data["ods"]), **{**_SUM, "formula": "= sum( $B$2:B3 )"}),
            positive(
                "quotes and separators",
                at(
                    PATH,
                    ods(sheet("Data", [_cell("x", "=IF([.B1]=1;&quot;a;B $c&quot;;[$More.A1])")])),
                ),
                path=PATH,
                cell="A1",
                formula='=IF(B1=1,"a;B $c",More!A1)',
            ),
            positive(
                "lower case and spaces after quotes",
                _is({**SUM, "B4": '=IF(B2>2,"Yes, it is","No")'}),
                **{**_SUM, "formula": '=if( B2 > 2 ; "Yes, it is" ; "No" )'},
            ),
            negative("value instead of a formula", _is({"B4": 6.5}), **_SUM),
            near_miss(
                "text that looks like the formula",
                at(PATH, ods(sheet("Data", *ROWS[:3], [_cell(None), _cell("=SUM(B2:B3)")]))),
                **_SUM,
            ),
            near_miss("different range", _is({**SUM, "B4": "=SUM(B2:B4)"}), **_SUM),
            near_miss("different function", _is({**SUM, "B4": "=SUMSQ(B2:B3)"}), **_SUM),
            near_miss(
                "different letter case in quotes",
                _is({"B4": '="a"'}),
                path=PATH,
                cell="B4",
                formula='="A"',
            ),
            near_miss(
                "space in quotes", _is({"B4": '="a b"'}), path=PATH, cell="B4", formula='="ab"'
            ),
            near_miss("neighbouring cell", _is({**DATA, "C4": "=SUM(B2:B3)"}), **_SUM),
            near_miss("empty expected formula", _is({"B4": 6.5}), **{**_SUM, "formula": ""}),
            *document_cases(_data, BARE, _SUM),
            *formula_cases(_SUM),
            *reference_cases(_SUM),
        ),
        equivalent={"*args.formula: swap case": "letter case is ignored"},
    ),
    CaseTable(
        spreadsheets.cell_calculated,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _data["xlsx"]), **_DONE),
            positive("ods", at(PATH, _data["ods"]), **{**_DONE, "function": "sum"}),
            positive(
                "calculated text",
                _is({"A1": "=UPPER(B1)", "B1": "x"}, {"A1": "X"}),
                path=PATH,
                cell="A1",
                value="X",
                function="UPPER",
            ),
            positive("within a billionth", _is({**SUM}, {"B4": 6.500000001}), **_DONE),
            negative("typed value", _is({"B4": 6.5}), **_DONE),
            near_miss("differs by a millionth", _is({**SUM}, {"B4": 6.500001}), **_DONE),
            near_miss("different function", _is({"B4": "=SUMSQ(1)+B2"}, {"B4": 6.5}), **_DONE),
            near_miss("longer function name", _is({"B4": "=DSUM(B2:B3)"}, {"B4": 6.5}), **_DONE),
            near_miss("function name without a call", _is({"B4": "=SUM+B2"}, {"B4": 6.5}), **_DONE),
            near_miss("different value", _is(SUM, {"B4": 6.4}), **_DONE),
            near_miss("never calculated", _is(SUM), **_DONE),
            *document_cases(_data, BARE, _DONE),
            *calculated_cases(_DONE),
        ),
        equivalent={
            "*args.function: swap case": "letter case is ignored",
            "*args.function: cut": "the truncated name, such as SU or UPPE, is not a called function",
        },
    ),
    CaseTable(
        spreadsheets.cells_equal,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _data["xlsx"]), **_BLOCK),
            positive("ods", at(PATH, _data["ods"]), **_BLOCK),
            positive("in column X", _is({"X2": "x"}), path=PATH, first="X2", rows=[["x"]]),
            positive(
                "far right, with an empty cell",
                _is({"AZ3": 1, "BB3": "x"}),
                path=PATH,
                first="AZ3",
                rows=[[1, None, "x"]],
            ),
            positive(
                "empty text instead of an empty cell",
                at(PATH, ods(sheet("Data", [_cell("")]))),
                path=PATH,
                first="A1",
                rows=[[None]],
            ),
            negative("different values", _is({"A1": 1}), **_BLOCK),
            near_miss("one different value", _is({**DATA, "B3": 4.1}), **_BLOCK),
            near_miss(
                "shifted by one row",
                _is({f"{place[0]}{int(place[1]) + 1}": value for place, value in DATA.items()}),
                **_BLOCK,
            ),
            near_miss(
                "value instead of the empty cell",
                _is({"A1": 1, "B1": 2, "C1": 3}),
                path=PATH,
                first="A1",
                rows=[[1, None, 3]],
            ),
            near_miss("difference above the tolerance", _is({**DATA, "B2": 2.5000001}), **_BLOCK),
            near_miss(
                "missing row",
                _is({"A1": "Item", "B1": "Price", "A2": "Tea", "B2": 2.5}),
                **_BLOCK,
            ),
            near_miss(
                "expected negative number", _is({"A1": 5}), path=PATH, first="A1", rows=[[-5]]
            ),
            near_miss("empty expected rows", at(PATH, _data["xlsx"]), **{**_BLOCK, "rows": []}),
            *document_cases(_data, BARE, _BLOCK),
            *block_cases(_BLOCK),
        ),
        equivalent={"*args.rows: drop": "fewer rows are expected, and they are present"},
    ),
    CaseTable(
        spreadsheets.sheet_size_equals,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _data["xlsx"]), **_SIZE),
            positive("ods", at(PATH, _data["ods"]), **_SIZE),
            positive("wide sheet", _is({"AB1": 1}), path=PATH, rows=1, columns=28),
            positive(
                "size of a different sheet",
                _is(DATA, more=_sheets("More")),
                path=PATH,
                rows=1,
                columns=1,
                sheet="More",
            ),
            negative("one cell", _is({"A1": 1}), **_SIZE),
            near_miss("additional row", _is({**SUM, "A5": "x"}), **_SIZE),
            near_miss("additional column", _is({**SUM, "D1": "x"}), **_SIZE),
            near_miss("rows and columns swapped", _is({"D3": 1}), **_SIZE),
            *document_cases(_data, BARE, _SIZE),
            *size_cases(_SIZE),
        ),
    ),
    CaseTable(
        spreadsheets.sheet_names_equal,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _names["xlsx"]), **_NAMES),
            positive("ods", at(PATH, _names["ods"]), **_NAMES),
            negative("one sheet", at(PATH, _data["xlsx"]), **_NAMES),
            near_miss("different order", at(PATH, ods(sheet("More"), sheet("Data"))), **_NAMES),
            near_miss("additional sheet", _is(DATA, more=_sheets("More", "x")), **_NAMES),
            near_miss("different letter case", _is(DATA, more=_sheets("more")), **_NAMES),
            *document_cases(_names, BARE, _NAMES),
            *name_cases(_NAMES),
            *tab_cases(_NAMES),
        ),
    ),
    CaseTable(
        spreadsheets.sheet_has_chart,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _charts["xlsx"]), **_CHART),
            positive("ods", at(PATH, _charts["ods"]), **{**_CHART, "series": ["Data!$b2:B$3"]}),
            positive(
                "two series in a different order",
                _is({**DATA, "C2": 5}, more=_chart(columns=(3, 2))),
                **{**_CHART, "series": ["C2:C3", "B2:B3"]},
            ),
            positive("bar chart", at(PATH, _ods_chart(_VERTICAL)), **{**_CHART, "kind": "bar"}),
            positive("bar chart, xlsx", _is(DATA, more=_chart("bar")), **{**_CHART, "kind": "bar"}),
            positive(
                "pie chart, any title",
                at(PATH, _ods_chart(kind="chart:circle")),
                path=PATH,
                kind="pie",
                series=["B2:B3"],
            ),
            negative("no chart", at(PATH, _data["xlsx"]), **_CHART),
            near_miss("different chart type", _is(DATA, more=_chart("pie")), **_CHART),
            near_miss(
                "bar chart instead of a column chart", _is(DATA, more=_chart("bar")), **_CHART
            ),
            near_miss("different range", _is(DATA, more=_chart(last=2)), **_CHART),
            near_miss("different title", _is(DATA, more=_chart(title="Price")), **_CHART),
            near_miss("no title", _is(DATA, more=_chart(title="")), **_CHART),
            near_miss(
                "range of a different sheet",
                at(PATH, _charts["ods"]),
                **{**_CHART, "series": ["More!B2:B3"]},
            ),
            near_miss(
                "on a different sheet",
                at(PATH, ods(sheet("x", [_cell(1)]), sheet("Data", *ROWS, after=_OBJECT))),
                **_CHART,
            ),
            near_miss(
                "empty expected ranges", at(PATH, _charts["xlsx"]), **{**_CHART, "series": []}
            ),
            *document_cases(_charts, BARE, _CHART),
            *chart_cases(_CHART),
            *chart_kind_cases(_CHART),
        ),
        equivalent={
            "*args.title: empty": "any title",
            "*args.series: swap case": "letter case is ignored",
        },
    ),
    CaseTable(
        spreadsheets.cells_bold,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _bold["xlsx"]), **_BOLD),
            positive("ods", at(PATH, _bold["ods"]), **_BOLD),
            positive(
                "only cell of the sheet",
                _is({"A1": 1}, more=_fill("A1", bold=True)),
                path=PATH,
                cells=["A1"],
            ),
            positive(
                "additional bold cell", _is(DATA, more=_fill("A1", "B1", "B3", bold=True)), **_BOLD
            ),
            negative("no bold cells", _is(DATA), **_BOLD),
            near_miss("one of two cells", _is(DATA, more=_fill("A1", bold=True)), **_BOLD),
            near_miss("all cells bold", _is(DATA, more=_fill(*DATA, bold=True)), **_BOLD),
            near_miss(
                "empty cell", _is({"A1": 1, "A2": 2}, more=_fill("A1", "B1", bold=True)), **_BOLD
            ),
            near_miss("empty expected cells", _is(DATA), **{**_BOLD, "cells": []}),
            *document_cases(_bold, BARE, _BOLD),
            *bold_cases(_BOLD),
            *passage_cases(_BOLD),
        ),
        equivalent={
            "*args.cells: drop": "fewer cells are expected",
            "*args.cells: repeat": "a repeated cell has no effect",
            "*args.cells: swap case": "the change is not possible",
        },
    ),
    CaseTable(
        spreadsheets.cell_filled,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _fills["xlsx"]), **_FILL),
            positive("ods", at(PATH, _fills["ods"]), **{**_FILL, "colour": "#ffff00"}),
            negative("no fill", _is(DATA), **_FILL),
            near_miss("different colour", _is(DATA, more=_fill("A1", fill="FFFF01")), **_FILL),
            near_miss("different cell", _is(DATA, more=_fill("B1", fill="FFFF00")), **_FILL),
            near_miss("empty cell", _is({"A2": 1}, more=_fill("A1", fill="FFFF00")), **_FILL),
            near_miss("empty expected colour", _is(DATA), **{**_FILL, "colour": ""}),
            *document_cases(_fills, BARE, _FILL),
            *fill_cases(_FILL),
            *column_fill_cases(_FILL),
        ),
        equivalent={"*args.colour: swap case": "letter case is ignored"},
    ),
)
