"""Tests of the real renderer on workbooks: what it shows, and forgeries of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from PIL import Image

from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.request import (
    CellItem,
    CellPlace,
    Input,
    Perturbation,
    SheetObjectItem,
    ViewRequest,
)
from evaluators.rendering.views.sheets import SheetsView
from tests.standins.renderer import real_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.client import DocumentViews
    from evaluators.rendering.views.common import Shown

Book = Any
"""Tabs are of several types, whose stubs lack methods."""
pytestmark = [pytest.mark.docker]

_FLAT_ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles>
 <style:style style:name="twip" style:family="table-row"><style:table-row-properties
  style:row-height="0.018mm" style:use-optimal-row-height="false"/></style:style>
</office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="S">
 <table:table-row><table:table-cell office:value-type="string"><text:p>Total</text:p>
  </table:table-cell></table:table-row>
 <table:table-row table:style-name="twip"><table:table-cell office:value-type="string">
  <text:p>Paid</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document>
"""


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentViews]:
    opened = real_views(tmp_path_factory.mktemp("views"))
    yield opened
    opened.close()


def workbook() -> Book:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "S"
    return book


def view(
    views: DocumentViews, book: Book, request: ViewRequest
) -> tuple[SheetsView, tuple[bytes, ...]]:
    out = io.BytesIO()
    book.save(out)
    viewed = views.view(out.getvalue(), request)
    assert isinstance(viewed.view, SheetsView)
    return viewed.view, viewed.pages


def shown_cells(views: DocumentViews, book: Book, *cells: str) -> list[Shown]:
    items = tuple(CellItem(sheet="S", cell=cell) for cell in cells)
    return list(view(views, book, ViewRequest(suffix="xlsx", shown=items))[0].shown)


def test_the_view_has_what_the_sheet_shows(views: DocumentViews) -> None:
    book = workbook()
    sheet = book["S"]
    sheet.append(["Item", "Price", "Note", "merged"])
    sheet.append(["ä", 41.5, True])
    sheet.append(['=UPPER("straße")', '=COUNTIF(B2:B2,">1")', "=1/0"])
    sheet["B2"].number_format = '"12"'
    sheet["A1"].font = Font(bold=True, size=14, color="FFFF0000", name="Liberation Sans")
    sheet["A1"].fill = PatternFill("solid", fgColor="FFFFFF00")
    sheet.merge_cells("D1:E2")
    sheet.row_dimensions[3].hidden = True
    sheet.freeze_panes = "B2"
    sheet["A2"].comment = Comment("My note", "me")
    rule = DataValidation(type="list", formula1='"a,b"')
    sheet.add_data_validation(rule)
    rule.add("C2")
    chart = BarChart()
    chart.title = "Prices"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "F3")
    book.create_sheet("Hidden").sheet_state = "hidden"

    seen, _ = view(views, book, ViewRequest(suffix="xlsx"))
    assert [(tab.name, tab.is_shown) for tab in seen.sheets] == [("S", True), ("Hidden", False)]
    tab = seen.sheets[0]
    cells = {name: tab.cell(name) for name in ("B2", "C2", "A3", "B3", "C3", "A1", "B1")}
    assert all(cells.values())
    found = {
        name: (cell.text, cell.value, cell.type, cell.formula)
        for name, cell in cells.items()
        if cell
    }
    assert found["B2"] == ("12", 41.5, "number", "")
    assert found["C2"][:3] == ("TRUE", 1, "boolean")
    assert found["A3"] == ("STRAẞE", "STRAẞE", "text", '=UPPER("straße")')
    assert found["B3"][:2] == ("1", 1)
    assert found["C3"] == ("#DIV/0!", None, "error", "=1/0")
    assert cells["A1"]
    look = tab.formats[cells["A1"].format]
    assert (look.is_bold, look.size_pt, look.color, look.background, look.font) == (
        True,
        14,
        "#ff0000",
        "#ffff00",
        "Liberation Sans",
    )
    assert tab.merged == ("D1:E2",)
    assert tab.hidden_rows == (2,)
    assert (tab.frozen_rows, tab.frozen_columns) == (1, 1)
    assert tab.validations[0].ranges == ("C2",)
    assert [(note.row, note.column, note.text) for note in tab.comments] == [(1, 0, "My note")]
    assert (tab.charts[0].title, tab.charts[0].series[0].values) == ("Prices", (41.5,))


def test_what_is_not_seen_is_not_shown(views: DocumentViews) -> None:
    book = workbook()
    sheet = book["S"]
    for row in range(1, 9):
        sheet.cell(row, 1, "Paid")
    sheet["A2"].font = Font(color="FFFFFFFF")
    sheet["A3"].number_format = ";;;"
    sheet.row_dimensions[4].hidden = True
    sheet["A5"].font = Font(size=1)
    sheet["A6"].number_format = ';;;"Unpaid"'
    sheet["A7"].fill = PatternFill("solid", fgColor="FF000000")
    sheet["A8"].font = Font(color="FFFAFAFA")
    names = [f"A{row}" for row in range(1, 9)]
    rows = dict(zip(names, shown_cells(views, book, *names), strict=True))
    assert [name for name in names if rows[name].is_shown] == ["A1", "A6"]
    assert rows["A6"].drawn.strip() == "Unpaid"
    assert rows["A8"].reason == "it hardly differs from its background"
    assert rows["A5"].reason == "it is too small to read"


def test_a_number_in_the_format_of_another_shows_the_other(views: DocumentViews) -> None:
    book = workbook()
    book["S"]["A1"] = 41.5
    book["S"]["A1"].number_format = '"12"'
    (row,) = shown_cells(views, book, "A1")
    assert (row.is_shown, row.drawn.strip()) == (True, "12")


def test_a_row_of_one_twip_shows_nothing(views: DocumentViews) -> None:
    items = (CellItem(sheet="S", cell="A1"), CellItem(sheet="S", cell="A2"))
    viewed = views.view(_FLAT_ODS.encode(), ViewRequest(suffix="fods", shown=items))
    assert [row.is_shown for row in viewed.view.shown] == [True, False]


def test_charts_are_seen_or_tiny(views: DocumentViews) -> None:
    book = workbook()
    sheet = book["S"]
    for row in ("n", 1, 2, 3):
        sheet.append([row])
    for anchor, size_cm in {"C2": 8.0, "C30": 1 / 360_000}.items():
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4), titles_from_data=True)
        chart.width = chart.height = size_cm  # type: ignore[assignment]
        sheet.add_chart(chart, anchor)
    plain, _ = view(views, book, ViewRequest(suffix="xlsx"))
    names = [chart.name for chart in plain.sheets[0].charts]
    items = tuple(SheetObjectItem(sheet="S", name=name) for name in names)
    seen, _ = view(views, book, ViewRequest(suffix="xlsx", shown=items))
    assert len(names) == 2
    assert [row.is_shown for row in seen.shown] == [True, False]


def test_a_picture_covers_what_is_below(views: DocumentViews) -> None:
    from openpyxl.drawing.image import Image as SheetImage
    from PIL import Image

    book = workbook()
    book["S"]["B2"] = "Paid"
    book["S"]["B20"] = "Paid"
    picture = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(picture, "PNG")
    book["S"].add_image(SheetImage(picture), "A1")
    assert [row.is_shown for row in shown_cells(views, book, "B2", "B20")] == [False, True]


def test_other_inputs_tell_a_formula_from_a_typed_number(views: DocumentViews) -> None:
    book = workbook()
    for number in (1, 2, "=SUM(A1:A2)", 3):
        book["S"].append([number])
    change = Perturbation(
        inputs=(Input(sheet="S", cell="A1", value=10),),
        results=tuple(CellPlace(sheet="S", cell=cell) for cell in ("A3", "A4")),
    )
    seen, _ = view(views, book, ViewRequest(suffix="xlsx", perturbations=(change,)))
    assert [row.value for row in seen.perturbed[0]] == [12, 3]
    total = seen.sheets[0].cell("A3")
    assert total is not None
    assert total.value == 3


def test_parts_far_apart_have_a_picture_each(views: DocumentViews) -> None:
    book = workbook()
    book["S"]["A1"] = book["S"]["BZ900"] = "Paid"
    book["S"].print_area = "C1:D2"
    items = tuple(CellItem(sheet="S", cell=cell) for cell in ("BZ900", "A1", "ZZ1"))
    request = ViewRequest(suffix="xlsx", shown=items, pages=True)
    seen, pages = view(views, book, request)
    assert [row.is_shown for row in seen.shown] == [True, True, False]
    assert not seen.shown[2].is_found
    assert len(pages) == 2
    assert all(page.startswith(b"\x89PNG") for page in pages)


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_what_is_no_workbook_is_refused(suffix: str, views: DocumentViews) -> None:
    data = b"PK\3\4junk"
    with pytest.raises(DocumentUnviewableError):
        views.view(data, ViewRequest(suffix=suffix))


def test_pages_without_items_show_all_that_shown_sheets_have(views: DocumentViews) -> None:
    book = workbook()
    for row in range(1, 60):
        book["S"].append([f"Item {row}", row])
    book["S"]["AA1"] = "far to the right"
    book.create_sheet("Hidden").sheet_state = "hidden"
    book["Hidden"]["A1"] = "secret"
    book.create_sheet("Other")["A1"] = "other"
    _, pages = view(views, book, ViewRequest(suffix="xlsx", pages=True))
    # Two tiles down for 59 rows, and two across, of the first sheet; one of the last.
    assert len(pages) == 5
    inks = [Image.open(io.BytesIO(page)).convert("L").histogram()[0] for page in pages]
    assert inks[0] > inks[2] > 0 < inks[1]
    assert inks[4] > 0


def test_a_workbook_of_too_many_pages_is_refused_if_pages_are_asked_for(
    views: DocumentViews,
) -> None:
    book = workbook()
    for row in range(1, 4000, 20):
        book["S"].cell(row, 1).value = row
    assert view(views, book, ViewRequest(suffix="xlsx"))[1] == ()
    with pytest.raises(DocumentUnviewableError, match="pages"):
        view(views, book, ViewRequest(suffix="xlsx", pages=True))


def test_text_in_the_colour_of_its_cell_is_not_shown_though_its_row_would_shrink(
    views: DocumentViews,
) -> None:
    book = workbook()
    book["S"]["A1"] = book["S"]["A2"] = 2.5
    book["S"]["A1"].font = Font(color="FF000000")
    book["S"]["A1"].fill = PatternFill("solid", fgColor="FF000000")
    covered, plain = shown_cells(views, book, "A1", "A2")
    assert (covered.is_shown, covered.background) == (False, "#000000")
    assert (plain.is_shown, plain.background) == (True, "#ffffff")


def test_what_is_drawn_in_a_cell_is_not_the_end_of_its_neighbour(views: DocumentViews) -> None:
    book = workbook()
    book["S"]["A1"], book["S"]["B1"] = "a long label of seven or more words", 41.5
    book["S"]["A2"], book["S"]["A3"] = 12345678901, "x" * 90
    book["S"].column_dimensions["A"].width = 5
    label, number, narrow, spilt = shown_cells(views, book, "A1", "B1", "A2", "A3")
    assert label.is_shown
    assert number.drawn == "41.5"
    assert narrow.drawn == "###"
    assert spilt.is_shown


def test_an_asked_cell_does_not_change_the_results_of_others(views: DocumentViews) -> None:
    from openpyxl.worksheet.formula import ArrayFormula

    book = workbook()
    book["S"]["A1"], book["S"]["A2"] = 1, 2
    book["S"]["B1"] = ArrayFormula("B1", "=SUM(A1:A2*2)")
    rows = shown_cells(views, book, "A1", "A2", "B1")
    assert [row.drawn for row in rows] == ["1", "2", "6"]


def test_all_typed_cells_and_formulas_can_be_changed(views: DocumentViews) -> None:
    book = workbook()
    for value in (1, 2, "=SUM(A1:A2)", '=COUNTIF(A1:A2,"<>1")', "Tea"):
        book["S"].append([value])
    book["S"]["B5"] = "=UPPER(A5)"
    places = tuple(CellPlace(sheet="", cell=cell) for cell in ("A3", "A4", "B5"))
    changes = (
        Perturbation(typed="emptied", results=places),
        Perturbation(typed="filled", filling=1, results=places),
        Perturbation(typed="changed", results=places),
        Perturbation(inputs=(Input(sheet="", cell="A3", formula="=7*A2"),), results=places),
        Perturbation(results=places),
    )
    seen, _ = view(views, book, ViewRequest(suffix="xlsx", perturbations=changes))
    emptied, filled, changed, other, restored = (
        [result.value for result in row] for row in seen.perturbed
    )
    assert (emptied[0], emptied[2]) == (0, "")
    assert filled[:2] == [2, 0]
    assert changed[2] == "TEA?"
    assert changed[0] != 3
    assert other == [14, 1, "TEA"]
    assert restored == [3, 1, "TEA"]


def test_the_window_and_the_parts_of_asked_cells_are_told(views: DocumentViews) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    book = workbook()
    book["S"]["A1"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"))
    book["S"].sheet_view.zoomScale = 140
    items = (CellItem(sheet="", cell="A1"),)
    seen, _ = view(views, book, ViewRequest(suffix="xlsx", shown=items))
    cell = seen.sheets[0].cell("A1")
    assert cell is not None
    assert [(run.text, run.is_bold) for run in cell.runs] == [("plain ", False), ("bold", True)]
    assert seen.sheets[0].zoom_percent == 140
    assert seen.null_date == "1899-12-30"
    assert len(seen.sheets[0].column_widths_mm) == 1
