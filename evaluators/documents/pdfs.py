"""PDFs: text of their pages, form fields and title.

A PDF that opens without a password is read although it is encrypted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import evaluator
from evaluators.folding import plain as fold

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView

Number = Annotated[int, Field(ge=1)]
_DIVIDED = re.compile(r"(?<=[^\W\d_])[ \t]*[-\u00ad\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])")
"""A hyphen between letters, at the end of a line."""
_SPACED = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_](?!\S)){2,}")
"""Letters with a blank between them; words of such letters have more blanks between them."""


@evaluator(on="documents")
def pdf_page_count_equals(view: MachineView, path: str, count: Number) -> bool:
    """Return whether a PDF has exactly this many pages.

    Proves the state, not who made it.

    Args:
        view: the machine.
        path: of the PDF.
        count: how many.

    Example:
        ``{on: desktop, check: pdf_page_count_equals, with: {path: ~/a.pdf, count: 3}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and len(pdf.pages) == count


@evaluator(on="documents")
def pdf_page_has_text(view: MachineView, path: str, text: str, page: Number = 1) -> bool:
    """Return whether a page of a PDF contains a text, as whole words in a row.

    Runs of white space count as one blank, as PDFs do not store lines; ligatures count as their
    letters. A word may be divided at the end of a line, and its letters may stand apart. Notes written on the
    page count for what they show. Text in pictures is not read. Text does not count that begins without ink,
    transparent, under a mask, tiny, off the page, in the colour below it, under a plain rectangle or an
    opaque picture, or in a layer that is off. No more is proven of its being seen: what a font draws for its
    letters is not looked at, nor is what patterns, shadings, other shapes and annotations paint.
    Proves the state, not who made it.

    Args:
        view: the machine.
        path: of the PDF.
        text: must not be empty; case-sensitive.
        page: its number, from 1.

    Example:
        ``{on: desktop, check: pdf_page_has_text, with: {path: ~/a.pdf, text: Invoice 7}}``
    """
    pdf = view.pdf(path)
    wanted = _plain(text)
    return (
        pdf is not None
        and page <= len(pdf.pages)
        and bool(wanted)
        and any(
            f" {wanted} " in f" {_plain(reading)} " for reading in _readings(pdf.pages[page - 1])
        )
    )


@evaluator(on="documents")
def pdf_field_equals(view: MachineView, path: str, field: str, value: str) -> bool:
    """Return whether a form field of a PDF holds exactly this; white space at its ends is ignored.

    A box that is drawn in another state than its field's, or not at all, is unmet, and so is a field whose
    boxes are all hidden or off the page. What a text field's own drawing says does not matter: programs
    that fill forms may leave that to viewers. Proves the state, not who made it.

    Args:
        view: the machine.
        path: of the PDF.
        field: full name of the field.
        value: the text, or the state of a check box, such as ``/Yes``; must not be empty.

    Example:
        ``{on: desktop, check: pdf_field_equals, with: {path: ~/a.pdf, field: name, value: Ann}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and _lines(pdf.fields.get(field, "")) == _lines(value) != ""


@evaluator(on="documents")
def pdf_title_equals(view: MachineView, path: str, title: str) -> bool:
    """Return whether the title in a PDF's document information is exactly this.

    Without one there, the usual one of the titles in its XMP metadata counts. Proves the state, not who made it.

    Args:
        view: the machine.
        path: of the PDF.
        title: the whole title; must not be empty.

    Example:
        ``{on: desktop, check: pdf_title_equals, with: {path: ~/a.pdf, title: Report}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and pdf.title == title != ""


def _readings(page: str) -> tuple[str, ...]:
    """Return the text of a page as it stands, and with its divided and spaced words in one piece."""
    undivided = _DIVIDED.sub("", page)
    return page, undivided, _SPACED.sub(lambda match: match[0].replace(" ", ""), undivided)


def _plain(text: str) -> str:
    """Return a text's words in a row, ligatures and wide letters as plain ones."""
    return " ".join(fold(text).split())


def _lines(value: str) -> str:
    """Return a value with newlines between its lines, as programs end them differently."""
    return value.replace("\r\n", "\n").replace("\r", "\n").strip()
