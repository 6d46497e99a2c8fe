"""Cases of the evaluators of cells: values, formulas and their results."""

from __future__ import annotations

import datetime as dt
import io
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.documents import spreadsheets
from evaluators.testing.case import another_way, corrupt, forged, near_miss, negative, positive
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import broken, with_moving_text
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.sheet_books import (
    PATH,
    SAVED,
    added,
    formatted,
    new,
    ods,
    prices,
    put,
    table,
    xlsx,
)

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

_TEA: dict[str, Any] = {"path": PATH, "cell": "B2", "value": 2.5}
_SUM: dict[str, Any] = {"path": PATH, "cell": "B4", "formula": "=SUM(B2:B3)"}
_DONE: dict[str, Any] = {"path": PATH, "cell": "B4", "value": 6.5, "function": "SUM"}
_BLOCK: dict[str, Any] = {
    "path": PATH,
    "first": "A1",
    "rows": [["Item", "Price"], ["Tea", 2.5], ["Milk", 4]],
}
_HIDDEN = {
    "number format that shows another number": "A1",
    "another number that shows the expected one": "A2",
    "white on white": "A3",
    "characters of 1 pt": "A4",
    "hidden row": "A5",
    "row of 1 pt": "A6",
    "number format that shows nothing": "A7",
    "covered by a picture": "A9",
    "hidden column": "B1",
    "column too narrow, shows ###": "C1",
    "text that shows another": "D1",
    "filled with the colour of its text": "D2",
    "zero, which the window does not show": "D3",
    "text that is repeated": "D4",
    "one word is white": "D5",
    "one word is covered": "D10",
}
"""Cells with 2.5, which is not seen, by what hides it."""


@cache
def _hidden() -> bytes:
    def hide(book: Any) -> None:
        from openpyxl.cell.rich_text import CellRichText, TextBlock
        from openpyxl.cell.text import InlineFont
        from openpyxl.drawing.image import Image as SheetImage
        from openpyxl.styles import Alignment, Font, PatternFill
        from PIL import Image

        sheet = book.active
        sheet.sheet_view.showZeros = False
        sheet["D4"].alignment = Alignment(horizontal="fill")
        white: Any = {"color": "FFFFFFFF"}  # its stubs lack texts
        sheet["D5"] = CellRichText(TextBlock(InlineFont(**white), "not "), "paid")
        sheet["A1"].number_format = '"12"'
        sheet["A2"].number_format = '"2.5"'
        sheet["A3"].font = Font(color="FFFFFFFF")
        sheet["A4"].font = Font(size=1)
        sheet.row_dimensions[5].hidden = True
        sheet.row_dimensions[6].height = 1
        sheet["A7"].number_format = ";;;"
        sheet["D1"].number_format = ';;;"Unpaid"'
        sheet["D2"].font = Font(color="FF000000")
        sheet["D2"].fill = PatternFill("solid", fgColor="FF000000")
        sheet.column_dimensions["B"].hidden = True
        sheet.column_dimensions["C"].width = 1
        for place, width in {"A9": 200, "D10": 20}.items():
            picture = io.BytesIO()
            Image.new("RGB", (width, 40), "white").save(picture, "PNG")
            sheet.add_image(SheetImage(picture), place)

    cells = dict.fromkeys(_HIDDEN.values(), 2.5)
    return xlsx({**cells, **_WANTED, "A2": 41.5}, None, hide)()


def _struck(book: Any) -> None:
    """Turn the 3 of 3.5 in B2 into an 8, by pictures of two strokes."""
    from openpyxl.drawing.image import Image as SheetImage
    from openpyxl.drawing.spreadsheet_drawing import AbsoluteAnchor
    from openpyxl.drawing.xdr import XDRPoint2D, XDRPositiveSize2D
    from PIL import Image

    for left, top in _STROKES:
        data = io.BytesIO()
        Image.new("RGB", (2, 8), "black").save(data, "PNG")
        picture = SheetImage(data)
        size = XDRPositiveSize2D(int(0.25 * _MM), int(0.9 * _MM))
        place = XDRPoint2D(int(left * _MM), int(top * _MM))
        picture.anchor = AbsoluteAnchor(place, size)
        book.active.add_image(picture)


_MM = 36_000
_STROKES = ((35.75, 6.65), (35.75, 7.9))
"""Left and top in mm of what makes an 8 of a 3."""
_WANTED: dict[str, Any] = {
    "A2": 2.5,
    "C1": 2.53125,
    "D1": "Paid",
    "D3": 0,
    "D4": "ab",
    "D5": "not paid",
    "D10": "not paid",
}
_WITHOUT_YEAR = "day and month"
_DISPLAYED: dict[str, tuple[str, str, Any]] = {
    "percent": ("A1", "0.00%", 2.5),
    "currency": ("A2", "#,##0.00 [$€-407]", 1234.5),
    "rounded": ("A3", "0", 2.4),
    "exponent": ("A4", "0.00E+00", 25000),
    "fraction": ("A5", "# ?/?", 2.5),
    "brackets for negative numbers": ("A6", "0.00;(0.00)", -2.5),
    "currency by its code": ("A7", "[$CHF-407] 0.0", 2.5),
    "date": ("B1", "DD MMM YYYY", "2026-11-21"),
    _WITHOUT_YEAR: ("B2", "D.M.", "2026-11-21"),
    "time with AM and PM": ("B3", "h:mm AM/PM", "14:30"),
    "date and time": ("B4", "YYYY-MM-DD HH:MM", "2026-11-21 14:30"),
}


@cache
def _displayed() -> bytes:
    cells = {place: value for place, _, value in _DISPLAYED.values()}
    day = dt.date(2026, 11, 21)
    moments = {
        "B1": day,
        "B2": day,
        "B3": dt.time(14, 30),
        "B4": dt.datetime(2026, 11, 21, 14, 30),  # noqa: DTZ001 - cells have no zone
    }
    formats = {place: {"number_format": code} for place, code, _ in _DISPLAYED.values()}
    wide = formatted(**formats)

    def change(book: Any) -> None:
        wide(book)
        for column in "AB":
            book.active.column_dimensions[column].width = 30

    return xlsx({**cells, **moments}, None, change)()


_FUNCTIONS: dict[str, tuple[str, Any]] = {
    "A1": ("=COUNTIF(F1:F3,12)", 2),
    "A2": ('=COUNTIF(F4:F6,"T*")', 2),
    "A3": ('=COUNTIF(F1:F3,"<>1")', 3),
    "A4": ('=UPPER("straße")', "STRAẞE"),
    "A5": ('=1E15&""', "1000000000000000"),
    "A6": ("=F1=12", True),
    "A7": ('=IF(F1>99,"x","")', ""),
    "A8": ("=SUMPRODUCT(F1:F2*2)", 48),
    "A9": ("=TRIMMEAN(F1:F2,0)", 12),
    "A10": ("=2.2+0.2+0.1", 2.5),
    "A11": ("=DATE(2026,11,21)", "2026-11-21"),
    "A12": ("=More!A1+price", 9.5),
}
"""Formulas that our own calculator refused, and their results."""


@cache
def _functions() -> bytes:
    def name(book: Any) -> None:
        from openpyxl.workbook.defined_name import DefinedName

        added("More")(book)
        book.defined_names["price"] = DefinedName("price", attr_text="Data!$F$7")
        book.active.column_dimensions["A"].width = 20

    others = {"F1": 12, "F2": 12, "F3": "12x", "F4": "Tea", "F5": "Tin", "F6": "Ham", "F7": 2.5}
    formulas = {place: formula for place, (formula, _) in _FUNCTIONS.items()}
    return xlsx({**others, **formulas}, {"A10": 2.5}, name)()


def _moving(animation: str) -> Make:
    """Return a function that creates LibreOffice's workbook with a text beside the table that moves."""
    return lambda: with_moving_text(ods(), "</table:shapes>", animation)


def _filtered(width: float) -> Any:
    """Return a function that gives B2 the button of a filter, in a column of a width."""

    def change(book: Any) -> None:
        book.active.auto_filter.ref = "A2:B3"
        book.active.column_dimensions["B"].width = width

    return change


def _as(code: str) -> Any:
    """Return a function that gives B2 a number format."""
    return formatted(B2={"number_format": code})


def _frozen(first: str) -> Any:
    """Return a function that freezes two rows, or one row and column, from a cell that the window begins with."""

    def change(book: Any) -> None:
        book.active.freeze_panes = "B3" if first[0] == "B" else "A3"
        book.active.sheet_view.topLeftCell = first

    return change


def _untabbed(front: int) -> Any:
    """Return a function that opens the workbook without tabs, with one of two sheets in front."""

    def change(book: Any) -> None:
        added("More")(book)
        book.active = front
        book.views[0].showSheetTabs = False

    return change


_NOTE = "not\npaid"


def _wrapped(height: float) -> Any:
    """Return a function that writes a text of two lines into A2, in a row of this height in points."""

    def change(book: Any) -> None:
        from openpyxl.styles import Alignment

        book.active["A2"] = _NOTE
        book.active["A2"].alignment = Alignment(wrap_text=True, vertical="bottom")
        book.active.row_dimensions[2].height = height

    return change


_STORED = {
    "over empty cells": "=SUM(E2:E6)",
    "division by zero": "=B3/E9",
    "unknown function": "=FORGE(1)",
    "circular reference": "=SUM(B:B)-B2",
}
_CHANCE = "=ROUND(2.5+RAND()/1E9,3)"
_FILE = '=IF(ISNUMBER(SEARCH("/Documents/prices\'#$Data",CELL("filename"))),2.5,7)'
_FORGED_SUMS = {
    "name of the function in a text": '=6.5+0*LEN("SUM(")',
    "over empty cells": "=6.5+SUM(E9)",
    "over zeros": "=6.5+SUM(F2:F3)",
    "over zeros, typed in two parts": "=3+SUM(F2:F3)+3.5",
    "result not used": "=6.5+0*SUM(B2:B3)",
    "never called": "=IF(TRUE,6.5,SUM(B2:B3))",
    "of a typed value": "=SUM(6.5)",
    "of a typed value and a text": "=SUM(A2,6.5)",
    "negligible": "=6.5+SUM(B2:B3)*1E-12",
    "rounded to zero": "=ROUND(SUM(B2:B3)/1E9,0)+6.5",
    "below a typed minimum": "=MIN(6.5,SUM(B2:B3)+100)",
    "in a condition": "=IF(SUM(B2:B3)>0,13/2,0)",
    "added and subtracted": "=6.5+SUM(B2:B3)-SUM(B2:B3)",
    "different function": "=SUMSQ(B2)+0.25",
    "circular": "=SUM(B2:B3,H15)",
}
_SUMS = {
    "cells one by one": "=SUM(B2,B3)",
    "two sums": "=SUM(B2)+SUM(B3)",
    "whole column": "=SUM(B1:B3)",
    "with a condition": '=IF(SUM(B2:B3)>0,SUM(B2:B3),"none")',
    "empty text unless a condition holds": '=IF(SUM(B2:B3)>6,SUM(B2:B3),"")',
    "over cells with formulas": "=SUM(D4:D5)",
    "through another sheet": "=SUM(More!B1:B2)",
    "typed value added and subtracted": "=SUM(B2:B3,5)-5",
    "with a maximum": "=MIN(10,SUM(B2:B3))",
}
_OTHERS: dict[str, tuple[str, str, Any]] = {
    "COUNTIF with a wildcard": ("COUNTIF", '=COUNTIF(A2:A3,"T*")', 1),
    "COUNTIF of what is not 1": ("COUNTIF", '=COUNTIF(B2:B3,"<>1")', 2),
    "IF with typed results": ("IF", '=IF(B2>50,"pass","fail")', "fail"),
    "VLOOKUP": ("VLOOKUP", '=VLOOKUP("Milk",A2:B3,2,FALSE)', 4),
    "UPPER": ("upper", "=UPPER(A2)", "TEA"),
    "AND": ("AND", '=IF(AND(B2>1,B3>1),"ok","no")', "ok"),
    "rounded to tens": ("AVERAGE", "=ROUND(AVERAGE(B2:B3)*10,-1)", 30),
    "SUMPRODUCT": ("SUMPRODUCT", '=SUMPRODUCT(B2:B3*(A2:A3="Tea"))', 2.5),
}


@cache
def _sums() -> bytes:
    def change(book: Any) -> None:
        book.create_sheet("More")["B1"] = "=Data!B2"
        book["More"]["B2"] = "=Data!B3"

    lists = (_FORGED_SUMS.values(), _SUMS.values(), [row[1] for row in _OTHERS.values()])
    formulas = {
        f"{column}{row}": formula
        for column, values in zip("HIJ", lists, strict=True)
        for row, formula in enumerate(values, 1)
    }
    more = {"F2": 0, "F3": 0, "D4": "=B2", "D5": "=B3*1"}
    return prices(change, **more, **formulas)()


def _at_sums(column: str, row: int, value: Any = 6.5, function: str = "SUM") -> dict[str, Any]:
    return {"path": PATH, "cell": f"{column}{row}", "value": value, "function": function}


TABLES = (
    table(
        spreadsheets.cell_equals,
        _TEA,
        *forgeries("cell_equals"),
        positive("calculated", SAVED, path=PATH, cell="B4", value=6.5),
        positive("true", SAVED, path=PATH, cell="C3", value=True),
        positive("text", put(A1=" Item "), path=PATH, cell="A1", value="Item "),
        positive(
            "different sheet", put(added("More")), path=PATH, cell="A1", value=7, sheet="More"
        ),
        positive("at the tolerance", SAVED, **{**_TEA, "value": 2.75}, tolerance=0.25),
        another_way(
            "CSV", at("~/a.csv", lambda: b"Item,Price\nTea,2.5\n"), **{**_TEA, "path": "~/a.csv"}
        ),
        another_way("long label beside it", put(A2="Tea of the best leaves"), **_TEA),
        another_way("by chance, with a stored result", new({"B2": _CHANCE}, {"B2": 2.5}), **_TEA),
        another_way("by the name of its file", new({"B2": _FILE}), **_TEA),
        another_way("below frozen rows", put(_frozen("A1")), **_TEA),
        *(
            another_way(name, at(PATH, _displayed), path=PATH, cell=place, value=value)
            for name, (place, _, value) in _DISPLAYED.items()
            if name != _WITHOUT_YEAR
        ),
        near_miss(_WITHOUT_YEAR, at(PATH, _displayed), path=PATH, cell="B2", value="2026-11-21"),
        negative("different value", put(B2=3), **_TEA),
        near_miss("beyond the tolerance", SAVED, **{**_TEA, "value": 2.76}, tolerance=0.25),
        near_miss("text that looks like the number", put(B2="2.5"), **_TEA),
        near_miss("number instead of a text", SAVED, **{**_TEA, "value": "2.5"}),
        near_miss("1 instead of true", put(B2=1), **{**_TEA, "value": True}),
        near_miss("true instead of 1", put(B2=True), **{**_TEA, "value": 1}),
        near_miss("neighbouring cell", put(B2=None, B3=2.5), **_TEA),
        near_miss("missing sheet", SAVED, **_TEA, sheet="None"),
        near_miss("letter case", SAVED, path=PATH, cell="A1", value="item"),
        near_miss("other day", at(PATH, _displayed), path=PATH, cell="B1", value="2026-11-22"),
        corrupt("truncated XML", at(PATH, lambda: broken(prices()(), "xl/workbook.xml")), **_TEA),
        *(
            forged(name, at(PATH, _hidden), path=PATH, cell=place, value=_WANTED.get(place, 2.5))
            for name, place in _HIDDEN.items()
        ),
        *(
            forged(f"stored result: {name}", new({"B2": formula, "B3": 4}, {"B2": 2.5}), **_TEA)
            for name, formula in _STORED.items()
        ),
        forged("shows the stored result 7", new({"B2": "=B3/2", "B3": 5}, {"B2": 7}), **_TEA),
        forged(
            "by the name of another file",
            new({"A1": '=CELL("filename")', "B2": '=IF(ISERR(SEARCH("prices",A1)),2.5,7)'}),
            **_TEA,
        ),
        forged("only its last line fits", put(_wrapped(15)), path=PATH, cell="A2", value=_NOTE),
        forged("beside a text that moves", at(PATH, _moving("scroll")), **_TEA),
        another_way("beside a text that could move", at(PATH, _moving("none")), **_TEA),
        forged("number without place beside its filter", put(_filtered(4)), **_TEA),
        another_way("beside its filter", put(_filtered(12)), **_TEA),
        forged("typed separator", put(_as("0\\.000"), B2=2500), **{**_TEA, "value": 2500}),
        forged(
            "point of another locale", put(_as("[$-407]#,##0"), B2=2500), **{**_TEA, "value": 2500}
        ),
        another_way("comma of another locale", put(_as("[$-407]0.00"), B2=2.5), **_TEA),
        another_way("true of openpyxl", put(B3=True), path=PATH, cell="B3", value=True),
        another_way("wrapped", put(_wrapped(30)), path=PATH, cell="A2", value=_NOTE),
        *(
            forged(f"in the format {code}", put(formatted(B2={"number_format": code})), **_TEA)
            for code in ('0.0"k"', '"\u221a"0.0', '0.0"\u00b3"', '"\u2014"0.0')
        ),
        forged(
            "day before month",
            put(formatted(B2={"number_format": "DD/MM/YYYY"}), B2=dt.date(2026, 11, 5)),
            path=PATH,
            cell="B2",
            value="2026-11-05",
        ),
        forged("strokes over a digit", put(_struck, B2=3.5), **{**_TEA, "value": 3.5}),
        forged("hidden after a while", put(B2='=2.5+STYLE("Default",9,"Hidden")'), **_TEA),
        forged("in a sheet without a tab", put(_untabbed(1)), **_TEA, sheet="Data"),
        another_way("in the only sheet of a window without tabs", put(_untabbed(0)), **_TEA),
        forged("above frozen rows", put(_frozen("A3")), **_TEA),
        forged("text above a frozen column", put(_frozen("B3")), path=PATH, cell="A2", value="Tea"),
        equivalent={
            "at the tolerance: args.tolerance: more": "a larger tolerance accepts all of a smaller one",
            "*: args.sheet: empty": "any sheet",
        },
    ),
    table(
        spreadsheets.cells_equal,
        _BLOCK,
        another_way(
            "functions of LibreOffice",
            at(PATH, _functions),
            path=PATH,
            first="A1",
            rows=[[value] for _, value in _FUNCTIONS.values()],
        ),
        positive(
            "far right", new({"AZ3": 1, "BB3": "x"}), path=PATH, first="AZ3", rows=[[1, None, "x"]]
        ),
        negative("different values", new({"A1": 1}), **_BLOCK),
        near_miss("one different value", put(B3=4.1), **_BLOCK),
        near_miss("missing row", put(A3=None, B3=None), **_BLOCK),
        near_miss(
            "value instead of an empty cell", SAVED, path=PATH, first="A1", rows=[["Item", None]]
        ),
        near_miss("empty expected rows", SAVED, **{**_BLOCK, "rows": []}),
        forged("one value shows another", put(formatted(B3={"number_format": '"5"'})), **_BLOCK),
        forged(
            "stored result", new({"A1": "=SUM(E2)"}, {"A1": 4}), path=PATH, first="A1", rows=[[4]]
        ),
        forged(
            "cells hidden in several ways",
            at(PATH, _hidden),
            path=PATH,
            first="A3",
            rows=[[2.5], [2.5]],
        ),
        equivalent={"*args.rows: drop": "fewer rows are expected, and they are present"},
    ),
    table(
        spreadsheets.cell_has_formula,
        _SUM,
        *(
            another_way(f"written as {formula}", put(B4=formula), **_SUM)
            for formula in ("=+(SUM((B2:B3)))", "=sum($B$3:B2)", "=SUM(Data!B2:Data!B3)")
        ),
        another_way(
            "expected with its own sheet", SAVED, **{**_SUM, "formula": "= sum( 'data'!b2:$B$3 )"}
        ),
        another_way(
            "newer function, texts, booleans and another sheet",
            put(added("More"), B4='=_xlfn.CONCAT(IF(TRUE,More!A1,"a;B $c"),B2)'),
            **{**_SUM, "formula": '=CONCAT(IF(true;More!$A$1;"a;B $c");B2)'},
        ),
        negative("value", put(B4=6.5), **_SUM),
        near_miss("empty expected formula", put(B4=6.5), **{**_SUM, "formula": ""}),
        near_miss("neighbouring cell", put(B4=None, C4="=SUM(B2:B3)"), **_SUM),
        *(
            near_miss(
                f"{formula} for {expected}",
                put(added("More"), B4=formula),
                **{**_SUM, "formula": expected},
            )
            for formula, expected in (
                ("=SUM(More!B2:B3)", "=SUM(B2:B3)"),
                ("=-SUM(B2:B3)", "=SUM(B2:B3)"),
                ("=(B2+B3)*2", "=B2+B3*2"),
                ('=B2&"x y"', '=B2&"X y"'),
            )
        ),
        forged("text of the formula", put(formatted(B4={"data_type": "s"})), **_SUM),
        forged(
            "number displayed as the formula",
            put(formatted(B4={"number_format": '"=SUM(B2:B3)"'}), B4=6.5),
            **_SUM,
        ),
        forged(
            "in a hidden row",
            put(lambda book: setattr(book.active.row_dimensions[4], "hidden", True)),
            **_SUM,
        ),
        equivalent={"*args.formula: swap case": "letter case is ignored"},
    ),
    table(
        spreadsheets.cell_calculated,
        _DONE,
        *(
            another_way(name, at(PATH, _sums), **_at_sums("I", row))
            for row, name in enumerate(_SUMS, 1)
        ),
        *(
            another_way(name, at(PATH, _sums), **_at_sums("J", row, value, function))
            for row, (name, (function, _, value)) in enumerate(_OTHERS.items(), 1)
        ),
        negative("typed", put(B4=6.5), **_DONE),
        near_miss("function that is not called", SAVED, **{**_DONE, "function": "AVERAGE"}),
        near_miss("different value", SAVED, **{**_DONE, "value": 6.4}),
        *(
            forged(name, at(PATH, _sums), **_at_sums("H", row))
            for row, name in enumerate(_FORGED_SUMS, 1)
        ),
        forged("result shown as another", put(formatted(B4={"number_format": '"7"'})), **_DONE),
        forged("typed if it is so", put(B4="=IF(SUM(B2:B3)=6.5,6.5,0)"), **_DONE),
        equivalent={
            "*args.function: swap case": "letter case is ignored",
            "*args.function: cut": "the cut name, such as SU, is not a called function",
        },
    ),
)
