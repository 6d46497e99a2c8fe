"""Spreadsheets as other programs write them, for each element and value type that the readers support."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged, hostile, near_miss, positive
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, chart_object, odf, unzipped, xlsx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_SHEET = "xl/worksheets/sheet1.xml"
_CHART = "xl/charts/chart1.xml"
_NOTE = "<office:annotation><text:p>x</text:p></office:annotation>"
_TEXT = 'office:value-type="string"'
_NOTED = "<text:p>see below</text:p>"
_DRAWN = f"<draw:custom-shape>{_NOTED}</draw:custom-shape>"
_VALUES: dict[str, tuple[str, str, str | float]] = {
    "percentage": (
        'office:value-type="percentage" office:value="0.25"',
        "<text:p>25 %</text:p>",
        0.25,
    ),
    "currency": (
        'office:value-type="currency" office:currency="EUR" office:value="2.5"',
        "<text:p>2.50 €</text:p>",
        2.5,
    ),
    "time": (
        'office:value-type="time" office:time-value="PT10H30M00S"',
        "<text:p>10:30</text:p>",
        "PT10H30M00S",
    ),
    "date and time": (
        'office:value-type="date" office:date-value="2026-11-21T10:30:00"',
        "<text:p>21/11/26</text:p>",
        "2026-11-21T10:30:00",
    ),
    "text displayed differently": (
        'office:value-type="string" office:string-value="Tea"',
        "<text:p>TEA</text:p>",
        "Tea",
    ),
    "text without a type": ("", "<text:p>Tea</text:p>", "Tea"),
    "two lines": ('office:value-type="string"', "<text:p>a</text:p><text:p>b</text:p>", "a\nb"),
    "heading": ('office:value-type="string"', "<text:h>Tea</text:h>", "Tea"),
    "text with a comment": ('office:value-type="string"', f"{_NOTE}<text:p>Tea</text:p>", "Tea"),
}
_PLACES: dict[str, str | float] = {
    "[.B2:.B3]": "B2:B3",
    "[$Data.B2:.B3]": "Data!B2:B3",
    "[Data.B2:Data.B3]": "Data!B2:B3",
    "['My data'.B2:.B3]": "'My data'!B2:B3",
    "[More.B2]": "More!B2",
}
_KINDS = {
    "BarChart3D": "column",
    "LineChart": "line",
    "LineChart3D": "line",
    "PieChart": "pie",
    "PieChart3D": "pie",
    "ScatterChart": "scatter",
    "AreaChart": "area",
    "AreaChart3D": "area",
}
_ENOUGH = "A1:GR1000"
"""200 columns of 1,000 cells: the largest merged range within the limit."""
_TOO_MANY = ("A1:GS1000", "A1:GR1001", "A1:XFD1048576", "A:A", "1:1")


def _table(rows: str, name: str = "Data", more: str = "") -> str:
    return f'<table:table table:name="{name}" {more}>{rows}</table:table>'


def _row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def _cell(attributes: str, content: str = "") -> str:
    return f"<table:table-cell {attributes}>{content}</table:table-cell>"


def _number(value: float, formula: str = "") -> str:
    of = f'table:formula="of:={formula}"' if formula else ""
    return _cell(f'office:value-type="float" office:value="{value}" {of}')


_DAY = _cell('office:value-type="date" office:date-value="2026-11-21"')


def _ods(body: str, **more: Any) -> Any:
    return partial(odf, "spreadsheet", body, **more)


def _xlsx(build: Callable[[Any, Any], object]) -> Any:
    """Return a function that creates an .xlsx; ``build`` gets the workbook and its sheet ``Data``."""

    @cache
    def make() -> bytes:
        def start(book: Any) -> None:
            book.active.title = "Data"
            for place, value in {"A1": "Item", "B1": "Price", "B2": 2.5, "B3": 4}.items():
                book.active[place] = value
            build(book, book.active)

        return xlsx(start)

    return make


def _block(rows: int, columns: int, name: str = "Data") -> str:
    cell = _cell(
        f'office:value-type="float" office:value="1" table:number-columns-repeated="{columns}"'
    )
    return _table(_row(cell, more=f'table:number-rows-repeated="{rows}"'), name)  # fmt: skip


def _times(put: Callable[[object], Any]) -> tuple[tuple[str, Any, Any, tuple[str, ...]], ...]:
    """Return times in cells: name, function that creates the file, kind of case, and expected value."""
    kind, date, time = "office:value-type", "office:date-value", "office:time-value"

    def ods(name: str, key: str, value: str) -> Any:
        return _ods(_table(_row(_cell(f'{kind}="{name}" {key}="{value}"', "<text:p>x</text:p>"))))

    moment = dt.datetime(2026, 11, 21, 9, 30)  # noqa: DTZ001 - cells have no zone
    day = "2026-11-21"
    clock, moments = ("9:30", " 09:30:00 ", "PT9H30M0S"), (f"{day} 9:30", f"{day}T09:30:00")
    others = ("9:31", "9:30:01", "19:30", f"{day} 9:30", "9", "9:30 x")
    other_days = ("2026-11-22 9:30", f"{day} 9:31", "9:30", day)
    return (
        ("ods: time", ods("time", time, "PT09H30M00S"), another_way, clock),
        ("ods: time", ods("time", time, "PT09H30M00S"), forged, others),
        ("ods: time with seconds", ods("time", time, "PT09H30M07S"), another_way, ("9:30:07",)),
        ("ods: time above 24 hours", ods("time", time, "PT26H05M00S"), another_way, ("26:05",)),
        ("ods: date and time", ods("date", date, f"{day}T09:30:00"), another_way, moments),
        ("ods: date and time", ods("date", date, f"{day}T09:30:00"), forged, other_days),
        ("xlsx: time", put(dt.time(9, 30)), another_way, clock),
        ("xlsx: time", put(dt.time(9, 30)), forged, others),
        ("xlsx: date and time", put(moment), another_way, moments),
        ("xlsx: date and time", put(moment), forged, other_days),
        ("xlsx: text that looks like a time", put("09:30:00"), forged, ("9:30",)),
    )


def typed_value_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a value in A1, by how it is stored."""
    path = str(args["path"])
    moments: dict[str, tuple[object, str]] = {
        "date": (dt.datetime(2026, 11, 21), "2026-11-21"),  # noqa: DTZ001 - cells have no zone
        "date and time": (dt.datetime(2026, 11, 21, 10, 30), "2026-11-21T10:30:00"),  # noqa: DTZ001
        "time": (dt.time(10, 30), "10:30:00"),
    }
    merged = _row(
        _cell('table:number-columns-spanned="2"'),
        "<table:covered-table-cell/>",
        _cell('office:value-type="float" office:value="3"'),
    )

    hide = '<style:style style:name="H" style:family="table"><style:table-properties table:display="false"/></style:style>'
    hidden = 'table:style-name="H"'

    def behind_a_hidden(first: float, second: float) -> Any:
        def build(book: Any, sheet: Any) -> None:
            sheet["A1"] = second
            book.create_sheet("Draft", 0)["A1"] = first
            book["Draft"].sheet_state = "hidden"

        return _xlsx(build)

    def behind_a_hidden_ods(first: float, second: float) -> Any:
        tables = _table(_row(_number(first)), "Draft", hidden) + _table(_row(_number(second)))
        return _ods(tables, automatic=hide)

    def put(value: object) -> Any:
        return _xlsx(lambda _, sheet: sheet.cell(1, 1, value))

    anchored = f"<draw:frame><draw:text-box>{{}}</draw:text-box></draw:frame>{_DRAWN}"

    return (
        *(
            another_way(
                f"ods: {name}",
                at(path, _ods(_table(_row(_cell(attributes, content))))),
                path=path,
                cell="A1",
                value=value,
            )
            for name, (attributes, content, value) in _VALUES.items()
        ),
        *(
            another_way(f"xlsx: {name}", at(path, put(value)), path=path, cell="A1", value=wanted)
            for name, (value, wanted) in moments.items()
        ),
        *(
            case(f"{name} as {wanted}", at(path, make), path=path, cell="A1", value=wanted)
            for name, make, case, texts in _times(put)
            for wanted in texts
        ),
        *(
            case(f"{form}: {what}", at(path, make(*values)), path=path, cell="A1", value=7)
            for form, make in (("xlsx", behind_a_hidden), ("ods", behind_a_hidden_ods))
            for case, what, values in (
                (forged, "in a hidden sheet before the first", (7, 9)),
                (another_way, "after a hidden sheet", (9, 7)),
            )
        ),
        another_way(
            "ods: after shapes with text",
            at(path, _ods(_table(_row(_cell(_TEXT, anchored.format(_NOTED) + "<text:p>Tea</text:p>"))))),
            path=path,
            cell="A1",
            value="Tea",
        ),
        forged(
            "ods: in a text box in the cell",
            at(path, _ods(_table(_row(_cell(_TEXT, anchored.format("<text:p>Tea</text:p>")))))),
            path=path,
            cell="A1",
            value="Tea",
        ),
        another_way(
            "ods: next to merged cells",
            at(path, _ods(_table(merged))),
            path=path,
            cell="C1",
            value=3,
        ),
        *(
            case(
                f"ods: {name}",
                at(path, _ods(_table(_row(*cells)) + _table(_row(_number(7)), "My data"))),
                path=path,
                cell="B1",
                value=value,
            )
            for case, name, cells, value in (
                (another_way, "one day after a date", (_DAY, _number(46348, "[.A1]+1")), 46348),
                (forged, "two days after a date", (_DAY, _number(46349, "[.A1]+1")), 46349),
                (another_way, "sum", (_number(2), _number(5, "SUM([.A1];3)")), 5),
                (forged, "wrong sum", (_number(2), _number(6, "SUM([.A1];3)")), 6),
                (another_way, "reference to a different sheet", (_cell(""), _number(8, "[$'My data'.A1]+1")), 8),
                (forged, "wrong result of a reference to a different sheet", (_cell(""), _number(9, "[$'My data'.A1]+1")), 9),
                (forged, "wrong result of a reference to its own sheet", (_number(2), _number(4, "[$Data.A1]+1")), 4),
            )
        ),
        positive(
            "ods: 200,000 cells", at(path, _ods(_block(400, 500))), path=path, cell="SF400", value=1
        ),
        hostile("ods: 250,000 cells", at(path, _ods(_block(500, 500))), path=path, cell="A1", value=1),
        hostile(
            "ods: 240,000 cells on two sheets",
            at(path, _ods(_block(240, 500) + _block(240, 500, "More"))),
            path=path,
            cell="A1",
            value=1,
        ),
    )  # fmt: skip


def reference_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of formulas in A1 that name cells."""
    path = str(args["path"])

    def array(_: Any, sheet: Any) -> None:
        from openpyxl.worksheet.formula import ArrayFormula

        sheet["A4"] = ArrayFormula("A4:A4", "=SUM(B2:B3)")

    return (
        *(
            another_way(
                f"ods: sum of {of}",
                at(
                    path,
                    _ods(_table(_row(_cell(f'table:formula="of:=SUM({of};3)"', "<text:p>1</text:p>")))),
                ),
                path=path,
                cell="A1",
                formula=f"=SUM({wanted},3)",
            )
            for of, wanted in _PLACES.items()
        ),
        another_way(
            "xlsx: array formula", at(path, _xlsx(array)), path=path, cell="A4", formula="=SUM(B2:B3)"
        ),
    )  # fmt: skip


def tab_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the tabs Data and More."""
    path = str(args["path"])
    style = (
        '<style:style style:name="T" style:family="table">'
        '<style:table-properties table:display="{}"/></style:style>'
    )
    second = _table("", "More", 'table:style-name="T"')

    def build(book: Any, sheet: Any) -> None:
        sheet.merge_cells("C3:D4")
        book.create_sheet("More")

    def merged(place: str) -> bytes:
        data = _xlsx(build)()
        xml = unzipped(data)[_SHEET].replace(b'ref="C3:D4"', f'ref="{place}"'.encode())
        assert xml != unzipped(data)[_SHEET]
        return changed(data, {_SHEET: xml})

    return (
        forged(
            "ods: second sheet hidden",
            at(path, _ods(_table("") + second, automatic=style.format("false"))),
            **args,
        ),
        another_way(
            "ods: second sheet displayed",
            at(path, _ods(_table("") + second, automatic=style.format("true"))),
            **args,
        ),
        positive(f"xlsx: {_ENOUGH} merged", at(path, partial(merged, _ENOUGH)), **args),
        *(
            hostile(f"xlsx: {place} merged", at(path, partial(merged, place)), **args)
            for place in _TOO_MANY
        ),
    )


def _untitled(chart: Any) -> None:
    chart.title = None


def _in_lines(chart: Any) -> None:
    chart.title = "Prices\nof tea"


def _in_pieces(chart: Any) -> None:
    from openpyxl.drawing.text import RegularTextRun

    (paragraph,) = chart.title.tx.rich.p
    paragraph.r = [RegularTextRun(t=piece) for piece in ("Pri", "ces")]


def _with_own_numbers(chart: Any) -> None:
    from openpyxl.chart import Series
    from openpyxl.chart.data_source import NumData, NumDataSource, NumVal

    series = Series("Data!B2:B3")
    values = NumData(pt=[NumVal(idx=0, v="1"), NumVal(idx=1, v="9")])
    series.val = NumDataSource(numLit=values)
    chart.series.append(series)


def _beside_a_line(chart: Any) -> None:
    from openpyxl.chart import LineChart, Series

    line = LineChart()
    line.series.append(Series("Data!C2:C3"))
    chart += line


def _entitled_by_cell(make: Any, title: str) -> bytes:
    """Return a workbook whose chart title refers to a cell; an empty title is not cached."""
    data = make()
    cache = f'<strCache><ptCount val="1"/><pt idx="0"><v>{title}</v></pt></strCache>'
    source = f"<strRef><f>Data!$A$1</f>{cache if title else ''}</strRef>"
    xml = re.sub(
        "<rich>.*?</rich>", source, unzipped(data)[_CHART].decode(), count=1, flags=re.DOTALL
    )
    return changed(data, {_CHART: xml.encode()})


def chart_kind_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a chart of B2:B3 with the title Prices."""
    path = str(args["path"])
    title = "<chart:title><text:p>Prices</text:p></chart:title>"
    plot = (
        "<chart:plot-area><chart:axis>{}</chart:axis>"
        '<chart:series chart:values-cell-range-address="{}"/></chart:plot-area>'
    )
    shapes = "<table:shapes><draw:frame><draw:object xlink:href='{}'/></draw:frame></table:shapes>"

    def drawn(name: str, entitle: Callable[[Any], object] | None = None) -> Any:
        def build(_: Any, sheet: Any) -> None:
            import openpyxl.chart as charts

            chart, source = (
                getattr(charts, name)(),
                charts.Reference(sheet, min_col=2, min_row=2, max_row=3),
            )
            chart.title = "Prices"
            if name == "ScatterChart":
                chart.series.append(charts.Series(source, source))
            else:
                chart.add_data(source)
            if entitle is not None:
                entitle(chart)
            sheet.add_chart(chart, "E2")

        return _xlsx(build)

    def ods(inner: str, href: str = "./Object 1") -> Any:
        chart = f'<chart:chart chart:class="chart:bar">{inner}</chart:chart>'
        return _ods(_table(shapes.format(href)), files=chart_object(chart))

    place = "Data.$B$2:Data.$B$3"
    any_title = {**args, "title": ""}
    with_line: dict[str, Any] = {**args, "series": ["B2:B3", "C2:C3"]}
    return (
        *(
            another_way(f"xlsx: {name}", at(path, drawn(name)), **{**args, "kind": kind})
            for name, kind in _KINDS.items()
        ),
        another_way("xlsx: without a title", at(path, drawn("BarChart", _untitled)), **any_title),
        near_miss("xlsx: missing title", at(path, drawn("BarChart", _untitled)), **args),
        another_way("xlsx: title from a cell", at(path, partial(_entitled_by_cell, drawn("BarChart"), "Prices")), **args),
        forged("xlsx: different title from a cell", at(path, partial(_entitled_by_cell, drawn("BarChart"), "Item")), **args),
        near_miss("xlsx: title from a cell, not cached", at(path, partial(_entitled_by_cell, drawn("BarChart"), "")), **args),
        another_way(
            "xlsx: any title from a cell, not cached",
            at(path, partial(_entitled_by_cell, drawn("BarChart"), "")),
            **any_title,
        ),
        forged("xlsx: additional line series", at(path, drawn("BarChart", _beside_a_line)), **args),
        another_way(
            "xlsx: with an expected line series",
            at(path, drawn("BarChart", _beside_a_line)),
            **with_line,
        ),
        another_way(
            "xlsx: title with two lines",
            at(path, drawn("BarChart", _in_lines)),
            **{**args, "title": "Prices\nof tea"},
        ),
        another_way("xlsx: title split over runs", at(path, drawn("BarChart", _in_pieces)), **args),
        forged("xlsx: additional series of literal numbers", at(path, drawn("BarChart", _with_own_numbers)), **args),
        near_miss("ods: title of an axis", at(path, ods(plot.format(title, place))), **args),
        another_way("ods: without a title", at(path, ods(plot.format("", place))), **any_title),
        another_way(
            "ods: path without a leading `./`", at(path, ods(title + plot.format("", place), "Object 1")), **args
        ),
        another_way(
            "ods: sheet named once in a range",
            at(path, ods(title + plot.format("", "$Data.$B$2:.$B$3"))),
            **args,
        ),
        forged(
            "ods: chart that is not displayed",
            at(path, ods(title + plot.format("", place), "./Object 2")),
            **args,
        ),
    )  # fmt: skip


def pane_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of frozen rows and columns in workbooks."""
    path = str(args["path"])
    column = {**args, "rows": 0, "columns": 1}

    def frozen(_: Any, sheet: Any) -> None:
        sheet.freeze_panes = "B1"

    def header(change: Callable[[Any], object], place: str = "A2") -> Any:
        def build(_: Any, sheet: Any) -> None:
            sheet.freeze_panes = place
            change(sheet)

        return _xlsx(build)

    def hide(line: Any, **how: object) -> None:
        for name, value in ({"hidden": True} | how).items():
            setattr(line, name, value)

    def hide_others(sheet: Any) -> None:
        hide(sheet.sheet_format, zeroHeight=True)
        hide(sheet.row_dimensions[1], hidden=False, height=20.0)

    hidden = {
        "frozen row hidden": header(lambda sheet: hide(sheet.row_dimensions[1])),
        "frozen row without a height": header(lambda sheet: hide(sheet.row_dimensions[1], hidden=False, height=0.5)),
        "rows hidden by default": header(lambda sheet: hide(sheet.sheet_format, zeroHeight=True)),
    }  # fmt: skip
    narrow = {
        "frozen column hidden": lambda sheet: hide(sheet.column_dimensions["A"]),
        "frozen column without a width": lambda sheet: hide(
            sheet.column_dimensions["A"], hidden=False, width=0.1
        ),
    }
    seen = {
        "different row hidden": lambda sheet: hide(sheet.row_dimensions[2]),
        "different column hidden": lambda sheet: hide(sheet.column_dimensions["A"]),
        "all other rows hidden": hide_others,
        "low row": lambda sheet: hide(sheet.row_dimensions[1], hidden=False, height=1.0),
    }
    return (
        *(forged(f"xlsx: {name}", at(path, book), **args) for name, book in hidden.items()),
        *(
            forged(f"xlsx: {name}", at(path, header(change, "B1")), **column)
            for name, change in narrow.items()
        ),
        *(
            another_way(f"xlsx: {name}", at(path, header(change)), **args)
            for name, change in seen.items()
        ),
        another_way(
            "xlsx: different column narrow",
            at(path, header(lambda sheet: hide(sheet.column_dimensions["B"], width=0.1), "B1")),
            **column,
        ),
        another_way(
            "xlsx: narrow column",
            at(
                path,
                header(
                    lambda sheet: hide(sheet.column_dimensions["A"], hidden=False, width=0.2), "B1"
                ),
            ),
            **column,
        ),
        another_way("xlsx: frozen column", at(path, _xlsx(frozen)), **column),
        near_miss("xlsx: no frozen column", at(path, _xlsx(lambda *_: None)), **column),
        near_miss("ods: no frozen column", at(path, _ods(_table(""))), **column),
    )


_HEAVY = (
    '<style:style style:name="B" style:family="table-cell"><style:table-cell-properties '
    'fo:background-color="#ffff00"/><style:text-properties fo:font-weight="bold"/></style:style>'
    '<style:style style:name="N" style:family="table-cell"/>'
    '<style:style style:name="H" style:family="table-cell" style:parent-style-name="B"/>'
    '<style:style style:name="T" style:family="table-cell" style:parent-style-name="B">'
    '<style:table-cell-properties fo:background-color="transparent"/></style:style>'
    '<style:style style:name="W" style:family="table-cell">'
    '<style:text-properties fo:background-color="#ffff00"/></style:style>'
    '<style:style style:name="b" style:family="text"><style:text-properties fo:font-weight="bold"/>'
    '</style:style><style:style style:name="n" style:family="text"><style:text-properties '
    'fo:font-weight="normal"/></style:style>'
)


def _styled(text: str, style: str = "", more: str = "") -> str:
    look = f'table:style-name="{style}"' if style else ""
    return _cell(f'office:value-type="string" {look} {more}', f"<text:p>{text}</text:p>")


def _in(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


def _columns(*styles: tuple[str, int]) -> str:
    """Return the XML of columns, with the given number of each style."""
    return "".join(
        "<table:table-column"
        + (f' table:number-columns-repeated="{number}"' if number > 1 else "")
        + (f' table:default-cell-style-name="{style}"/>' if style else "/>")
        for style, number in styles
    )


_USUAL = 'table:default-cell-style-name="{}"'
_PLAIN_ROW = _row(_styled("c"), _styled("d"))


def passage_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of bold A1 and B1 with formatted passages in their texts."""
    path = str(args["path"])

    def rich(*passages: tuple[str, bool | None], bold: bool) -> Any:
        def build(_: Any, sheet: Any) -> None:
            from openpyxl.cell.rich_text import CellRichText, TextBlock
            from openpyxl.cell.text import InlineFont
            from openpyxl.styles import Font

            sheet["A1"] = CellRichText(
                *(
                    text if heavy is None else TextBlock(InlineFont(b=heavy), text)
                    for text, heavy in passages
                )
            )
            sheet["A1"].font = Font(bold=bold)
            sheet["B1"].font = Font(bold=True)

        return _xlsx(build)

    books: dict[str, tuple[Any, Any]] = {
        "bold cells with regular text": (forged, rich(("Item", False), bold=True)),
        "one regular word": (forged, rich(("Item", None), (" x", False), bold=True)),
        "word without its own font": (forged, rich(("Item", None), ("x", True), bold=False)),
        "all words bold": (
            another_way,
            rich(("Item", True), (" ", False), ("x", True), bold=False),
        ),
        "other text with the cell's font": (
            another_way,
            rich(("It", None), ("em", True), bold=True),
        ),
    }
    tables: dict[str, tuple[Any, str]] = {
        "bold cells with regular text": (
            forged,
            _row(_styled(_in("n", "a"), "B"), _styled("b", "B")),
        ),
        "one regular word": (forged, _row(_styled(f"a {_in('n', 'x')}", "B"), _styled("b", "B"))),
        "regular word nested in a bold passage": (
            forged,
            _row(_styled(_in("b", f"a {_in('n', 'x')}")), _styled("b", "B")),
        ),
        "regular linked word": (
            forged,
            _row(_styled(f"<text:a>{_in('n', 'x')}</text:a>", "B"), _styled("b", "B")),
        ),
        "all words bold": (
            another_way,
            _row(_styled(f"{_in('b', 'a')} {_in('b', 'x')}"), _styled(_in("b", "b"))),
        ),
        "regular comment": (
            another_way,
            _row(
                _cell(
                    'office:value-type="string" table:style-name="B"',
                    _NOTE.replace(">x<", f">{_in('n', 'x')}<") + "<text:p>a</text:p>",
                ),
                _styled("b", "B"),
            ),
        ),
        "text returned by a formula": (
            another_way,
            _row(_styled(_in("n", "a"), "B", 'table:formula="of:=[.B1]"'), _styled("b", "B")),
        ),
        "numbers": (
            another_way,
            _row(
                *[
                    _cell(
                        'office:value-type="float" office:value="7" table:style-name="B"',
                        f"<text:p>{_in('n', '7')}</text:p>",
                    )
                ]
                * 2
            ),
        ),
        "bold by the style of the columns": (
            another_way,
            _columns(("B", 2), ("", 3)) + _row(_styled("a"), _styled("b"), _styled("c")),
        ),
        "bold by the style of the row": (
            another_way,
            _columns(("N", 4))
            + _row(_styled("a"), _styled("b"), more=_USUAL.format("B"))
            + _PLAIN_ROW,
        ),
        "bold style of adjacent columns": (
            forged,
            _columns(("N", 1), ("B", 2)) + _row(_styled("a"), _styled("b"), _styled("c")),
        ),
        "bold columns, cells with a different style": (
            forged,
            _columns(("B", 2)) + _row(_styled("a", "N"), _styled("b", "N")),
        ),
        "bold columns, row with a different style": (
            forged,
            _columns(("B", 2)) + _row(_styled("a"), _styled("b"), more=_USUAL.format("N")),
        ),
    }
    return (
        *(case(f"xlsx: {name}", at(path, make), **args) for name, (case, make) in books.items()),
        *(
            case(f"ods: {name}", at(path, _ods(_table(rows + _PLAIN_ROW), automatic=_HEAVY)), **args)
            for name, (case, rows) in tables.items()
        ),
    )  # fmt: skip


def column_fill_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a yellow A1 in a yellow column."""
    path = str(args["path"])
    column = _columns(("B", 1))
    return (
        another_way(
            "ods: filled by its column",
            at(path, _ods(_table(column + _row(_styled("a"))), automatic=_HEAVY)),
            **args,
        ),
        *(
            case(
                f"ods: {name}",
                at(path, _ods(_table(_row(_styled("a", style))), automatic=_HEAVY)),
                **args,
            )
            for case, name, style in (
                (another_way, "with a derived style", "H"),
                (forged, "reset to transparent", "T"),
                (forged, "text background only", "W"),
            )
        ),
        *(
            forged(
                f"ods: no colour: {name}",
                at(path, _ods(_table(_row(_styled("a", style))), automatic=_HEAVY)),
                **{**args, "colour": colour},
            )
            for name, style, colour in (
                ("transparent", "T", "transparent"),
                ("no fill", "N", "xx"),
            )
        ),
        another_way(
            "ods: filled by the default style",
            at(
                path,
                _ods(
                    _table(_row(_styled("a"))),
                    styles='<office:styles><style:default-style style:family="table-cell">'
                    '<style:table-cell-properties fo:background-color="#FFFF00"/>'
                    "</style:default-style></office:styles>",
                ),
            ),
            **args,
        ),
        forged(
            "ods: column filled, cell with a different style",
            at(path, _ods(_table(column + _row(_styled("a", "N"))), automatic=_HEAVY)),
            **args,
        ),
    )
