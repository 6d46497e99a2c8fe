"""Measure how long the view of a document takes, by a renderer that stands by and from the cache, and its memory."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

import docx
import openpyxl
import pptx

from appliance.bench.rows import Row
from evaluators.rendering.request import CellItem, TextItem, ViewRequest
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from evaluators.rendering.client import DocumentViews
    from foundation.clock import Clock

_SENTENCE = "The quick brown fox jumps over the lazy dog, and nobody minds. "
PAGES, SLIDES, ROWS, COLUMNS, ASKED = 10, 20, 500, 10, 10
_PARAGRAPHS_PER_PAGE = 9
_LINES_PER_PAGE = 40


def bench_documents(
    views: DocumentViews,
    count: int,
    tick: Callable[[str], None] = lambda _name: None,
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> Generator[Row]:
    """View documents of four kinds, each different, then the last ones again from the cache.

    Args:
        views: views by the renderer to measure.
        count: documents of each kind.
        tick: receives the name of what is measured before each document.
        clock: for measuring.
    """
    cached = Row("cached", "a view that was made before, of the four kinds in turn")
    again: list[tuple[bytes, ViewRequest]] = []
    for name, what, make, request in _kinds():
        row = Row(name, what)
        yield row
        document = b""
        for number in range(count):
            document = make(f"{name} {clock.now_s()} {number}")
            tick(name)
            views.prepare()
            row.measure(partial(views.view, document, request), clock)
            if views.memory_peak_mib is not None:
                before_mib = row.extra.get("memory_peak_mib", 0.0)
                row.extra["memory_peak_mib"] = max(before_mib, views.memory_peak_mib)
        again.append((document, request))
    yield cached
    for number in range(count):
        document, request = again[number % len(again)]
        cached.measure(partial(views.view, document, request), clock)


def _kinds() -> list[tuple[str, str, Callable[[str], bytes], ViewRequest]]:
    cells = tuple(CellItem(sheet="Sheet", cell=f"C{7 * number + 2}") for number in range(ASKED))
    sentence = (TextItem(text="quick brown fox", page=0),)
    return [
        (
            "text",
            f"a text of {PAGES} pages, with one asked for",
            make_text,
            ViewRequest(suffix="docx", shown=sentence),
        ),
        (
            "slides",
            f"a deck of {SLIDES} slides, with one text asked for",
            make_slides,
            ViewRequest(suffix="pptx", shown=sentence),
        ),
        (
            "workbook",
            f"a workbook of {ROWS * COLUMNS} cells, with {ASKED} asked for",
            make_workbook,
            ViewRequest(suffix="xlsx", shown=cells),
        ),
        (
            "pdf",
            f"a PDF of {PAGES} pages, with one text asked for",
            make_pdf,
            ViewRequest(suffix="pdf", shown=sentence),
        ),
    ]


def make_text(title: str) -> bytes:
    """Return a text document of `PAGES` pages."""
    document = docx.Document()
    document.add_heading(title)
    for number in range(PAGES):
        for _ in range(_PARAGRAPHS_PER_PAGE):
            document.add_paragraph(_SENTENCE * 4)
        if number < PAGES - 1:
            document.add_page_break()  # type: ignore[no-untyped-call]
    return _saved(document.save)


def make_slides(title: str) -> bytes:
    """Return a presentation of `SLIDES` slides."""
    deck = pptx.Presentation()
    for number in range(SLIDES):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.placeholders[0].text = f"{title}: {number}"
        slide.placeholders[1].text = _SENTENCE
    return _saved(deck.save)


def make_workbook(title: str) -> bytes:
    """Return a workbook of `ROWS` times `COLUMNS` filled cells, a tenth of them formulas."""
    book = openpyxl.Workbook()
    sheet = book["Sheet"]
    for row in range(1, ROWS + 1):
        sheet.append([f"{title} {row}", *(row * 1.5 + column for column in range(COLUMNS - 2))])
        sheet.cell(row, COLUMNS, f"=SUM(B{row}:I{row})")
    return _saved(book.save)


def make_pdf(title: str) -> bytes:
    """Return a PDF of `PAGES` pages of text."""
    lines = b"".join(b"(%s) ' " % _SENTENCE.encode() for _ in range(_LINES_PER_PAGE))
    content = b"BT /F 11 Tf 16 TL 50 800 Td (%s) Tj %sET" % (title.encode(), lines)
    kids = b" ".join(b"%d 0 R" % (4 + number) for number in range(PAGES))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 3 0 R/Resources<</Font<</F 1 0 R>>>>>>"
    root = 4 + PAGES
    bodies = [
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, PAGES),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        *[page] * PAGES,
        b"<</Type/Catalog/Pages 2 0 R>>",
    ]
    data, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (root + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"trailer<</Size %d/Root %d 0 R>>\n" % (root + 1, root)
    return bytes(data + b"startxref\n%d\n%%%%EOF" % start)


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()
