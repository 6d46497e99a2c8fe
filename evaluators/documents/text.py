"""Evaluators of text documents: OpenDocument (.odt) and Word (.docx), detected by content.

Tracked changes count as accepted. Text is ignored if it is hidden, smaller than 2 pt, in the colour
of its background, less than 2 pt wide because of its scale, not filled, or in comments or headers;
in .odt files also if it is transparent, in lines lower than 2 pt, or off the page because of its
margins. Text that is covered by a picture or frame, or invisible for any other reason, counts.
Backgrounds are those of text, paragraphs and cells; in .docx files also those of cells by the
table's style; in .odt files also those of rows, tables, sections and pages, which apply until a
paragraph or table sets another page style.
"""

from __future__ import annotations

import base64
import unicodedata
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.pictures import is_picture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evaluators.machine_view import MachineView
    from evaluators.readers.model import Paragraph, Run

Count = Annotated[int, Field(ge=1)]
Level = Annotated[int, Field(ge=1, le=9)]
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that are drawn as spaces."""


@evaluator(on="documents")
def document_text_equals(view: MachineView, path: MachinePath, text: str) -> bool:
    """Return whether the body of a text document equals the given text.

    Paragraphs, and lines within them, are separated by newlines; empty ones, and white space at their
    ends, are ignored. Tables, frames, notes, headers and hidden text are ignored; tracked changes count
    as accepted.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the complete text.

    Example:
        ``{on: desktop, check: document_text_equals, with: {path: ~/a.odt, text: Dear Ann}}``
    """
    document = view.text_document(path)
    if document is None:
        return False
    return _lines(paragraph.text for paragraph in document.paragraphs) == _lines([text])


@evaluator(on="documents")
def document_has_paragraph(view: MachineView, path: MachinePath, text: str) -> bool:
    """Return whether a text document has a paragraph that equals the given text.

    White space at the ends, paragraphs in tables, and hidden text are ignored; tracked changes
    count as
    accepted.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the complete paragraph.

    Example:
        ``{on: desktop, check: document_has_paragraph, with: {path: ~/a.odt, text: Dear Ann}}``
    """
    document = view.text_document(path)
    return document is not None and bool(_find(document.paragraphs, text))


@evaluator(on="documents")
def document_has_heading(view: MachineView, path: MachinePath, text: str, level: Level) -> bool:
    """Return whether a text document has a heading with the given text and level.

    A paragraph that is only formatted like a heading does not count.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the complete heading.
        level: level; 1 is the highest.

    Example:
        ``{on: desktop, check: document_has_heading, with: {path: ~/a.odt, text: Aim, level: 1}}``
    """
    document = view.text_document(path)
    if document is None:
        return False
    return any(paragraph.level == level for paragraph in _find(document.paragraphs, text))


@evaluator(on="documents")
def document_text_styled(
    view: MachineView, path: MachinePath, text: str, look: Literal["bold", "italic", "underline"]
) -> bool:
    """Return whether a passage of a text document is completely bold, italic or underlined.

    The passage must occur once, within one paragraph, and the text next to it must not have that
    style, so that a document that is entirely bold is unmet.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the passage; must not be empty.
        look: the style.

    Example:
        ``{on: desktop, check: document_text_styled, with: {path: ~/a.odt, text: now, look: bold}}``
    """
    document = view.text_document(path)
    if document is None or not text:
        return False
    hits = [hit for hit in map(_letters, document.paragraphs) for _ in range(hit[0].count(text))]
    if len(hits) != 1:
        return False
    letters, runs = hits[0]
    flags = [getattr(run, look) for run in runs]
    start = letters.find(text)
    end = start + len(text)
    return all(flags[start:end]) and not any(flags[place] for place in _around(letters, start, end))


@evaluator(on="documents")
def document_text_coloured(view: MachineView, path: MachinePath, text: str, colour: str) -> bool:
    """Return whether every occurrence of a passage of a text document has the given colour.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the passage, within one paragraph; must not be empty.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.

    Example:
        ``{on: desktop, check: document_text_coloured,
        with: {path: ~/a.odt, text: now, colour: ff0000}}``
    """
    return _every_run(view, path, text, lambda run: run.colour == colour.lower().lstrip("#"))


@evaluator(on="documents")
def document_text_size(view: MachineView, path: MachinePath, text: str, size_pt: float) -> bool:
    """Return whether every occurrence of a passage of a text document has the given font size.

    If the document does not set a size, the check is unmet.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the passage, within one paragraph; must not be empty.
        size_pt: font size in points, with a precision of a tenth.

    Example:
        ``{on: desktop, check: document_text_size, with: {path: ~/a.odt, text: Aim, size_pt: 18}}``
    """

    def is_so(run: Run) -> bool:
        return run.size_pt is not None and round(run.size_pt, 1) == round(size_pt, 1)

    return _every_run(view, path, text, is_so)


@evaluator(on="documents")
def document_paragraph_aligned(
    view: MachineView,
    path: MachinePath,
    text: str,
    alignment: Literal["left", "center", "right", "justify"],
) -> bool:
    """Return whether a paragraph of a text document has the given alignment.

    The default alignment is ``left``. Every paragraph with this text must have the alignment.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        text: the complete paragraph.
        alignment: alignment of its lines.

    Example:
        ``{on: desktop, check: document_paragraph_aligned,
        with: {path: ~/a.odt, text: Aim, alignment: center}}``
    """
    document = view.text_document(path)
    paragraphs = _find(document.paragraphs, text) if document is not None else []
    return bool(paragraphs) and all(
        (paragraph.alignment or "left") == alignment for paragraph in paragraphs
    )


@evaluator(on="documents")
def document_table_equals(
    view: MachineView, path: MachinePath, rows: list[list[str]], table: Count = 1
) -> bool:
    """Return whether a table of a text document contains exactly the given texts.

    White space at the ends of cells is ignored. A merged cell has its text in its first position,
    and is empty in the others.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        rows: cells by row, from the top.
        table: number of the table, from 1.

    Example:
        ``{on: desktop, check: document_table_equals, with: {path: ~/a.odt, rows: [[a, b]]}}``
    """
    document = view.text_document(path)
    if document is None or len(document.tables) < table:
        return False
    seen = [[cell.strip() for cell in row] for row in document.tables[table - 1]]
    return seen == [[cell.strip() for cell in row] for row in rows]


@evaluator(on="documents")
def document_picture_count(view: MachineView, path: MachinePath, count: Count) -> bool:
    """Return whether a text document has exactly the given number of embedded pictures.

    Hidden pictures, those with a side below 0.25 mm, previews of embedded objects, those whose
    deletion is tracked, and files that are not pictures, are ignored.

    Args:
        view: the machine.
        path: path of the .odt or .docx file.
        count: number of pictures, at least 1.

    Example:
        ``{on: desktop, check: document_picture_count, with: {path: ~/a.odt, count: 2}}``
    """
    document = view.text_document(path)
    if document is None:
        return False
    return sum(is_picture(base64.b64decode(text)) for text in document.pictures) == count


def _lines(texts: Iterable[str]) -> list[str]:
    lines = [line.strip() for text in texts for line in text.split("\n")]
    return [line for line in lines if line]


def _find(paragraphs: Sequence[Paragraph], text: str) -> list[Paragraph]:
    return [paragraph for paragraph in paragraphs if paragraph.text.strip() == text.strip()]


def _letters(paragraph: Paragraph) -> tuple[str, list[Run]]:
    """Return a paragraph's text and the run of each of its characters."""
    runs = [run for run in paragraph.runs for _ in run.text]
    return "".join(run.text for run in paragraph.runs), runs


def _around(letters: str, start: int, end: int) -> list[int]:
    """Return the positions of the visible characters before and after a passage."""
    before = [place for place in range(start) if _has_ink(letters[place])]
    after = [place for place in range(end, len(letters)) if _has_ink(letters[place])]
    return [*before[-1:], *after[:1]]


def _has_ink(letter: str) -> bool:
    """Return whether a character is visible: not white space, zero-width or a filler."""
    is_mark = unicodedata.category(letter) in {"Cc", "Cf", "Mn", "Me"}
    return not (letter.isspace() or is_mark or letter in _FILLERS)


def _every_run(view: MachineView, path: str, text: str, is_so: Callable[[Run], bool]) -> bool:
    document = view.text_document(path)
    if document is None or not text:
        return False
    verdicts = []
    for paragraph in document.paragraphs:
        letters, runs = _letters(paragraph)
        flags = [is_so(run) for run in runs]
        start = letters.find(text)
        while start >= 0:
            verdicts.append(all(flags[start : start + len(text)]))
            start = letters.find(text, start + 1)
    return bool(verdicts) and all(verdicts)
