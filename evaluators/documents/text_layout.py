"""Evaluators of the layout of text documents: fonts, spacing, tab stops, breaks, pages, headers and footers.

What counts, and which documents are unmet, is described in `evaluators.documents.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.drawn import has_background, has_label
from evaluators.documents.text_passages import (
    every_paragraph,
    every_run,
    has_ink,
    is_font_unknown,
    lines_drawn,
    part_of_document,
)
from evaluators.documents.text_places import are_aligned, is_indented

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.common import Reading
    from evaluators.rendering.views.text import Paragraph, TextView

Margin = Literal["header", "footer"]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
_WHITE = "#ffffff"
_PAGE_NUMBER = "PageNumber"
_MM_PER_PT = 25.4 / 72
_TOLERANCE_PT = 0.5
_TOLERANCE_MM = 0.5
_TOLERANCE_LINES = 0.02


@evaluator(on="documents")
def document_text_font(view: MachineView, path: MachinePath, font: str, text: str = "") -> bool:
    """Return whether a passage, or all text of body and tables, has the given font, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        font: name of the font, as the document has it; case-insensitive.
        text: the passage, within one paragraph, of which every occurrence counts; empty for all text,
            of which some must be seen.

    Example:
        ``{on: desktop, check: document_text_font, with: {path: ~/a.odt, font: Liberation Sans}}``
    """
    wanted = font.casefold()
    if text:
        return every_run(
            view, path, text, lambda run: run.font.casefold() == wanted, is_by_font=True
        )
    document, paragraphs = part_of_document(view, path, "body", "table")
    runs = [run for row, _ in paragraphs for run in row.runs if any(map(has_ink, run.text))]
    is_any_seen = any(is_seen for _, is_seen in paragraphs)
    if document is None or is_font_unknown(document.brings_fonts, path):
        return False
    return is_any_seen and all(run.font.casefold() == wanted for run in runs)


@evaluator(on="documents")
def document_text_highlighted(view: MachineView, path: MachinePath, text: str, colour: str) -> bool:
    """Return whether every occurrence of a passage has the given colour behind it, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the passage, within one paragraph of body or tables; must not be empty.
        colour: colour as hexadecimal ``rrggbb``, case-insensitive; ``none`` for no highlighting.

    Example:
        ``{on: desktop, check: document_text_highlighted,
        with: {path: ~/a.odt, text: now, colour: ffff00}}``
    """
    name = colour.lower().lstrip("#")
    wanted = None if name == "none" else f"#{name}"
    return every_run(
        view,
        path,
        text,
        lambda run: run.highlight == wanted,
        lambda line: has_background(line, wanted or _WHITE),
    )


@evaluator(on="documents")
def document_line_spacing(view: MachineView, path: MachinePath, text: str, lines: Positive) -> bool:
    """Return whether every paragraph with this text has the given line spacing, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.
        lines: distance of its lines as a multiple of single spacing, such as 1.5 or 2.

    Example:
        ``{on: desktop, check: document_line_spacing, with: {path: ~/a.odt, text: Hi, lines: 2}}``
    """
    return every_paragraph(
        view,
        path,
        text,
        lambda row: (
            row.line_spacing is not None and abs(row.line_spacing - lines) <= _TOLERANCE_LINES
        ),
    )


@evaluator(on="documents")
def document_paragraph_spacing(
    view: MachineView,
    path: MachinePath,
    text: str,
    side: Literal["before", "after"],
    space_pt: NotNegative,
) -> bool:
    """Return whether every paragraph with this text has the given space before or after it, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.
        side: where the space is.
        space_pt: the space in points, give or take 0.5.

    Example:
        ``{on: desktop, check: document_paragraph_spacing,
        with: {path: ~/a.odt, text: Aim, side: after, space_pt: 12}}``
    """

    def is_so(row: Paragraph) -> bool:
        space_mm = row.before_mm if side == "before" else row.after_mm
        return abs(space_mm / _MM_PER_PT - space_pt) <= _TOLERANCE_PT

    return every_paragraph(view, path, text, is_so)


@evaluator(on="documents")
def document_paragraph_indented(
    view: MachineView,
    path: MachinePath,
    text: str,
    side: Literal["left", "right", "first_line"],
    indent_mm: float,
) -> bool:
    """Return whether every paragraph with this text has the given indent, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.
        side: the indent; that of the first line is in addition to the left one.
        indent_mm: the indent in mm, give or take 0.5.

    Example:
        ``{on: desktop, check: document_paragraph_indented,
        with: {path: ~/a.odt, text: Aim, side: first_line, indent_mm: 10}}``
    """

    def is_so(row: Paragraph) -> bool:
        indents = {"left": row.left_mm, "right": row.right_mm, "first_line": row.first_line_mm}
        return abs(indents[side] - indent_mm) <= _TOLERANCE_MM

    def is_placed(document: TextView, row: Paragraph, lines: tuple[Reading, ...]) -> bool:
        return is_indented(document, row, lines, side)

    return every_paragraph(view, path, text, is_so, is_placed=is_placed)


@evaluator(on="documents")
def document_tab_stop(
    view: MachineView,
    path: MachinePath,
    text: str,
    position_mm: Positive,
    alignment: Literal["left", "center", "right", "decimal"],
) -> bool:
    """Return whether every paragraph with this text has the given tab stop, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body, with its tabs; must not be empty.
        position_mm: position of the tab stop from the paragraph's left indent, give or take 0.5 mm.
        alignment: alignment of the text at the tab stop.

    Example:
        ``{on: desktop, check: document_tab_stop,
        with: {path: ~/a.odt, text: Tea, position_mm: 120, alignment: right}}``
    """
    return every_paragraph(
        view,
        path,
        text,
        lambda row: any(
            tab.alignment == alignment and abs(tab.position_mm - position_mm) <= _TOLERANCE_MM
            for tab in row.tabs
        ),
    )


@evaluator(on="documents")
def document_paragraph_background(
    view: MachineView, path: MachinePath, text: str, colour: str
) -> bool:
    """Return whether every paragraph with this text has the given background, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.
        colour: colour as hexadecimal ``rrggbb``, case-insensitive.

    Example:
        ``{on: desktop, check: document_paragraph_background,
        with: {path: ~/a.odt, text: Aim, colour: ffff00}}``
    """
    wanted = f"#{colour.lower().lstrip('#')}"
    return every_paragraph(
        view,
        path,
        text,
        lambda row: row.background == wanted,
        lambda lines: all(has_background(line, wanted) for line in lines),
    )


@evaluator(on="documents")
def document_list_label(view: MachineView, path: MachinePath, text: str, label: str) -> bool:
    """Return whether every paragraph with this text is in a list with the given label, and both are seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body, without its label; must not be empty.
        label: bullet or number as it is shown, such as ``2.``; ``*`` for any.

    Example:
        ``{on: desktop, check: document_list_label, with: {path: ~/a.odt, text: Tea, label: "2."}}``
    """

    def is_so(row: Paragraph) -> bool:
        return bool(row.list_label) if label == "*" else row.list_label.strip() == label.strip()

    return every_paragraph(view, path, text, is_so, has_label)


@evaluator(on="documents")
def document_page_break_before(view: MachineView, path: MachinePath, text: str) -> bool:
    """Return whether a paragraph with this text begins a page because of a page break, and is seen.

    Empty paragraphs between the break and the paragraph are ignored. That there are so many of them that
    the paragraph is on the next page is no break.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.

    Example:
        ``{on: desktop, check: document_page_break_before, with: {path: ~/a.odt, text: Annex}}``
    """
    document, paragraphs = part_of_document(view, path, "body")
    if document is None or not text.strip():
        return False
    tops = document.shown[0].first_paragraphs
    first = [document.paragraphs[number] for number in tops or ()]
    seen = {
        id(row)
        for row, is_seen in paragraphs
        if is_seen and (tops is None or any(row is other for other in first))
    }
    is_new_page = False
    for row in document.paragraphs:
        is_new_page = is_new_page or row.is_page_break_before
        if id(row) in seen and row.text.strip() == text.strip() and is_new_page:
            return True
        is_new_page = row.is_page_break_after or (is_new_page and not any(map(has_ink, row.text)))
    return False


@evaluator(on="documents")
def document_page_count(
    view: MachineView, path: MachinePath, count: Annotated[int, Field(ge=1)]
) -> bool:
    """Return whether a text document has the given number of pages.

    Args:
        view: the machine.
        path: path of the text document.
        count: number of pages.

    Example:
        ``{on: desktop, check: document_page_count, with: {path: ~/a.odt, count: 2}}``
    """
    document = view.text_document(path)
    return document is not None and document.page_count == count


@evaluator(on="documents")
def document_page_size(
    view: MachineView, path: MachinePath, width_mm: Positive, height_mm: Positive
) -> bool:
    """Return whether all pages of a text document have the given size, which says their orientation too.

    Args:
        view: the machine.
        path: path of the text document.
        width_mm: width of the page, give or take 0.5 mm.
        height_mm: height of the page, give or take 0.5 mm.

    Example:
        ``{on: desktop, check: document_page_size,
        with: {path: ~/a.odt, width_mm: 297, height_mm: 210}}``
    """
    document = view.text_document(path)
    return document is not None and all(
        abs(page.width_mm - width_mm) <= _TOLERANCE_MM
        and abs(page.height_mm - height_mm) <= _TOLERANCE_MM
        for page in document.page_styles
    )


@evaluator(on="documents")
def document_margin_has_text(
    view: MachineView, path: MachinePath, margin: Margin, text: str
) -> bool:
    """Return whether the header or footer of a text document has the given text, and it is seen.

    Args:
        view: the machine.
        path: path of the text document.
        margin: where the text is.
        text: text within one paragraph of the header or footer, which is seen completely; must not be empty.

    Example:
        ``{on: desktop, check: document_margin_has_text,
        with: {path: ~/a.odt, margin: footer, text: Draft}}``
    """
    _, paragraphs = part_of_document(view, path, margin)
    return bool(text) and any(text in row.text for row, is_seen in paragraphs if is_seen)


@evaluator(on="documents")
def document_pages_numbered(
    view: MachineView,
    path: MachinePath,
    margin: Margin,
    alignment: Literal["any", "left", "center", "right"] = "any",
) -> bool:
    """Return whether the header or footer of a text document has page numbers, and they are seen.

    A number that was typed is no page number.

    Args:
        view: the machine.
        path: path of the text document.
        margin: where the page numbers are.
        alignment: alignment of their paragraph.

    Example:
        ``{on: desktop, check: document_pages_numbered,
        with: {path: ~/a.odt, margin: footer, alignment: right}}``
    """
    document, paragraphs = part_of_document(view, path, margin)
    return document is not None and any(
        run.field == _PAGE_NUMBER
        for row, is_seen in paragraphs
        if is_seen and alignment in {"any", row.alignment}
        if alignment == "any" or are_aligned(document, lines_drawn(document, row), alignment)
        for run in row.runs
    )
