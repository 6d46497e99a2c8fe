"""Cases of the evaluators of PDFs."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.documents import pdfs
from evaluators.loading.suite import BUILTIN
from evaluators.testing.case import (
    Case,
    another_way,
    empty,
    forged,
    hostile,
    near_miss,
    negative,
    positive,
)
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.pdf_pages import (
    OFF,
    TICK,
    draw,
    form,
    outlined,
    page,
    pages,
    renamed,
    text_field,
    tick_box,
)
from tests.evaluator_cases.slide_decks import table

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/a.pdf"
_REGISTRATION = BUILTIN / "documents" / "data" / "registration.pdf"
_GOOD = pages(draw("Invoice 7 of May"), draw("Thank you"), title="Report")
_COUNT: dict[str, Any] = {"path": PATH, "count": 2}
_SIZE: dict[str, Any] = {"path": PATH, "width_mm": 210, "height_mm": 297}
_A4 = pages(draw("x"), box="0 0 595.28 841.89")
_TEXT: dict[str, Any] = {"path": PATH, "text": "Invoice 7"}
_FIELD: dict[str, Any] = {"path": PATH, "field": "name", "value": "Ann"}
_ANN = form(text_field("name", "Ann"))
_TICKED: dict[str, Any] = {"path": PATH, "field": "news", "checked": True}
_TICK = form(tick_box("news", "Yes"))
_OUTLINE: dict[str, Any] = {"path": PATH, "title": "Costs", "page": 2}
_UTF_16 = "\\376\\377" + "".join(f"\\000{letter}" for letter in "Report")
_OUTLINED = outlined("Aims", "Costs")
_TITLE: dict[str, Any] = {"path": PATH, "title": "Report"}


def _by_pypdf(**values: str) -> Make:
    """Return a function that fills in the form of the suite with pypdf."""

    @cache
    def make() -> bytes:
        import pypdf

        writer = pypdf.PdfWriter(clone_from=io.BytesIO(_REGISTRATION.read_bytes()))
        writer.update_page_form_field_values(writer.pages[0], values, auto_regenerate=False)
        file = io.BytesIO()
        writer.write(file)
        return file.getvalue()

    return make


def _forged_text(name: str, content: str, **more: str) -> Case:
    return forged(name, at(PATH, page(content, **more)), **_TEXT)


_SCRIPT = " /OpenAction << /S /JavaScript /JS (this.getField\\('name'\\).value = 'Bob') >>"


_SECOND = f"/Type /Annot /Subtype /Widget {text_field('name', 'Ann', left=300)}"
"""Another place of the field ``name``."""


def _annotated(kind: str, left: int = 60) -> Make:
    """Return a function that creates a page with a text and an annotation without an appearance."""
    corners = f"{left} 700 {left + 200} 700 {left + 200} 740 {left} 740"
    shape = (
        f"<< /Type /Annot /Subtype /{kind} /Rect [{left} 700 {left + 200} 740] /Vertices [{corners}] "
        "/C [1 1 1] /IC [1 1 1] /F 4 >>"
    )
    return pages(draw("Invoice 7"), box=f"0 0 612 792] /Annots [{shape}] /X [")


def _choice(options: str) -> str:
    """Return the entries of a list of which ``Ann`` is chosen."""
    return text_field("name", f"Ann) /Ff 131072 /Opt [{options}] /TU (x", shown="Ann").replace(
        "/Tx", "/Ch"
    )


_DRAWN_BY_VIEWERS = {
    "rotated": text_field("name", "Ann) /MK << /R 90 >> /TU (x", shown="Ann"),
    "black on black": text_field("name", "Ann) /MK << /BG [0 0 0] >> /TU (x", shown="Ann"),
    "white": text_field("name", "Ann", shown="Ann", look="1 g"),
    "tiny": text_field("name", "Ann", shown="Ann").replace("/F 12 Tf", "/F 0.5 Tf", 1),
    "another option": _choice("[(Ann) (Bob)]"),
    "no option": _choice("(Bob)"),
}
"""Entries of fields whose appearance is not what viewers make of them."""

TABLES = (
    table(
        pdfs.pdf_page_count_equals,
        _GOOD,
        _COUNT,
        positive("two pages", at(PATH, _GOOD), **_COUNT),
        negative("one page", at(PATH, page(draw("x"))), **_COUNT),
        near_miss("three pages", at(PATH, pages("", "", "")), **_COUNT),
        hostile(
            "more pages than are viewed", at(PATH, pages(*[""] * 61)), **{**_COUNT, "count": 61}
        ),
        forged(
            "page that is not listed", at(PATH, form(text_field("a", ""), "/Type /Page")), **_COUNT
        ),
        forged("text of two pages", at(PATH, page(draw("Page 2 of 2"))), **_COUNT),
        another_way("pypdf", at(PATH, _by_pypdf(name="Ann")), **{**_COUNT, "count": 1}),
        another_way("empty pages", at(PATH, pages("", "")), **_COUNT),
    ),
    table(
        pdfs.pdf_page_size_equals,
        _A4,
        _SIZE,
        positive("A4", at(PATH, _A4), **_SIZE),
        negative("Letter", at(PATH, _GOOD), **_SIZE),
        near_miss("turned", at(PATH, pages("", box="0 0 841.89 595.28")), **_SIZE),
        near_miss("missing page", at(PATH, _A4), **_SIZE, page=2),
        forged(
            "cropped", at(PATH, pages("", box="0 0 595.28 841.89] /CropBox [0 0 300 300")), **_SIZE
        ),
        forged(
            "turned by a rotation",
            at(PATH, pages("", box="0 0 595.28 841.89] /Rotate 90 /X [")),
            **_SIZE,
        ),
        another_way(
            "rotated", at(PATH, pages("", box="0 0 841.89 595.28] /Rotate 90 /X [")), **_SIZE
        ),
        another_way("moved origin", at(PATH, pages("", box="100 100 695.28 941.89")), **_SIZE),
    ),
    table(
        pdfs.pdf_page_has_text,
        _GOOD,
        _TEXT,
        *forgeries("pdf_page_has_text"),
        positive("on the first page", at(PATH, _GOOD), **_TEXT),
        positive("on the second page", at(PATH, _GOOD), path=PATH, text=" Thank\n you", page=2),
        negative("different text", at(PATH, page(draw("x"))), **_TEXT),
        near_miss("part of a word", at(PATH, page(draw("Invoice 77"))), **_TEXT),
        near_miss("different letter case", at(PATH, page(draw("invoice 7"))), **_TEXT),
        near_miss("on a different page", at(PATH, pages("", draw("Invoice 7"))), **_TEXT),
        near_miss("only in the title", at(PATH, pages("", title="Invoice 7")), **_TEXT),
        empty("empty expected text", at(PATH, _GOOD), **{**_TEXT, "text": " "}),
        _forged_text("white", f"1 g {draw('Invoice 7')}"),
        _forged_text("invisible", f"BT 3 Tr ET {draw('Invoice 7')}"),
        _forged_text("size 1", draw("Invoice 7", size=1)),
        _forged_text("off the page", draw("Invoice 7", "900 720")),
        _forged_text("covered", f"{draw('Invoice 7')} 1 g 60 700 200 40 re f"),
        _forged_text("in a layer that is off", f"/OC /L BDC {draw('Invoice 7')} EMC", root=OFF),
        _forged_text(
            "white, within a visible longer word",
            f"{draw('Invoice 77')} 1 g {draw('Invoice 7', '72 600')}",
        ),
        _forged_text("one digit is white", "BT /F 12 Tf 72 720 Td (Invoice ) Tj 1 g (7) Tj ET"),
        _forged_text("a stroke makes it 17", f"{draw('Invoice 7')} 1 w 113 720 m 113 728 l S"),
        _forged_text("words apart", f"{draw('Invoice')} {draw('7', '72 500')}"),
        _forged_text(
            "another word between",
            f"{draw('Invoice')} {draw('7', '150 720')} {draw('not', '122 720')}",
        ),
        forged("under a polygon of other viewers", at(PATH, _annotated("Polygon")), **_TEXT),
        forged("under a form field", at(PATH, _annotated("Widget")), **_TEXT),
        another_way("beside a form field", at(PATH, _annotated("Widget", 300)), **_TEXT),
        another_way("beside a polygon", at(PATH, _annotated("Polygon", 300)), **_TEXT),
        another_way("under a link", at(PATH, _annotated("Link")), **_TEXT),
        another_way(
            "far from each other",
            at(PATH, page(f"{draw('Invoice')} {draw('7', '150 720')}")),
            **_TEXT,
        ),
        forged("glyphs under other names", at(PATH, renamed("Invoice 9", "9", "7")), **_TEXT),
        another_way(
            "underlined", at(PATH, page(f"{draw('Invoice 7')} 72 718 m 124 718 l S")), **_TEXT
        ),
        another_way(
            "on two lines", at(PATH, page(f"{draw('Invoice')} {draw('7', '72 700')}")), **_TEXT
        ),
        another_way("in pieces", at(PATH, page(draw("Invo) Tj (ice 7"))), **_TEXT),
        another_way("grey", at(PATH, page(f"0.5 g {draw('Invoice 7')}")), **_TEXT),
    ),
    table(
        pdfs.pdf_field_equals,
        _ANN,
        _FIELD,
        *forgeries("pdf_field_equals"),
        positive("without an appearance", at(PATH, _ANN), **_FIELD),
        positive("check box", at(PATH, _TICK), path=PATH, field="news", value="/Yes"),
        negative("no form", at(PATH, page(draw("Ann"))), **_FIELD),
        near_miss("longer value", at(PATH, form(text_field("name", "Anna"))), **_FIELD),
        near_miss("different field", at(PATH, form(text_field("names", "Ann"))), **_FIELD),
        near_miss(
            "box not ticked",
            at(PATH, form(tick_box("news", "Off"))),
            path=PATH,
            field="news",
            value="/Yes",
        ),
        empty("empty value", at(PATH, form(text_field("name", ""))), **{**_FIELD, "value": ""}),
        forged(
            "shows another value", at(PATH, form(text_field("name", "Ann", shown="Bob"))), **_FIELD
        ),
        forged("hidden", at(PATH, form(text_field("name", "Ann", flags=2))), **_FIELD),
        forged("off the page", at(PATH, form(text_field("name", "Ann", left=900))), **_FIELD),
        forged("white", at(PATH, form(text_field("name", "Ann", look="1 g"))), **_FIELD),
        *(
            forged(f"as viewers draw it: {name}", at(PATH, form(entries)), **_FIELD)
            for name, entries in _DRAWN_BY_VIEWERS.items()
        ),
        another_way("choice", at(PATH, form(_choice("(Bob) (Ann)"))), **_FIELD),
        forged("without a field", at(PATH, page(draw("Ann", "110 166"))), **_FIELD),
        forged("password", at(PATH, form(text_field("name", "Ann) /Ff 8192 /TU (x"))), **_FIELD),
        forged(
            "changed by a script", at(PATH, form(text_field("name", "Ann"), root=_SCRIPT)), **_FIELD
        ),
        forged(
            "another place shows Bob",
            at(PATH, form(text_field("name", "Ann", shown="Bob"), _SECOND)),
            **_FIELD,
        ),
        another_way("two places", at(PATH, form(text_field("name", "Ann"), _SECOND)), **_FIELD),
        another_way("pypdf", at(PATH, _by_pypdf(name="Ann")), **_FIELD),
        another_way(
            "with its appearance", at(PATH, form(text_field("name", "Ann", shown="Ann"))), **_FIELD
        ),
    ),
    table(
        pdfs.pdf_box_checked,
        _TICK,
        _TICKED,
        *forgeries("pdf_box_checked"),
        positive("ticked", at(PATH, _TICK), **_TICKED),
        positive(
            "not ticked", at(PATH, form(tick_box("news", "Off"))), **{**_TICKED, "checked": False}
        ),
        negative(
            "not ticked although it should be", at(PATH, form(tick_box("news", "Off"))), **_TICKED
        ),
        near_miss("another box", at(PATH, form(tick_box("new", "Yes"))), **_TICKED),
        near_miss("text field", at(PATH, form(text_field("news", "Yes"))), **_TICKED),
        empty("no form", at(PATH, page(draw("x"))), **_TICKED),
        forged("drawn as off", at(PATH, form(tick_box("news", "Yes", state="Off"))), **_TICKED),
        forged("hidden", at(PATH, form(tick_box("news", "Yes", flags=2))), **_TICKED),
        forged("drawn on the page", at(PATH, page(TICK)), **_TICKED),
        forged(
            "tick without a mark",
            at(PATH, form(tick_box("news", "Yes", has_mark=False))),
            **_TICKED,
        ),
        another_way(
            "pypdf", at(PATH, _by_pypdf(newsletter="/Yes")), **{**_TICKED, "field": "newsletter"}
        ),
        another_way("another on-state", at(PATH, form(tick_box("news", "On", on="On"))), **_TICKED),
    ),
    table(
        pdfs.pdf_outline_has,
        _OUTLINED,
        _OUTLINE,
        positive("second entry", at(PATH, _OUTLINED), **_OUTLINE),
        negative("no outline", at(PATH, _GOOD), **_OUTLINE),
        near_miss("longer title", at(PATH, outlined("Aims", "Costs now")), **_OUTLINE),
        near_miss("leads to another page", at(PATH, outlined("Costs", "Aims")), **_OUTLINE),
        empty("empty title", at(PATH, outlined("Aims", "")), **{**_OUTLINE, "title": ""}),
        forged("text of a page", at(PATH, pages("", draw("Costs"))), **_OUTLINE),
        forged("title of the document", at(PATH, pages("", "", title="Costs")), **_OUTLINE),
        another_way("any page", at(PATH, outlined("Costs", "Aims")), path=PATH, title="Costs"),
        another_way("surrounding spaces", at(PATH, outlined("Aims", " Costs ")), **_OUTLINE),
    ),
    table(
        pdfs.pdf_title_equals,
        _GOOD,
        _TITLE,
        positive("title", at(PATH, _GOOD), **_TITLE),
        negative("no title", at(PATH, page("")), **_TITLE),
        near_miss("longer title", at(PATH, pages("", title="Reports")), **_TITLE),
        empty("empty expected title", at(PATH, page("")), **{**_TITLE, "title": ""}),
        forged("text of the page", at(PATH, page(draw("Report"))), **_TITLE),
        forged("entry of the outline", at(PATH, outlined("Report")), **_TITLE),
        another_way("hexadecimal", at(PATH, pages("", title="\\122eport")), **_TITLE),
        another_way("UTF-16", at(PATH, pages("", title=_UTF_16)), **_TITLE),
    ),
)
