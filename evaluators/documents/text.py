"""Evaluators of the content of text documents (.odt, .docx ...).

LibreOffice opens the document in the renderer, and what it shows counts: text that is not seen, because
it is hidden, tiny, in the colour of its background, covered or off the page, does not count. Tracked
changes count as accepted. A document that LibreOffice does not open is unmet. See
`docs/views-of-documents.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.drawn import has_color, has_marks
from evaluators.documents.text_passages import (
    every_paragraph,
    every_run,
    is_font_unknown,
    label_words,
    part_of_document,
    seen_paragraphs,
    seen_passages,
)
from evaluators.documents.text_places import are_aligned
from evaluators.rendering.request import ObjectItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.common import Reading
    from evaluators.rendering.views.text import Paragraph, Run, TextTable, TextView

MAX_PICTURES = 10
Count = Annotated[int, Field(ge=1)]
Pictures = Annotated[int, Field(ge=1, le=MAX_PICTURES)]
Level = Annotated[int, Field(ge=1, le=9)]
_BLACK = "#000000"
_RAISED = {"superscript": 1, "subscript": -1}
_BY_FONT = frozenset({"bold", "italic", *_RAISED})
_MIN_RAISED_PERCENT = 10
"""Least distance from the baseline of the text next to it, of the font's height."""


@evaluator(on="documents")
def document_text_equals(view: MachineView, path: MachinePath, text: str) -> bool:
    """Return whether the body of a text document equals the given text.

    Paragraphs, and lines within them, are separated by newlines; empty ones, and white space at their
    ends, are ignored. Tables, frames, notes, headers, footers, and paragraphs that are not seen, are
    ignored; tracked changes count as accepted.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete text.

    Example:
        ``{on: desktop, check: document_text_equals, with: {path: ~/a.odt, text: Dear Ann}}``
    """
    document, paragraphs = part_of_document(view, path, "body")
    if document is None:
        return False
    seen = (f"{label_words(row)} {row.text}" for row, is_seen in paragraphs if is_seen)
    return _lines(seen) == _lines([text])


@evaluator(on="documents")
def document_has_paragraph(view: MachineView, path: MachinePath, text: str) -> bool:
    """Return whether a text document has a paragraph that equals the given text, and is seen.

    White space at its ends, and paragraphs in tables, frames and notes, are ignored; tracked changes
    count as accepted.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph; must not be empty.

    Example:
        ``{on: desktop, check: document_has_paragraph, with: {path: ~/a.odt, text: Dear Ann}}``
    """
    return bool(seen_paragraphs(view, path, text))


@evaluator(on="documents")
def document_has_heading(view: MachineView, path: MachinePath, text: str, level: Level) -> bool:
    """Return whether a text document has a heading with the given text and level, and it is seen.

    A paragraph that is only formatted like a heading does not count.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete heading; must not be empty.
        level: outline level; 1 is the highest.

    Example:
        ``{on: desktop, check: document_has_heading, with: {path: ~/a.odt, text: Aim, level: 1}}``
    """
    return any(paragraph.level == level for paragraph in seen_paragraphs(view, path, text))


@evaluator(on="documents")
def document_text_styled(
    view: MachineView,
    path: MachinePath,
    text: str,
    look: Literal["bold", "italic", "underline", "strikethrough", "superscript", "subscript"],
) -> bool:
    """Return whether a passage of a text document completely has the given style, and is seen.

    The passage must occur once in body and tables, within one paragraph, and the text next to it must
    not have that style, so that a document that is entirely bold is unmet.

    Args:
        view: the machine.
        path: path of the text document.
        text: the passage; must not be empty.
        look: the style.

    Example:
        ``{on: desktop, check: document_text_styled, with: {path: ~/a.odt, text: now, look: bold}}``
    """
    passages = seen_passages(view, path, text)
    if len(passages) != 1:
        return False
    (passage,) = passages
    if look in _BY_FONT and is_font_unknown(passage.has_foreign_fonts, path):
        return False
    return (
        all(_has_look(run, look) for run in passage.runs)
        and not any(_has_look(run, look) for run in passage.neighbours)
        and has_marks(passage.drawn, look)
        and (look not in _RAISED or _is_raised(passage.runs, passage.neighbours))
    )


@evaluator(on="documents")
def document_text_coloured(view: MachineView, path: MachinePath, text: str, colour: str) -> bool:
    """Return whether every occurrence of a passage has the given colour, and is seen.

    The automatic colour counts as black. Transparent text, and text under a transparent shape, does not
    have the colour.

    Args:
        view: the machine.
        path: path of the text document.
        text: the passage, within one paragraph of body or tables; must not be empty.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.

    Example:
        ``{on: desktop, check: document_text_coloured,
        with: {path: ~/a.odt, text: now, colour: ff0000}}``
    """
    wanted = f"#{colour.lower().lstrip('#')}"

    def is_so(run: Run) -> bool:
        return (run.color or _BLACK) == wanted and run.transparency_percent == 0

    return every_run(view, path, text, is_so, lambda line: has_color(line, wanted))


@evaluator(on="documents")
def document_text_size(view: MachineView, path: MachinePath, text: str, size_pt: float) -> bool:
    """Return whether every occurrence of a passage has the given font size, and is seen.

    The size may come from a style or be the default.

    Args:
        view: the machine.
        path: path of the text document.
        text: the passage, within one paragraph of body or tables; must not be empty.
        size_pt: font size in points, with a precision of a tenth.

    Example:
        ``{on: desktop, check: document_text_size, with: {path: ~/a.odt, text: Aim, size_pt: 18}}``
    """
    wanted = round(size_pt, 1)
    return every_run(view, path, text, lambda run: round(run.size_pt, 1) == wanted, is_by_font=True)


@evaluator(on="documents")
def document_paragraph_aligned(
    view: MachineView,
    path: MachinePath,
    text: str,
    alignment: Literal["left", "center", "right", "justify"],
) -> bool:
    """Return whether every paragraph with this text has the given alignment, and is seen.

    Args:
        view: the machine.
        path: path of the text document.
        text: the complete paragraph of the body; must not be empty.
        alignment: alignment of its lines; the default is ``left``.

    Example:
        ``{on: desktop, check: document_paragraph_aligned,
        with: {path: ~/a.odt, text: Aim, alignment: center}}``
    """
    wanted = "block" if alignment == "justify" else alignment

    def is_so(paragraph: Paragraph) -> bool:
        return paragraph.alignment == wanted

    def is_placed(document: TextView, _row: Paragraph, lines: tuple[Reading, ...]) -> bool:
        return are_aligned(document, lines, wanted)

    return every_paragraph(view, path, text, is_so, is_placed=is_placed)


@evaluator(on="documents")
def document_table_equals(
    view: MachineView, path: MachinePath, rows: list[list[str]], table: Count = 1
) -> bool:
    """Return whether a table of a text document contains exactly the given texts, and all are seen.

    White space at the ends of cells is ignored. A merged cell has its text in its first position,
    and is empty in the others. Tables of more than 300 cells are unmet.

    Args:
        view: the machine.
        path: path of the text document.
        rows: cells by row, from the top.
        table: number of the table in the body, from 1.

    Example:
        ``{on: desktop, check: document_table_equals, with: {path: ~/a.odt, rows: [[a, b]]}}``
    """
    document, paragraphs = part_of_document(view, path, "table")
    if document is None or len(document.tables) < table:
        return False
    wanted = document.tables[table - 1]
    cells = {f"{wanted.name}.{cell.name}" for cell in wanted.cells if cell.text.strip()}
    own = [(row.place, is_seen) for row, is_seen in paragraphs if row.place in cells]
    if {place for place, _ in own} != cells or not all(is_seen for _, is_seen in own):
        return False
    return _grid(wanted) == [[cell.strip() for cell in row] for row in rows]


@evaluator(on="documents")
def document_picture_count(view: MachineView, path: MachinePath, count: Pictures) -> bool:
    """Return whether exactly the given number of pictures are seen in a text document.

    Documents with more than 11 pictures are unmet.

    Args:
        view: the machine.
        path: path of the text document.
        count: number of pictures, 1 to 10.

    Example:
        ``{on: desktop, check: document_picture_count, with: {path: ~/a.odt, count: 2}}``
    """
    asked = [ObjectItem(number=number) for number in range(MAX_PICTURES + 1)]
    document = view.text_document(path, shown=asked)
    if document is None or len(document.pictures) > len(asked):
        return False
    return sum(row.is_shown for row in document.shown) == count


def _lines(texts: Iterable[str]) -> list[str]:
    lines = [line.strip() for text in texts for line in text.split("\n")]
    return [line for line in lines if line]


def _is_raised(runs: list[Run], neighbours: list[Run]) -> bool:
    """Return whether letters are visibly above, or below, those next to them; so if it was not measured."""
    levels = [run.raised_percent for run in (*runs, *neighbours)]
    if None in levels:
        return True
    return all(
        abs((run.raised_percent or 0) - (near.raised_percent or 0)) >= _MIN_RAISED_PERCENT
        for run in runs
        for near in neighbours
    )


def _has_look(run: Run, look: str) -> bool:
    looks = {
        "bold": run.is_bold,
        "italic": run.is_italic,
        "underline": bool(run.underline),
        "strikethrough": run.is_struck,
        "superscript": run.position == "super",
        "subscript": run.position == "sub",
    }
    return looks[look]


def _grid(table: TextTable) -> list[list[str]]:
    """Return the texts of a table by row and column, empty where a merged cell goes on."""
    texts = {(cell.row, cell.column): cell.text.strip() for cell in table.cells}
    return [
        [texts.get((row, column), "") for column in range(1, table.columns + 1)]
        for row in range(1, table.rows + 1)
    ]
