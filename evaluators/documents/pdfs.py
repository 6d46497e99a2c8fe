"""Evaluators of PDFs, as pdfium shows them: pages, text, form fields, outline and title.

Text and fields count where they are seen: not if they are hidden, covered, tiny, in the colour of
their background, off the page, or in a layer that is off. An encrypted PDF that opens without a
password is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.folding import plain as fold
from evaluators.rendering.request import ObjectItem, TextItem

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.common import Shown
    from evaluators.rendering.views.pdf import Field as PdfField

Number = Annotated[int, Field(ge=1)]
Length = Annotated[float, Field(ge=0)]
_MAX_TEXT_CHARS = 1000
_MAX_WIDGETS = 10
_TICKED = frozenset({"checkbox", "radio"})


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
def pdf_page_size_equals(
    view: MachineView,
    path: MachinePath,
    width_mm: Length,
    height_mm: Length,
    *,
    page: Number = 1,
    tolerance_mm: Length = 1.0,
) -> bool:
    """Return whether a page of a PDF has the given size, as it is shown.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        width_mm: width of the page.
        height_mm: height of the page.
        page: number of the page, from 1.
        tolerance_mm: largest difference of each.

    Example:
        ``{on: desktop, check: pdf_page_size_equals,
        with: {path: ~/a.pdf, width_mm: 210, height_mm: 297}}``
    """
    pdf = view.pdf(path)
    if pdf is None or page > len(pdf.pages):
        return False
    size = pdf.pages[page - 1]
    return (
        abs(size.width_mm - width_mm) <= tolerance_mm
        and abs(size.height_mm - height_mm) <= tolerance_mm
    )


@evaluator(on="documents")
def pdf_page_has_text(view: MachineView, path: MachinePath, text: str, page: Number = 1) -> bool:
    """Return whether the given text is seen on a page of a PDF, as consecutive whole words.

    Runs of white space count as one space, because PDFs do not store lines; ligatures count as
    their letters. Text of notes and form fields does not count. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        text: must not be empty; case-sensitive.
        page: number of the page, from 1.

    Example:
        ``{on: desktop, check: pdf_page_has_text, with: {path: ~/a.pdf, text: Invoice 7}}``
    """
    wanted = " ".join(fold(text).split())
    if not 0 < len(wanted) <= _MAX_TEXT_CHARS:
        return False
    pdf = view.pdf(path, shown=(TextItem(text=wanted, page=page - 1),))
    if pdf is None or page > len(pdf.pages) or not pdf.shown[0].is_shown:
        return False
    return f" {wanted} " in f" {' '.join(fold(pdf.pages[page - 1].text).split())} "


@evaluator(on="documents")
def pdf_field_equals(view: MachineView, path: MachinePath, field: str, value: str) -> bool:
    """Return whether a form field of a PDF has the given value, and its box shows it.

    White space is ignored. Of several boxes with the same name, each must show the value, unless they are
    radio buttons or check boxes. A field in a layer, a password, and fields of a PDF with scripts count as not seen.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        field: fully qualified name of the field.
        value: the text, or the state of a check box, such as ``/Yes``; must not be empty.

    Example:
        ``{on: desktop, check: pdf_field_equals, with: {path: ~/a.pdf, field: name, value: Ann}}``
    """
    wanted = _letters(value)

    def is_so(box: PdfField, row: Shown) -> bool:
        if not row.is_shown:
            return False
        if box.type in _TICKED:
            return box.is_checked and _letters(box.value) == wanted.removeprefix("/")
        return _letters(box.value) == _letters(row.drawn) == wanted

    return bool(wanted) and _has_box(view, path, field, is_so)


@evaluator(on="documents")
def pdf_box_checked(view: MachineView, path: MachinePath, field: str, *, checked: bool) -> bool:
    """Return whether a check box or radio button of a PDF's form is ticked, or not.

    A tick must be seen, and a box without one be empty. Of several boxes with the same name, such as radio buttons, one must be so. Proves the state, not
    who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        field: fully qualified name of the field.
        checked: whether it is ticked.

    Example:
        ``{on: desktop, check: pdf_box_checked, with: {path: ~/a.pdf, field: news, checked: true}}``
    """

    def is_so(box: PdfField, row: Shown) -> bool:
        is_so = row.is_shown if checked else row.is_empty is not False
        return box.type in _TICKED and box.is_checked == checked and is_so

    return _has_box(view, path, field, is_so)


@evaluator(on="documents")
def pdf_outline_has(
    view: MachineView, path: MachinePath, title: str, page: Number | None = None
) -> bool:
    """Return whether the outline (bookmarks) of a PDF has an entry with the given title.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PDF.
        title: the complete title; must not be empty.
        page: number of the page that it leads to, from 1; by default any.

    Example:
        ``{on: desktop, check: pdf_outline_has, with: {path: ~/a.pdf, title: Costs, page: 2}}``
    """
    pdf = view.pdf(path)
    wanted = title.strip()
    return (
        pdf is not None
        and bool(wanted)
        and any(
            entry.title.strip() == wanted and (page is None or entry.page == page - 1)
            for entry in pdf.outline
        )
    )


@evaluator(on="documents")
def pdf_title_equals(view: MachineView, path: MachinePath, title: str) -> bool:
    """Return whether a PDF's document title, in its information, equals the given title.

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


def _has_box(
    view: MachineView, path: str, field: str, is_so: Callable[[PdfField, Shown], bool]
) -> bool:
    """Return whether a form has a field of that name, of which all boxes fulfil a condition; of ticked ones, one."""
    pdf = view.pdf(path)
    boxes = [box for box in (pdf.fields if pdf is not None else ()) if box.name == field]
    if not boxes or len(boxes) > _MAX_WIDGETS:
        return False
    shown = view.pdf(path, shown=[ObjectItem(number=box.number, page=box.page) for box in boxes])
    if shown is None:
        return False
    found = [is_so(box, row) for box, row in zip(boxes, shown.shown, strict=True)]
    return any(found) if all(box.type in _TICKED for box in boxes) else all(found)


def _letters(value: str) -> str:
    return "".join(fold(value).split())
