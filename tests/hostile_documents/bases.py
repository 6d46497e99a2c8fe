"""Ordinary documents of each format, from which hostile ones are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.evaluator_cases.file_builders import docx, encoded, noise, odf, pdf, pptx, xlsx

PARTS = {
    "docx": "word/document.xml",
    "xlsx": "xl/worksheets/sheet1.xml",
    "pptx": "ppt/slides/slide1.xml",
    "odt": "content.xml",
    "ods": "content.xml",
    "odp": "content.xml",
}
"""The part with the content, by format."""


@dataclass(frozen=True)
class HostileDocument:
    """A document.

    Attributes:
        name: what it tries.
        suffix: its format.
        data: its bytes.
    """

    name: str
    suffix: str
    data: bytes


@cache
def bases() -> dict[str, bytes]:
    """Return a document of each format."""
    return {
        "docx": docx(_text),
        "xlsx": xlsx(_book),
        "pptx": pptx(_deck),
        "odt": odf("text", "<text:h>Title</text:h><text:p>The word.</text:p>"),
        "ods": odf("spreadsheet", table("<table:table-row>" + cell("=1+2") + "</table:table-row>")),
        "odp": odf(
            "presentation",
            page("<draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>"),
        ),
        "pdf": pdf(["first page", "second page"], title="t", fields={"name": "Ada"}),
        "csv": b"name,price\nTea,2.5\nMilk,1.5\n" * 20,
        "rtf": rb"{\rtf1\ansi{\fonttbl{\f0 Times;}}\f0\fs24 The word. {\b bold}\par}",
        "png": encoded(noise(1)),
        "jpg": encoded(noise(1), "JPEG"),
        "gif": encoded(noise(1), "GIF"),
    }


def table(rows: str) -> str:
    """Return the body of an OpenDocument workbook."""
    return f'<table:table table:name="S">{rows}</table:table>'


def cell(formula: str) -> str:
    """Return a cell of an OpenDocument workbook with a formula."""
    return f'<table:table-cell table:formula="of:{formula}" office:value-type="float" office:value="0"/>'


def page(shapes: str) -> str:
    """Return the body of an OpenDocument presentation."""
    return f'<draw:page draw:name="p" draw:master-page-name="Default">{shapes}</draw:page>'


def _text(document: Any) -> None:
    document.add_heading("Title", 1)
    document.add_paragraph("The word in a paragraph.").add_run("bold").bold = True
    document.add_table(2, 2).cell(0, 0).text = "cell"


def _book(book: Any) -> None:
    for row in range(1, 20):
        book.active.append([f"Item {row}", row * 1.5, f"=B{row}*2"])


def _deck(deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Title", "The word"
