"""Verdicts of imported tasks on documents, by the real renderer, beside those of the original functions.

As `tests.unit.controller.importing.test_verdicts`, for functions that compare documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases.file_builders import docx, pdf, pptx, xlsx
from tests.standins.foreign_tasks import Judge, cloud_file, import_one, osworld, rule, vm_file
from tests.standins.renderer import real_views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from evaluators.rendering.client import DocumentViews

pytestmark = [pytest.mark.docker]
Document = Any
"""Documents of libraries without types."""


@dataclass(frozen=True)
class Sample:
    """A task, and documents for which its original function returns 1 (`right`) and 0 (`wrong`)."""

    original: str
    content: dict[str, Any]
    path: str
    right: bytes
    wrong: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)


def _letter(*texts: str, font: str = "", numbered: bool = False) -> bytes:
    def build(document: Document) -> None:
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        for text in texts:
            run = document.add_paragraph().add_run(text)
            if font:
                run.font.name = font
        if numbered:
            run = document.sections[0].footer.paragraphs[0].add_run()
            for tag, kind, text in (
                ("w:fldChar", "begin", ""),
                ("w:instrText", "", "PAGE"),
                ("w:fldChar", "separate", ""),
                ("w:t", "", "1"),
                ("w:fldChar", "end", ""),
            ):
                part = OxmlElement(tag)
                if kind:
                    part.set(qn("w:fldCharType"), kind)
                part.text = text or None
                run._r.append(part)

    return docx(build)


def _book(rows: list[list[object]]) -> bytes:
    def build(book: Document) -> None:
        for row in rows:
            book.active.append(row)

    return xlsx(build)


def _deck(text: str, *, is_bold: bool = False, is_portrait: bool = False) -> bytes:
    def build(deck: Document) -> None:
        from pptx.util import Cm

        if is_portrait:
            deck.slide_width, deck.slide_height = Cm(19), Cm(25.4)
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        box = slide.shapes.add_textbox(Cm(2), Cm(2), Cm(12), Cm(3))
        run = box.text_frame.paragraphs[0].add_run()
        run.text = text
        run.font.bold = is_bold

    return pptx(build)


_LETTER, _BOOK, _DECK, _PDF = (
    f"/home/user/Desktop/work.{suffix}" for suffix in ("docx", "xlsx", "pptx", "pdf")
)
_GOLD_BOOK = _book([["item", "price"], ["tea", 2.5], ["jam", 4.12345]])

SAMPLES = {
    "compare_docx_files": Sample(
        "compare_docx_files, OSWorld (ignore_blanks): paragraphs are equal but for white space",
        osworld(
            "compare_docx_files", result=vm_file(_LETTER), expected=cloud_file("w/one/gold.docx")
        ),
        _LETTER,
        _letter("Dear Ines,", "", "the room is booked."),
        _letter("Dear Ines,", "the room is not booked."),
        {"w/one/gold.docx": _letter("Dear Ines,", "the room is booked.")},
    ),
    "compare_font_names": Sample(
        "compare_font_names, OSWorld 0e763496: every run of the body has the font",
        osworld(
            "compare_font_names",
            result=vm_file(_LETTER),
            expected=rule(font_name="Liberation Serif"),
        ),
        _LETTER,
        _letter("One", "Two", font="Liberation Serif"),
        _letter("One", "Two", font="Liberation Sans"),
    ),
    "has_page_numbers_in_footers": Sample(
        "has_page_numbers_in_footers, OSWorld 0e47de2a: a digit in each footer",
        osworld("has_page_numbers_in_footers", result=vm_file(_LETTER)),
        _LETTER,
        _letter("Text", numbered=True),
        _letter("Text"),
    ),
    "compare_table": Sample(
        "compare_table sheet_data, OSWorld 01b269ae: values are equal, rounded to four decimals",
        osworld(
            "compare_table",
            result=vm_file(_BOOK),
            expected=cloud_file("c/one/gold.xlsx"),
            options={"rules": [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}]},
        ),
        _BOOK,
        _book([["item", "price"], ["tea", 2.5], ["jam", 4.12347]]),
        _book([["item", "price"], ["tea", 2.5], ["jam", 4.1239]]),
        {"c/one/gold.xlsx": _GOLD_BOOK},
    ),
    "compare_table check_cell": Sample(
        "compare_table check_cell, OSWorld 357ef137: the cell's value is near the number",
        osworld(
            "compare_table",
            result=vm_file(_BOOK),
            options={
                "rules": [
                    {
                        "type": "check_cell",
                        "sheet_idx": 0,
                        "coordinate": "B2",
                        "props": {"value": {"method": "approx:0.01", "ref": 2.505}},
                    }
                ]
            },
        ),
        _BOOK,
        _GOLD_BOOK,
        _book([["item", "price"], ["tea", 2.6]]),
    ),
    "compare_pptx_files": Sample(
        "compare_pptx_files, OSWorld 73c99fb9: shapes, texts and their formats are equal",
        osworld(
            "compare_pptx_files", result=vm_file(_DECK), expected=cloud_file("i/one/gold.pptx")
        ),
        _DECK,
        _deck("Hello", is_bold=True),
        _deck("Hello"),
        {"i/one/gold.pptx": _deck("Hello", is_bold=True)},
    ),
    "check_slide_orientation_Portrait": Sample(
        "check_slide_orientation_Portrait, OSWorld ce88f674: slides are higher than wide",
        osworld("check_slide_orientation_Portrait", result=vm_file(_DECK)),
        _DECK,
        _deck("Hello", is_portrait=True),
        _deck("Hello"),
    ),
    "check_pdf_pages": Sample(
        "check_pdf_pages, OSWorld aa3a8974: the number of pages is equal",
        osworld("check_pdf_pages", result=vm_file(_PDF), expected=rule(relation="eq", ref_value=1)),
        _PDF,
        pdf(["One"]),
        pdf(["One", "Two"]),
    ),
    "compare_pdfs": Sample(
        "compare_pdfs, OSWorld 68a25bd4: 1 only if the texts of all pages are equal",
        osworld("compare_pdfs", result=vm_file(_PDF), expected=cloud_file("p/one/gold.pdf")),
        _PDF,
        pdf(["A paper about tea"], title="other"),
        pdf(["A paper about jam"]),
        {"p/one/gold.pdf": pdf(["A paper about tea"])},
    ),
}


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentViews]:
    opened = real_views(tmp_path_factory.mktemp("views"))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_verdict_is_that_of_the_original(
    name: str, views: DocumentViews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MachineFixture, "views", views)
    sample = SAMPLES[name]
    _, suite = import_one(tmp_path, sample.content, sample.files)
    assert suite is not None
    met = []
    for case, data in (("right", sample.right), ("wrong", sample.wrong)):
        judge = Judge(suite, tmp_path / case)
        judge.desktop.write(sample.path, data)
        met.append(judge.met("result"))
    assert met == [True, False], sample.original
