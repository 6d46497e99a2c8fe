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


@dataclass(frozen=True)
class Marked:
    """What was given a colour of its own.

    Attributes:
        text: its characters.
        parts: the passages that have characters of it, and which.
    """

    text: str
    parts: tuple[tuple[Passage, tuple[int, int]], ...]

    @classmethod
    def whole(cls, passage: Passage) -> Marked:
        """Return the mark of all characters of a passage."""
        return cls(passage.text, ((passage, (0, len(passage.text))),))

    def share(self, letters: Sequence[Letter]) -> list[tuple[Passage, Letter]] | None:
        """Return to which passage each of its drawn letters belongs; None if that is not certain."""
        if len(self.parts) == 1 and self.parts[0][1] == (0, len(self.text)):
            return [(self.parts[0][0], letter) for letter in letters]
        places = [place for place, letter in enumerate(self.text) if _is_drawn(letter)]
        wanted = "".join(self.text[place] for place in places)
        # A number or bullet before it may have its colour.
        first = "".join(letter.character for letter in letters).find(wanted)
        if first < 0:
            return None
        own = letters[first : first + len(wanted)]
        return [
            (passage, letter)
            for passage, (start, end) in self.parts
            for place, letter in zip(places, own, strict=True)
            if start <= place < end
        ]


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


def unused_colors(drawn: DrawnTexts) -> Iterator[int]:
    """Yield colours that no letter of a print has."""
    used = {color for page in range(drawn.page_count) for color in drawn.colors(page)}
    return (color for color in range(_FIRST_COLOR, 1 << 24) if color not in used)


def mark(
    parts: Parts,
    passages: Sequence[Passage],
    colors: Iterator[int],
    *,
    is_divided: bool = False,
) -> dict[int, Marked]:
    """Colour the runs of passages that do not overlap, each in a colour of its own; return them by colour.

    Args:
        parts: the document's paragraphs.
        passages: the passages.
        colors: unused colours.
        is_divided: whether only their own characters are coloured, which takes longer.
    """
    wanted: dict[int, list[Passage]] = {}
    for passage in passages:
        wanted.setdefault(passage.paragraph, []).append(passage)
    cursors: dict[int, Any] = {}
    marked = {}
    for number, rows in wanted.items():
        text = parts.texts[number]
        place = 0
        contents = (run["text"] for run in parts.paragraphs[number]["runs"])
        for run, content in zip(parts.portions[number], contents, strict=True):
            inside = tuple(_within(rows, place, len(content)))
            place += len(content)
            # Each run has its own: LibreOffice joins equal neighbours, and a link within loses them.
            if inside and not is_divided:
                run.Text.createTextCursorByRange(run).CharColor = color = next(colors)
                marked[color] = Marked(content, inside)
                continue
            if inside and id(text) not in cursors:
                cursors[id(text)] = text.createTextCursorByRange(run)
            selected = _select(cursors.get(id(text)), run, content, [part for _, part in inside])
            for (passage, (start, end)), cursor in zip(inside, selected, strict=True):
                cursor.CharColor = color = next(colors)
                marked[color] = Marked(content[start:end], ((passage, (0, end - start)),))
    return marked


def locate(
    first: DrawnTexts, print_marked: Path, marked: dict[int, Marked]
) -> tuple[dict[Passage, list[Letter]], list[Passage]]:
    """Return the letters of the first print that belong to each passage, and the passages of which that is not certain.

    Args:
        first: the first print, of which nothing was removed.
        print_marked: the print with colours.
        marked: what has them.
    """
    second = DrawnTexts(print_marked)
    by_color: dict[int, list[Letter]] = {color: [] for color in marked}
    for page in range(second.page_count):
        for letter in second.letters(page, marked):
            by_color[letter.color].append(letter)
    shares = {color: run.share(by_color[color]) for color, run in marked.items()}
    drawn = [pair for share in shares.values() for pair in share or ()]
    places: dict[tuple[int, str, int], list[Letter]] = {}
    for page in {letter.page for _, letter in drawn if letter.page < first.page_count}:
        for letter in first.letters(page):
            places.setdefault((page, letter.character, _band(letter)), []).append(letter)
    found: dict[Passage, list[Letter]] = {}
    for passage, letter in drawn:
        bands = [(letter.page, letter.character, _band(letter) + step) for step in (-1, 0, 1)]
        same = [other for band in bands for other in places.get(band, [])]
        nearest = min(same, key=letter.distance, default=None)
        if nearest is not None and letter.distance(nearest) <= _NEAR_PT:
            places[nearest.page, nearest.character, _band(nearest)].remove(nearest)
            found.setdefault(passage, []).append(nearest)
    unsure = {
        passage: None
        for color, run in marked.items()
        if shares[color] is None
        for passage, _ in run.parts
    }
    return found, list(unsure)


def _is_drawn(letter: str) -> bool:
    return letter.isprintable() and not letter.isspace()


def _band(letter: Letter) -> int:
    """Return the number of the strip of its page in which a letter stands, `_NEAR_PT` high."""
    return int(letter.bottom // _NEAR_PT)


def _starts(text: str, wanted: str) -> Iterator[int]:
    start = text.find(wanted)
    while start >= 0:
        yield start
        start = text.find(wanted, start + len(wanted))


def _within(
    passages: Sequence[Passage], place: int, size: int
) -> Iterator[tuple[Passage, tuple[int, int]]]:
    """Yield the passages that have characters of a run, and which of it, in order.

    Args:
        passages: the passages.
        place: where the run begins in its paragraph.
        size: its number of characters.
    """
    for passage in passages:
        start, end = max(passage.start - place, 0), min(passage.end - place, size)
        if start < end:
            yield passage, (start, end)


def _select(
    cursor: Any,  # noqa: ANN401 - UNO has no types
    run: Any,  # noqa: ANN401
    content: str,
    parts: Sequence[tuple[int, int]],
) -> Iterator[Any]:
    """Yield a cursor that has selected each part of a run; it moves on, because a new one is slow.

    Args:
        cursor: a cursor of the run's text.
        run: the run.
        content: its characters.
        parts: first character of each part and the one behind it, in order.
    """
    place: int | None = None
    for start, end in parts:
        if (start, end) == (0, len(content)):
            yield run.Text.createTextCursorByRange(run)
            continue
        if place is None:
            cursor.gotoRange(run.Start, False)
            place = 0
        cursor.goRight(start - place, False)
        cursor.goRight(end - start, True)
        place = end
        is_selected = cursor.String.casefold() == content[start:end].casefold()
        yield cursor if is_selected else run.Text.createTextCursorByRange(run)
