"""Paragraphs and passages of text documents, as far as they are seen."""

from __future__ import annotations

import logging
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.rendering.request import PartItem, TextItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluators.machine_view import MachineView
    from evaluators.rendering.request import Item
    from evaluators.rendering.views.common import Reading
    from evaluators.rendering.views.text import Paragraph, Run, TextView

MAX_ASKED = 1000
"""Characters of a text by which it is looked for in the picture."""
_log = logging.getLogger(__name__)
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_NUMERAL_LETTERS = 2
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that are drawn as spaces."""


@dataclass(frozen=True)
class Passage:
    """Characters of a paragraph, from `start` to before `end`; `drawn` are its lines that were measured.

    If `has_foreign_fonts`, its letters may have any weight, slant and size.
    """

    paragraph: Paragraph
    start: int
    end: int
    drawn: tuple[Reading, ...] = ()
    has_foreign_fonts: bool = False

    @property
    def runs(self) -> list[Run]:
        """The run of each of its characters."""
        return [run for _, run in self._letters[self.start : self.end]]

    @property
    def neighbours(self) -> list[Run]:
        """The runs of the visible characters before and behind it."""
        before = [run for letter, run in self._letters[: self.start] if has_ink(letter)]
        behind = [run for letter, run in self._letters[self.end :] if has_ink(letter)]
        return [*before[-1:], *behind[:1]]

    @property
    def _letters(self) -> list[tuple[str, Run]]:
        return [(letter, run) for run in self.paragraph.runs for letter in run.text]


def seen_paragraphs(view: MachineView, path: str, text: str) -> list[Paragraph]:
    """Return the paragraphs of the body that equal a text, without outer white space, and are seen."""
    document = _ask(view, path, text.strip())
    if document is None:
        return []
    return [document.paragraphs[number] for number in _equal(document, text, _seen(document))]


def every_paragraph(
    view: MachineView,
    path: str,
    text: str,
    is_so: Callable[[Paragraph], bool],
    is_drawn: Callable[[tuple[Reading, ...]], bool] = lambda _lines: True,
    *,
    is_placed: Callable[[TextView, Paragraph, tuple[Reading, ...]], bool] = lambda *_: True,
) -> bool:
    """Return whether the body has a paragraph with this text, and all of them are seen, are so, are drawn so and placed so."""
    document = _ask(view, path, text.strip())
    if document is None:
        return False
    numbers = _equal(document, text, set(range(len(document.paragraphs))))
    return bool(numbers) and all(
        number in _seen(document)
        and is_so(document.paragraphs[number])
        and is_drawn(_drawn(document, number))
        and is_placed(document, document.paragraphs[number], _drawn(document, number))
        for number in numbers
    )


def seen_passages(view: MachineView, path: str, text: str) -> list[Passage]:
    """Return where a text occurs in body and tables; nothing if one of the places is not seen."""
    document = _ask(view, path, text)
    if document is None:
        return []
    found = [
        (
            number,
            Passage(
                paragraph,
                start,
                start + len(text),
                _drawn(document, number),
                document.brings_fonts,
            ),
        )
        for number, paragraph in enumerate(document.paragraphs)
        if paragraph.part in {"body", "table"}
        for start in _places(paragraph, text)
    ]
    is_seen = all(number in _seen(document) for number, _ in found)
    return [passage for _, passage in found] if is_seen else []


def every_run(
    view: MachineView,
    path: str,
    text: str,
    is_so: Callable[[Run], bool],
    is_drawn: Callable[[Reading], bool] = lambda _line: True,
    *,
    is_by_font: bool = False,
) -> bool:
    """Return whether a text occurs, is seen everywhere, and all of its runs are so and drawn so.

    Args:
        view: the machine.
        path: path of the document.
        text: the text.
        is_so: whether a run is so.
        is_drawn: whether a line is drawn so.
        is_by_font: whether a font of the document's own could look otherwise.
    """
    passages = seen_passages(view, path, text)
    return bool(passages) and all(
        not (is_by_font and is_font_unknown(passage.has_foreign_fonts, path))
        and all(map(is_so, passage.runs))
        and all(map(is_drawn, passage.drawn))
        for passage in passages
    )


def is_font_unknown(has_foreign_fonts: bool, path: str) -> bool:  # noqa: FBT001
    """Return whether letters may have another weight, slant and size than their font claims, and log it."""
    if has_foreign_fonts:
        _log.info("%s brings fonts of its own, which may look like any other", path)
    return has_foreign_fonts


def part_of_document(
    view: MachineView, path: str, *parts: str
) -> tuple[TextView | None, list[tuple[Paragraph, bool]]]:
    """Return a document, and the paragraphs with text of some of its parts.

    Args:
        view: the machine.
        path: path of the document.
        parts: ``body``, ``table``, ``header`` or ``footer``.

    Returns:
        The document, None if it is missing; its paragraphs with visible characters, and whether each
        of them is seen.
    """
    asked = [PartItem.model_validate({"part": part}) for part in parts]
    document = view.text_document(path, shown=asked)
    if document is None:
        return None, []
    return document, [
        (paragraph, number in _seen(document))
        for number, paragraph in enumerate(document.paragraphs)
        if paragraph.part in parts and any(map(has_ink, paragraph.text))
    ]


def has_ink(letter: str) -> bool:
    """Return whether a character is visible: not white space, zero-width or a filler."""
    is_mark = unicodedata.category(letter) in {"Cc", "Cf", "Mn", "Me"}
    return not (letter.isspace() or is_mark or letter in _FILLERS)


def _ask(view: MachineView, path: str, text: str) -> TextView | None:
    """Return the view that says where a text is seen; None also for an empty text."""
    items: tuple[Item, ...] = (TextItem(text=text[:MAX_ASKED]),) if text else ()
    return view.text_document(path, shown=items) if items else None


def lines_drawn(document: TextView, paragraph: Paragraph) -> tuple[Reading, ...]:
    """Return the lines of a paragraph that were measured."""
    number = next(at for at, row in enumerate(document.paragraphs) if row is paragraph)
    return _drawn(document, number)


def _drawn(document: TextView, number: int) -> tuple[Reading, ...]:
    """Return the lines of a paragraph that were measured."""
    return tuple(
        line for row in document.shown for line in row.readings if line.paragraph == number
    )


def _seen(document: TextView) -> set[int]:
    return {number for row in document.shown for number in row.paragraphs}


def _equal(document: TextView, text: str, numbers: set[int]) -> list[int]:
    return [
        number
        for number in sorted(numbers)
        if document.paragraphs[number].part == "body"
        and document.paragraphs[number].text.strip() == text.strip()
        and not label_words(document.paragraphs[number])
    ]


def label_words(paragraph: Paragraph) -> str:
    """Return the label of a paragraph in a list if it reads as words of a sentence; otherwise nothing."""
    label = paragraph.list_label.strip()
    words = [word for word in re.findall(r"[^\W\d_]+", label) if not _ROMAN.fullmatch(word)]
    is_sentence = len(words) > 1 or any(len(word) > _NUMERAL_LETTERS for word in words)
    return label if is_sentence and not any(map(str.isdigit, label)) else ""


def _places(paragraph: Paragraph, text: str) -> Iterator[int]:
    letters = "".join(run.text for run in paragraph.runs)
    start = letters.find(text)
    while start >= 0:
        yield start
        start = letters.find(text, start + len(text))
