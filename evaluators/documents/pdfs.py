"""PDFs: text of their pages, form fields and title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView

Number = Annotated[int, Field(ge=1)]


@evaluator(on="documents")
def pdf_page_count_equals(view: MachineView, path: str, count: Number) -> bool:
    """Return whether a PDF has exactly this many pages.

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

    Runs of white space count as one blank, as PDFs do not store lines. Text in pictures is not read.

    Args:
        view: the machine.
        path: of the PDF.
        text: must not be empty; case-sensitive.
        page: its number, from 1.

    Example:
        ``{on: desktop, check: pdf_page_has_text, with: {path: ~/a.pdf, text: Invoice 7}}``
    """
    pdf = view.pdf(path)
    words = text.split()
    if pdf is None or page > len(pdf.pages) or not words:
        return False
    return f" {' '.join(words)} " in f" {' '.join(pdf.pages[page - 1].split())} "


@evaluator(on="documents")
def pdf_field_equals(view: MachineView, path: str, field: str, value: str) -> bool:
    """Return whether a form field of a PDF holds exactly this; white space at its ends is ignored.

    Args:
        view: the machine.
        path: of the PDF.
        field: full name of the field.
        value: the text, or the state of a check box, such as ``/Yes``; must not be empty.

    Example:
        ``{on: desktop, check: pdf_field_equals, with: {path: ~/a.pdf, field: name, value: Ann}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and pdf.fields.get(field, "").strip() == value.strip() != ""


@evaluator(on="documents")
def pdf_title_equals(view: MachineView, path: str, title: str) -> bool:
    """Return whether the title in a PDF's document information is exactly this.

    Args:
        view: the machine.
        path: of the PDF.
        title: the whole title; must not be empty.

    Example:
        ``{on: desktop, check: pdf_title_equals, with: {path: ~/a.pdf, title: Report}}``
    """
    pdf = view.pdf(path)
    return pdf is not None and pdf.title == title != ""
