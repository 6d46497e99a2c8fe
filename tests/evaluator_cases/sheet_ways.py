"""Forged spreadsheets with the table of tea and milk, and legitimate ones that are created differently."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, odf, unzipped, xlsx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_SHEET = "xl/worksheets/sheet1.xml"
_FIRST: dict[str, Any] = {"A1": "Item", "B1": "Price", "A2": "Tea", "A3": "Milk", "C3": True}
_DATA: dict[str, Any] = {**_FIRST, "B2": 2.5, "B3": 4}


def _book(
    cells: Mapping[str, Any],
    values: Mapping[str, float | str] | None = None,
    more: Callable[[Any], object] | None = None,
) -> bytes:
    def build(book: Any) -> None:
        book.active.title = "Data"
        for place, value in cells.items():
            book.active[place] = value
        if more is not None:
            more(book)

    return xlsx(build, values)


def _state(*given: Any, path: Json, **named: Any) -> Any:
    return at(str(path), partial(_book, *given, **named))


def _format(place: str, code: str) -> Callable[[Any], None]:
    def apply(book: Any) -> None:
        book.active[place].number_format = code

    return apply


def _second_sheet(book: Any) -> None:
    book.create_sheet("More")


def _comment(place: str, text: str) -> Callable[[Any], None]:
    def apply(book: Any) -> None:
        from openpyxl.comments import Comment

        book.active[place].comment = Comment(text, "Ann")

    return apply


def _ods(rows: list[str], name: str = "Data") -> bytes:
    xml = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    return odf("spreadsheet", f'<table:table table:name="{name}">{xml}</table:table>')


def _as_results(cells: Mapping[str, Any]) -> bytes:
    """Return a workbook that stores its texts like results of formulas."""
    data = _book(cells)
    xml = unzipped(data)[_SHEET].decode()
    text = re.compile(r't="inlineStr"><is><t>(.*?)</t></is>')
    assert text.search(xml)
    return changed(data, {_SHEET: text.sub(r't="str"><v>\1</v>', xml).encode()})


def value_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the value 2.5 in B2."""
    path = args["path"]
    shown = '<table:table-cell/><table:table-cell office:value-type="float" office:value="9">'
    return (
        forged(
            "stored result of a formula over empty cells",
            _state({**_FIRST, "B2": "=SUM(E2:E6)", "B3": 4}, {"B2": 2.5}, path=path),
            **args,
        ),
        *(
            forged(
                name,
                _state(
                    {**_FIRST, "B2": formula, "B3": 4, "C9": "=FORGE(1)"}, {"B2": 2.5}, path=path
                ),
                **args,
            )
            for name, formula in {
                "stored result of a circular reference": "=SUM(B:B)-B2",
                "stored result of a division by zero": "=B3/E9",
                "stored result of a missing sheet": "=None!B2",
                "stored result of an unknown function": "=FORGE(1)",
                "stored result of a truncated formula": "=SUM(B3",
                "stored result of an error": "=#REF!+B3",
                "stored result that depends on an unknown function": "=B3+C9",
            }.items()
        ),
        another_way(
            "formula that the evaluator does not support",
            _state({**_FIRST, "B2": "=TRIMMEAN(B3:B4,0)", "B3": 4}, {"B2": 2.5}, path=path),
            **args,
        ),
        *(
            another_way(
                f"formula with {name}",
                _state({**_FIRST, "B2": formula}, {"B2": 2.5}, path=path),
                **args,
            )
            for name, formula in {
                "a newer function": "=_xlfn.XLOOKUP(1,B3:B4,B3:B4)",
                "a LibreOffice function": "=GAUSS(B3)",
                "a name": "=price*1",
            }.items()
        ),
        another_way(
            "sum of binary fractions",
            _state({**_FIRST, "B2": "=2.2+0.2+0.1"}, {"B2": 2.2 + 0.2 + 0.1}, path=path),
            **args,
        ),
        forged(
            "different number displayed as the expected one",
            _state({**_DATA, "B2": 9}, more=_format("B2", '"2.5"'), path=path),
            **args,
        ),
        forged(
            "ods: different number displayed as the expected one",
            at(
                str(path),
                partial(
                    _ods,
                    ["", "<table:table-cell/>", f"{shown}<text:p>2.5</text:p></table:table-cell>"][
                        1:
                    ],
                ),
            ),
            **args,
        ),
        another_way(
            "calculated by a formula",
            _state({**_FIRST, "B2": "=B3/2+0.5", "B3": 4}, {"B2": 2.5}, path=path),
            **args,
        ),
        another_way(
            "displayed as a percentage", _state(_DATA, more=_format("B2", "0%"), path=path), **args
        ),
        another_way("texts stored as results", at(str(path), partial(_as_results, _DATA)), **args),
        another_way(
            "calculated empty text",
            _state({**_DATA, "D1": '=IF(B2>9,"x","")'}, {"D1": ""}, path=path),
            path=path,
            cell="D1",
            value="",
        ),
        forged(
            "empty text, not yet calculated",
            _state({**_DATA, "D1": '=IF(B2>9,"x","")'}, path=path),
            path=path,
            cell="D1",
            value="",
        ),
    )


def block_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the block from A1 to B3."""
    path = args["path"]
    stored = {**_FIRST, "B2": 2.5, "B3": "=SUM(E2:E6)"}
    nothing = {**_DATA, "D1": '=IF(B2>9,"x","")'}
    gap: dict[str, Any] = {
        "path": path,
        "first": "C1",
        "rows": [[None, None], [None, None], [True, None]],
    }
    return (
        another_way("calculated empty text", _state(nothing, {"D1": ""}, path=path), **gap),
        forged(
            "stored empty text differs from the calculated result",
            _state({**nothing, "D1": '=IF(B2>2,"x","")'}, {"D1": ""}, path=path),
            **gap,
        ),
        forged(
            "not yet calculated", _state({**nothing, "D1": '=IF(B2>2,"x","")'}, path=path), **gap
        ),
        forged(
            "stored result of a formula over empty cells",
            _state(stored, {"B3": 4}, path=path),
            **args,
        ),
        forged(
            "different number displayed as the expected one",
            _state({**_DATA, "B3": 9}, more=_format("B3", '"4"'), path=path),
            **args,
        ),
        another_way(
            "calculated value",
            _state({**_FIRST, "B2": 2.5, "B3": "=ROUND(B2*1.5,0)"}, {"B3": 4}, path=path),
            **args,
        ),
        another_way("texts stored as results", at(str(path), partial(_as_results, _DATA)), **args),
    )


def formula_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of =SUM(B2:B3) in B4."""
    path = args["path"]

    def quoted(book: Any) -> None:
        book.active["B4"].value = "=SUM(B2:B3)"
        book.active["B4"].data_type = "s"
        book.active["B4"].quotePrefix = True

    of = '<table:table-cell/><table:table-cell office:value-type="float" office:value="6.5" '
    pad = ["<table:table-cell/>"] * 3
    return (
        forged("text of the formula", _state(_DATA, more=quoted, path=path), **args),
        forged(
            "number displayed as the formula",
            _state({**_DATA, "B4": 6.5}, more=_format("B4", '"=SUM(B2:B3)"'), path=path),
            **args,
        ),
        forged(
            "formula in a comment",
            _state({**_DATA, "B4": 6.5}, more=_comment("B4", "=SUM(B2:B3)"), path=path),
            **args,
        ),
        *(
            another_way(
                f"newer function as stored: {name}",
                _state({**_DATA, "B4": f"={name}(B2,B3)"}, path=path),
                **{**args, "formula": "=CONCAT(B2,B3)"},
            )
            for name in ("_xlfn.CONCAT", "CONCAT")
        ),
        another_way(
            "ods: newer function as stored",
            at(
                str(path),
                partial(
                    _ods, [*pad, f'{of}table:formula="of:=COM.MICROSOFT.CONCAT([.B2];[.B3])"/>']
                ),
            ),
            **{**args, "formula": "=CONCAT(B2,B3)"},
        ),
        another_way(
            "Boolean as stored by LibreOffice",
            _state({**_DATA, "B4": "=IF(TRUE(),B2,FALSE())"}, path=path),
            **{**args, "formula": "=IF(true,B2,FALSE)"},
        ),
        forged(
            "name of a different function",
            _state({**_DATA, "B4": "=_xlfn.CONCAT(B2,B3)"}, path=path),
            **{**args, "formula": "=XCONCAT(B2,B3)"},
        ),
        another_way(
            "absolute references in lower case",
            _state({**_DATA, "B4": "=sum($B$2:$B$3)"}, path=path),
            **args,
        ),
        *(
            another_way(name, _state({**_DATA, "B4": formula}, path=path), **args)
            for name, formula in {
                "with a plus sign": "=+SUM(B2:B3)",
                "in brackets": "=(SUM(B2:B3))",
                "arguments in brackets, with a plus sign": "=+(SUM((B2:B3)))",
                "with the name of its own sheet": "=SUM(Data!B2:B3)",
                "with its own sheet in quotes and in lower case": "=SUM('data'!B2:B3)",
                "with its own sheet at both ends": "=SUM(Data!B2:Data!B3)",
                "range from the bottom": "=SUM(B3:B2)",
                "range from the bottom, absolute": "=SUM($B$3:$B$2)",
            }.items()
        ),
        another_way(
            "expected with the name of its own sheet",
            _state({**_DATA, "B4": "=SUM(B2:B3)"}, path=path),
            **{**args, "formula": "=SUM(Data!B2:B3)"},
        ),
        another_way(
            "ods, with the name of its own sheet",
            at(
                str(path),
                partial(_ods, [*pad, f'{of}table:formula="of:=SUM([$Data.B2:.B3])"/>']),
            ),
            **args,
        ),
        *(
            forged(
                name,
                _state({**_DATA, "B4": formula}, more=_second_sheet, path=path),
                **{**args, "formula": expected},
            )
            for name, formula, expected in (
                ("range of a different sheet", "=SUM(More!B2:B3)", "=SUM(B2:B3)"),
                ("range over two sheets", "=SUM(Data!B2:More!B3)", "=SUM(B2:B3)"),
                ("with a minus sign", "=-SUM(B2:B3)", "=SUM(B2:B3)"),
                ("brackets that change the result", "=(B2+B3)*2", "=B2+B3*2"),
                ("operands in a different order", "=B3-B2", "=B2-B3"),
                ("text in a different letter case", '=B2&"x"', '=B2&"X"'),
            )
        ),
        another_way(
            "ods, in the notation of Excel",
            at(str(path), partial(_ods, [*pad, f'{of}table:formula="msoxl:=SUM(B2:B3)"/>'])),
            **args,
        ),
    )


def calculated_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of 6.5 in B4 by SUM."""
    path = args["path"]
    forgeries = {
        "function name in a text": '=6.5+0*LEN("SUM(")',
        "over empty cells": "=SUM(E2:E6)",
        "over different cells": "=SUM(B2:B2)",
        "result not used": "=6.5+0*SUM(B2:B3)",
        "never called": "=IF(TRUE,6.5,SUM(B2:B3))",
        "different function that starts with the name": "=SUMX2MY2(B2:B3)",
        "with an unknown function": "=SUM(B2:B3)+FORGE()",
        "circular reference": "=SUM(B2:B4)",
        "over a stored result of empty cells": "=SUM(D2,B3)",
        "over text cells": "=SUM(A2:A3)",
        "typed value plus the sum of an empty cell": "=6.5+SUM(E9)",
        "typed value plus a sum of zeros": "=6.5+SUM(F2:F3)",
        "typed value plus a product with zero": "=6.5+SUM(0*B2)",
        "sum of a typed value": "=SUM(6.5)",
        "typed value plus a negligible sum": "=6.5+SUM(B2:B3)*1E-12",
        "typed value in two parts plus a negligible sum": "=3+SUM(B2:B3)*1E-12+3.5",
        "typed value plus a sum rounded to zero": "=ROUND(SUM(B2:B3)/1E9,0)+6.5",
        "typed value as maximum": "=MAX(6.5,SUM(E9))",
        "typed value as minimum": "=MIN(6.5,SUM(B2:B3)+100)",
        "typed value in a condition": "=IF(SUM(B2:B3)>0,6.5,0)",
        "typed calculation in a condition": "=IF(SUM(B2:B3)>0,13/2,0)",
        "sum added and subtracted": "=6.5+SUM(B2:B3)-SUM(B2:B3)",
        "sum of a text and a typed value": "=SUM(A2,6.5)",
        "sum with a typed value, minus the sum": "=SUM(B2:B3,6.5)-SUM(B2:B3)",
    }
    ways = {
        "cells one by one": "=SUM(B2,B3)",
        "sum of two sums": "=SUM(B2)+SUM(B3)",
        "over the whole column": "=SUM(B1:B3)",
        "rounded": "=ROUND(SUM($B$2:B3),1)",
        "with a plus sign": "=+SUM(B2:B3)",
        "in brackets": "=(SUM(B2:B3))",
        "range from the bottom": "=SUM(B3:B2)",
        "with the name of the sheet": "=SUM(Data!B2:B3)",
        "with a condition": '=IF(SUM(B2:B3)>0,SUM(B2:B3),"none")',
        "over cells with formulas": "=SUM(D4:D5)",
        "with an additional typed value subtracted": "=SUM(B2:B3,5)-5",
        "multiplied and divided": "=SUM(B2:B3)*6.5/6.5",
        "with a maximum": "=MIN(10,SUM(B2:B3))",
        "empty text unless a condition holds": '=IF(SUM(B2:B3)>6,SUM(B2:B3),"")',
    }
    stored = {"B4": 6.5, "D2": 2.5}
    through = {"D2": "=SUM(E2:E6)", "F2": 0, "F3": 0, "D4": "=B2", "D5": "=B3*1"}
    return (
        *(
            forged(name, _state({**_DATA, **through, "B4": formula}, stored, path=path), **args)
            for name, formula in forgeries.items()
        ),
        *(
            another_way(
                name,
                _state(
                    {**_DATA, **through, "B4": formula}, {**stored, "D4": 2.5, "D5": 4}, path=path
                ),
                **args,
            )
            for name, formula in ways.items()
        ),
    )


def size_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of a sheet of 4 rows and 3 columns."""
    path = args["path"]

    def declared(cells: Mapping[str, Any]) -> bytes:
        data = _book(cells)
        xml = unzipped(data)[_SHEET].decode()
        assert 'ref="A1:C3"' in xml
        return changed(data, {_SHEET: xml.replace('ref="A1:C3"', 'ref="A1:C4"').encode()})

    empty_row = '<table:table-row table:number-rows-repeated="1048572"><table:table-cell/></table:table-row>'
    cell = '<table:table-cell office:value-type="float" office:value="1"/>'
    row = f"<table:table-row>{cell * 3}<table:table-cell table:number-columns-repeated='16381'/></table:table-row>"
    whole = f'<table:table table:name="Data">{row * 4}{empty_row}</table:table>'
    return (
        forged("only declared size", at(str(path), partial(declared, _DATA)), **args),
        forged(
            "cells with only a format",
            _state(_DATA, more=_format("C4", "0%"), path=path),
            **args,
        ),
        forged("additional comment", _state(_DATA, more=_comment("C4", "x"), path=path), **args),
        another_way(
            "additional formats",
            _state({**_DATA, "A4": 1}, more=_format("F9", "0%"), path=path),
            **args,
        ),
        another_way(
            "ods, empty cells to the end of the sheet",
            at(str(path), partial(odf, "spreadsheet", whole)),
            **args,
        ),
    )


def name_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the sheets Data and More."""
    path = args["path"]

    def range_named(book: Any) -> None:
        from openpyxl.workbook.defined_name import DefinedName

        book.defined_names["More"] = DefinedName("More", attr_text="Data!$A$1")

    def hidden(book: Any) -> None:
        book.create_sheet("More").sheet_state = "hidden"

    def reordered(book: Any) -> None:
        book.create_sheet("More", 0)
        book.move_sheet("More", 1)
        book.active = 1

    two = "".join(f'<table:table table:name="{name}"/>' for name in ("Data", "More"))
    return (
        forged("named range", _state(_DATA, more=range_named, path=path), **args),
        forged("hidden sheet", _state(_DATA, more=hidden, path=path), **args),
        another_way("sheets reordered", _state({}, more=reordered, path=path), **args),
        another_way("ods without cells", at(str(path), partial(odf, "spreadsheet", two)), **args),
    )


def chart_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of a column chart of B2:B3 with the title Prices."""
    path = args["path"]

    def chart(book: Any, sheet: Any, series: str = "'Data'!$B$2:$B$3") -> None:
        from openpyxl.chart import BarChart, Series

        graph: Any = BarChart()
        graph.type, graph.title = "col", "Prices"
        graph.series.append(Series(series))
        sheet.add_chart(graph, "E2")

    def unreferenced() -> bytes:
        data = _book(_DATA, more=lambda book: chart(book, book.active))
        xml = unzipped(data)[_SHEET].decode()
        assert "<drawing " in xml
        start = xml.index("<drawing ")
        end = xml.index("/>", start) + 2
        return changed(data, {_SHEET: (xml[:start] + xml[end:]).encode()})

    def elsewhere(book: Any) -> None:
        chart(book, book.create_sheet("More"))

    return (
        forged("stored, but not on the sheet", at(str(path), unreferenced), **args),
        forged("drawing on a different sheet", _state(_DATA, more=elsewhere, path=path), **args),
        another_way(
            "absolute references with a quoted sheet name",
            _state(_DATA, more=lambda book: chart(book, book.active), path=path),
            **args,
        ),
        another_way(
            "relative references",
            _state(_DATA, more=lambda book: chart(book, book.active, "Data!B2:B3"), path=path),
            **args,
        ),
    )


def bold_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of bold A1 and B1."""
    path = args["path"]

    def font(**look: Any) -> Callable[[Any], None]:
        def apply(book: Any) -> None:
            from openpyxl.styles import Font

            for place in ("A1", "B1"):
                book.active[place].font = Font(**look)

        return apply

    def conditional(book: Any) -> None:
        from openpyxl.formatting.rule import FormulaRule
        from openpyxl.styles import Font

        rule = FormulaRule(["FALSE"], font=Font(bold=True))  # type: ignore[no-untyped-call]
        book.active.conditional_formatting.add("A1:B1", rule)

    def styled(book: Any) -> None:
        from openpyxl.styles import Font, NamedStyle

        book.add_named_style(NamedStyle("Loud", font=Font(bold=True)))
        for place in ("A1", "B1"):
            book.active[place].style = "Loud"

    return (
        forged(
            "conditional format that never applies",
            _state(_DATA, more=conditional, path=path),
            **args,
        ),
        forged(
            "large font", _state(_DATA, more=font(name="Arial Black", size=20), path=path), **args
        ),
        another_way("named style", _state(_DATA, more=styled, path=path), **args),
        another_way(
            "bold and italic", _state(_DATA, more=font(bold=True, italic=True), path=path), **args
        ),
    )


def fill_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return the cases of a yellow A1."""
    path = args["path"]

    no_colour = {**args, "colour": "xx"}

    def fill(kind: Any, colour: str) -> Callable[[Any], None]:
        def apply(book: Any) -> None:
            from openpyxl.styles import PatternFill

            book.active["A1"].fill = PatternFill(kind, fgColor=colour)

        return apply

    def numbered(index: int) -> Callable[[Any], None]:
        def apply(book: Any) -> None:
            from openpyxl.styles import Color, PatternFill

            book.active["A1"].fill = PatternFill("solid", fgColor=Color(indexed=index))

        return apply

    def themed(accent: str, number: int = 4, tint: float = 0.0) -> Callable[[Any], None]:
        def apply(book: Any) -> None:
            from openpyxl.styles import Color, PatternFill
            from openpyxl.writer.theme import theme_xml

            book.loaded_theme = theme_xml.replace("4F81BD", accent).encode()
            colour = Color(theme=number, tint=tint)
            book.active["A1"].fill = PatternFill("solid", fgColor=colour)

        return apply

    def styled(book: Any) -> None:
        from openpyxl.styles import NamedStyle, PatternFill

        book.add_named_style(NamedStyle("Lit", fill=PatternFill("solid", fgColor="FFFFFF00")))
        book.active["A1"].style = "Lit"

    return (
        forged(
            "colour without a fill", _state(_DATA, more=fill(None, "FFFF00"), path=path), **args
        ),
        forged("dotted pattern", _state(_DATA, more=fill("gray0625", "FFFF00"), path=path), **args),
        another_way("opaque", _state(_DATA, more=fill("solid", "FFFFFF00"), path=path), **args),
        another_way("palette colour", _state(_DATA, more=numbered(13), path=path), **args),
        forged("adjacent palette colour", _state(_DATA, more=numbered(14), path=path), **args),
        forged("beyond the palette", _state(_DATA, more=numbered(64), path=path), **args),
        another_way("named style", _state(_DATA, more=styled, path=path), **args),
        another_way(
            "system white",
            _state(_DATA, more=themed("FFFF00", 0), path=path),
            **{**args, "colour": "ffffff"},
        ),
        *(
            forged(f"no colour: {name}", _state(_DATA, more=more, path=path), **no_colour)
            for name, more in {
                "no fill": None,
                "dots": fill("gray0625", "FFFF00"),
                "a named theme colour": themed("yellow"),
            }.items()
        ),
        *(
            case(f"theme colour: {name}", _state(_DATA, more=themed(*colour), path=path), **args)
            for case, name, colour in (
                (another_way, "unchanged", ("FFFF00",)),
                (another_way, "lightened", ("808000", 4, (0.5 - 64 / 255) / (1 - 64 / 255))),
                (another_way, "darkened", ("FFFF80", 4, 255 / 383 - 1)),
                (forged, "too dark", ("FFFF00", 4, -0.25)),
                (forged, "too light", ("FFFF00", 4, 0.4)),
                (forged, "adjacent colour", ("FFFF00", 5)),
                (forged, "beyond the theme", ("FFFF00", 12)),
                (forged, "named colour", ("yellow",)),
                (forged, "corrupt", ('"/><a:x val="FFFF00',)),
            )
        ),
    )
