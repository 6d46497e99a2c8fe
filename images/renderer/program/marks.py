"""Where passages of a text document are drawn: found by their colours in a second print.

The same words may stand in several places of a document, so a passage is not looked for by its words:
it is given a colour that nothing else has, printed, and what has this colour is looked up in the
first print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.errors import DocumentError
from images.renderer.program.formatting import paragraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from images.renderer.program.letters import Letter
    from images.renderer.program.text_parts import Parts

MAX_PASSAGES = 1000
MAX_TRANSPARENCY_PERCENT = 90
_FIRST_COLOR = 0x203040
_NEAR_PT = 3.0
"""How far a letter may move when its colour changes."""


@dataclass(frozen=True)
class Passage:
    """A passage of a paragraph.

    Attributes:
        paragraph: number of the paragraph.
        start: its first character.
        end: the character behind it.
        text: its characters.
    """

    paragraph: int
    start: int
    end: int
    text: str


def is_transparent(parts: Parts, passage: Passage) -> bool:
    """Return whether a character of a passage is as good as transparent, which a print ignores."""
    place = 0
    for run in parts.paragraphs[passage.paragraph]["runs"]:
        is_part = place < passage.end and passage.start < place + len(run["text"])
        if is_part and run["transparency_percent"] > MAX_TRANSPARENCY_PERCENT:
            return True
        place += len(run["text"])
    return False


def find_passages(parts: Parts, asked: dict[str, Any]) -> list[Passage]:
    """Return the passages that an item asks for.

    Args:
        parts: the document's paragraphs.
        asked: an item of the kind ``text``, or ``part`` for all paragraphs of a part.

    Raises:
        DocumentError: there are more than `MAX_PASSAGES`.
    """
    found: list[Passage] = []
    for number, paragraph in enumerate(parts.paragraphs):
        text = "".join(run["text"] for run in paragraph["runs"])
        if asked["kind"] == "text":
            size = len(asked["text"])
            found += [
                Passage(number, start, start + size, asked["text"])
                for start in _starts(text, asked["text"])
            ]
        elif paragraph["part"] == asked["part"] and text.strip():
            found.append(Passage(number, 0, len(text), text))
    if len(found) > MAX_PASSAGES:
        raise DocumentError(f"More than {MAX_PASSAGES} passages are asked for.")
    return found


def unused_colors(letters: Sequence[Letter]) -> Iterator[int]:
    """Yield colours that no letter has."""
    used = {letter.color for letter in letters}
    return (color for color in range(_FIRST_COLOR, 1 << 24) if color not in used)


def mark(parts: Parts, passages: Sequence[Passage], colors: Iterator[int]) -> dict[int, Passage]:
    """Colour passages that do not overlap, each run in a colour of its own; return the passages by colour.

    Args:
        parts: the document's paragraphs.
        passages: the passages.
        colors: unused colours.
    """
    cursors = [list(_cursors(parts.ranges[row.paragraph], row)) for row in passages]
    marked = {}
    for passage, ranges in zip(passages, cursors, strict=True):
        for cursor in ranges:
            # Each run has its own: LibreOffice joins equal neighbours, and a link within loses them.
            cursor.CharColor = color = next(colors)
            marked[color] = passage
    return marked


def locate(
    first: Sequence[Letter], marked: Path, passages: dict[int, Passage]
) -> dict[Passage, list[Letter]]:
    """Return the letters of the first print that belong to each passage.

    Args:
        first: letters of the first print.
        marked: the print with colours.
        passages: the passages by colour.
    """
    places: dict[tuple[int, str, int], list[Letter]] = {}
    for letter in first:
        places.setdefault((letter.page, letter.character, _band(letter)), []).append(letter)
    found: dict[Passage, list[Letter]] = {passage: [] for passage in passages.values()}
    for letter in all_letters(DrawnTexts(marked)):
        if letter.color not in passages:
            continue
        bands = [(letter.page, letter.character, _band(letter) + step) for step in (-1, 0, 1)]
        same = [other for band in bands for other in places.get(band, [])]
        nearest = min(same, key=letter.distance, default=None)
        if nearest is not None and letter.distance(nearest) <= _NEAR_PT:
            places[nearest.page, nearest.character, _band(nearest)].remove(nearest)
            found[passages[letter.color]].append(nearest)
    return found


def all_letters(drawn: DrawnTexts) -> list[Letter]:
    """Return the letters of all pages of a print."""
    return [letter for page in range(drawn.page_count) for letter in drawn.letters(page)]


def _band(letter: Letter) -> int:
    """Return the number of the strip of its page in which a letter stands, `_NEAR_PT` high."""
    return int(letter.bottom // _NEAR_PT)


def _starts(text: str, wanted: str) -> Iterator[int]:
    start = text.find(wanted)
    while start >= 0:
        yield start
        start = text.find(wanted, start + len(wanted))


def _cursors(paragraph: Any, passage: Passage) -> Iterator[Any]:  # noqa: ANN401
    """Yield ranges that together are the passage."""
    place = 0
    for run in paragraphs_of(paragraph):
        size = len(run.String)
        start, end = max(passage.start - place, 0), min(passage.end - place, size)
        place += size
        if start < end:
            yield _part_of(run, start, end)


def _part_of(run: Any, start: int, end: int) -> Any:  # noqa: ANN401 - UNO has no types
    cursor = run.Text.createTextCursorByRange(run)
    text = run.String
    if (start, end) != (0, len(text)):
        part = run.Text.createTextCursorByRange(run.Start)
        part.goRight(start, False)
        part.goRight(end - start, True)
        if part.String == text[start:end]:
            return part
    return cursor
