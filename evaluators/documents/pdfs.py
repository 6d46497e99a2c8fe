"""Evaluators of PDFs: text of their pages, form fields and title.

An encrypted PDF that opens without a password is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.folding import plain as fold

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView

Number = Annotated[int, Field(ge=1)]
_DIVIDED = re.compile(r"(?<=[^\W\d_])[ \t]*[-\u00ad\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])")
"""A hyphen between letters, at the end of a line."""
_SPACED = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_](?!\S)){2,}")
"""Letters separated by single spaces; words of such letters are separated by more spaces."""


@evaluator(on="documents")
def pdf_page_count_equals(view: MachineView, path: MachinePath, count: Number) -> bool:
    """Return whether a PDF has exactly the given number of pages.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        count: number of pages.

    Example:
        ``{on: desktop, check: pdf_page_count_equals, with: {path: ~/a.pdf, count: 3}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and len(pdf.pages) == count


@evaluator(on="documents")
def pdf_page_has_text(view: MachineView, path: MachinePath, text: str, page: Number = 1) -> bool:
    """Return whether a page of a PDF contains the given text, as consecutive whole words.

    Runs of white space count as one space, because PDFs do not store lines; ligatures count as
    their letters. A word may be hyphenated at the end of a line, and its letters may be spaced. The
    visible text of notes on the page counts. Text in pictures is not read. Text is ignored if it
    begins without ink, transparent, under a mask, tiny, off the page, in the colour of its
    background, under a plain rectangle or an opaque picture, or in a hidden layer. Other reasons
    for text not being visible are not checked: the glyphs of fonts, and what patterns, shadings,
    other shapes and annotations paint.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        text: must not be empty; case-sensitive.
        page: number of the page, from 1.

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
def pdf_field_equals(view: MachineView, path: MachinePath, field: str, value: str) -> bool:
    """Return whether a form field of a PDF has the given value.

    White space at the ends is ignored. A check box that is drawn in another state than its field's,
    or not at all, is unmet, as is a field whose boxes are all hidden or off the page. The
    appearance stream of a text field is ignored, because programs that fill forms may leave it to
    viewers. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        field: fully qualified name of the field.
        value: the text, or the state of a check box, such as ``/Yes``; must not be empty.

    Example:
        ``{on: desktop, check: pdf_field_equals, with: {path: ~/a.pdf, field: name, value: Ann}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and _lines(pdf.fields.get(field, "")) == _lines(value) != ""


@evaluator(on="documents")
def pdf_title_equals(view: MachineView, path: MachinePath, title: str) -> bool:
    """Return whether a PDF's document title equals the given title.

    The title is that of the document information, or else the default title in the XMP metadata.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        title: the complete title; must not be empty.

    Example:
        ``{on: desktop, check: pdf_title_equals, with: {path: ~/a.pdf, title: Report}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and pdf.title == title != ""


def _readings(page: str) -> tuple[str, ...]:
    """Return the text of a page as it is, and with hyphenated and spaced words joined."""
    undivided = _DIVIDED.sub("", page)
    return page, undivided, _SPACED.sub(lambda match: match[0].replace(" ", ""), undivided)


def _plain(text: str) -> str:
    """Return a text's words joined by spaces, with ligatures and wide letters normalised."""
    return " ".join(fold(text).split())


def _lines(value: str) -> str:
    """Return a value with its lines separated by newlines, because programs use different line ends."""
    return value.replace("\r\n", "\n").replace("\r", "\n").strip()
