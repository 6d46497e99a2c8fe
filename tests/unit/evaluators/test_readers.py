"""Documents saved by LibreOffice are read the same in both families of formats, in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluators.readers.formats import read_document
from evaluators.readers.reading import ChildReader
from evaluators.recognition.ocr import holds
from tests.cpu import least_cpu_s
from tests.evaluator_cases.file_builders import bombed, changed, odf, pptx, unzipped, xlsx

EXTENT_CPU_S = 1.0
"""Processor time for a sheet of two cells; visiting its whole extent takes 16 s."""
DOCUMENTS = Path(__file__).parents[2] / "golden/documents"


def read(kind: str, name: str) -> Any:  # noqa: ANN401
    return read_document(kind, (DOCUMENTS / name).read_bytes())


@pytest.mark.parametrize("name", ["prices.ods", "prices.xlsx"])
def test_spreadsheet_values_formulas_and_charts_are_read(name: str) -> None:
    data, notes = read("workbook", name).sheets
    assert (data.name, notes.name) == ("Data", "Notes")
    total = data.cells["B6"]
    assert (total.value, total.formula, total.fill) == (8.0, "=SUM(B2:B4)", "ffff00")
    assert (data.cells["B7"].value, data.cells["B7"].formula) == (
        "much",
        '=IF(B6>5,"much","little")',
    )
    assert (data.cells["C2"].value, data.cells["A1"].bold) == ("2026-11-21", True)
    assert notes.cells["A1"].formula == "=Data!B6*2"
    (chart,) = data.charts
    assert (chart.kind, chart.title) == ("column", "Prices")
    assert [series.replace("$", "") for series in chart.series] == ["Data!B2:B4"]


@pytest.mark.parametrize("name", ["talk.odp", "talk.pptx"])
def test_slide_titles_notes_and_pictures_are_read(name: str) -> None:
    first, second = read("deck", name).slides
    assert (first.shapes[0].kind, first.shapes[0].text, first.notes) == (
        "title",
        "Hello all",
        "Smile at them",
    )
    picture = next(shape for shape in second.shapes if shape.kind == "picture")
    assert (round(picture.left, 2), round(picture.top, 2)) == (0.6, 0.33)
    assert picture.picture


@pytest.mark.parametrize("form", ["odp", "pptx"])
def test_slide_shape_without_text_is_other(form: str) -> None:
    def build(deck: Any) -> None:  # noqa: ANN401
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "x"
        slide.shapes.add_connector(1, 0, 0, 99, 99)

    page = "<draw:page><draw:rect><text:p>x</text:p></draw:rect><draw:line/></draw:page>"
    data = odf("presentation", page) if form == "odp" else pptx(build)
    (slide,) = read_document("deck", data).slides
    assert [(shape.kind, shape.text, shape.picture) for shape in slide.shapes] == [
        ("text", "x", ""),
        ("other", "", ""),
    ]


@pytest.mark.slow
def test_workbook_reading_cost_follows_content_not_extent() -> None:
    def build(book: Any) -> None:  # noqa: ANN401
        book.active["A1"] = 1
        book.active["XFD1048576"] = 2

    data = xlsx(build)
    spent_s, book = least_cpu_s(lambda: read_document("workbook", data))
    assert spent_s < EXTENT_CPU_S
    cells = book.sheets[0].cells
    assert {place: cell.value for place, cell in cells.items()} == {"A1": 1, "XFD1048576": 2}


def test_merged_range_of_a_whole_sheet_is_rejected_at_once() -> None:
    def build(book: Any) -> None:  # noqa: ANN401
        book.active["A1"] = 1
        book.active.merge_cells("A1:B2")

    part = "xl/worksheets/sheet1.xml"
    data = xlsx(build)
    sheet = unzipped(data)[part]
    assert b'ref="A1:B2"' in sheet
    huge = changed(data, {part: sheet.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')})
    assert read_document("workbook", data).sheets[0].cells["A1"].value == 1

    def refuse() -> None:
        with pytest.raises(ValueError, match="merged ranges"):
            read_document("workbook", huge)

    assert least_cpu_s(refuse)[0] < EXTENT_CPU_S


@pytest.mark.slow
def test_child_reads_valid_files_and_survives_invalid_ones() -> None:
    reader, good = ChildReader(), (DOCUMENTS / "prices.ods").read_bytes()
    assert reader.read("workbook", good, timeout_s=120) == read("workbook", "prices.ods")
    assert reader.read("deck", good, timeout_s=120) is None
    assert reader.read("workbook", good[:-100], timeout_s=120) is None
    assert reader.read("workbook", bombed(good), timeout_s=120) is None


@pytest.mark.parametrize(
    ("line", "wanted", "is_held"),
    [
        ("Total: 42.50", "42.50", True),
        ("Coffeebeans", "Coffee beans", True),
        ("Invoice 78", "Invoice 7", False),
        ("reInvoice 7", "Invoice 7", False),
        ("Invoice 7", "invoice 7", False),
        ("Invoice 78 Invoice 7", "Invoice 7", True),
        ("anything", "", False),
    ],
)
def test_recognised_line_matches_whole_words_only(line: str, wanted: str, is_held: bool) -> None:
    assert holds(line, wanted) is is_held
