"""Texts of slides, and where they are seen; for evaluators of presentations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.rendering.request import TextItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.common import Place, Reading, Shown
    from evaluators.rendering.views.slides import Shape, Slide, SlideParagraph, SlidesView
    from evaluators.rendering.views.text import Run

MAX_TEXT_CHARS = 1000
MAX_LINES = 20
_MM_PER_POINT = 25.4 / 72
_MARGINS_MM = 0.8
"""What places of texts are higher than their letters."""


@dataclass(frozen=True)
class Passage:
    """An occurrence of a text on a slide.

    Attributes:
        paragraph: its paragraph.
        runs: the runs of its characters.
        around: the runs of the visible characters directly before and after it in its paragraph.
        drawn_pt: height of the highest line of the text that is seen on the slide, in points.
        drawn: lines of the text on the slide that were measured.
        has_foreign_fonts: whether its letters may have any weight, slant and size.
    """

    paragraph: SlideParagraph
    runs: tuple[Run, ...]
    around: tuple[Run, ...]
    drawn_pt: float
    drawn: tuple[Reading, ...]
    has_foreign_fonts: bool


def slide_of(deck: SlidesView | None, number: int) -> Slide | None:
    """Return a slide by its number from 1; None if there is none."""
    slides = deck.slides if deck is not None else ()
    return slides[number - 1] if number <= len(slides) else None


def shapes_of(slide: Slide) -> Iterator[Shape]:
    """Yield the shapes of a slide and of its groups, from the back to the front."""
    pending = list(reversed(slide.shapes))
    while pending:
        shape = pending.pop()
        yield shape
        pending += reversed(shape.shapes)


def lines_of(shape: Shape) -> list[str]:
    """Return the lines of a shape without white space at their ends, and without empty ones."""
    lines = [line.strip() for text in shape.paragraphs for line in text.text.split("\n")]
    return [line for line in lines if line]


def text_lines(text: str) -> tuple[str, ...]:
    """Return the lines of an argument; empty if there are none, or too many or too long ones."""
    lines = tuple(line.strip() for line in text.split("\n") if line.strip())
    is_usable = len(lines) <= MAX_LINES and all(len(line) <= MAX_TEXT_CHARS for line in lines)
    return lines if is_usable else ()


def shapes_with_lines(
    view: MachineView, path: str, slide: int, lines: Iterable[str]
) -> list[tuple[Shape, list[str]]]:
    """Return the shapes of a slide in which lines are seen, each with those lines.

    A line that is seen belongs to the nearest shapes that have its text; to none if those that lie
    upon each other there have it as a line and as a part of one, or are of different types. If such
    a shape has the text also as a part of another line, all of its occurrences must be seen.

    Args:
        view: the machine.
        path: path of the file.
        slide: number of the slide, from 1.
        lines: complete lines.
    """
    wanted = tuple(dict.fromkeys(lines))
    items = tuple(TextItem(text=line, page=slide - 1) for line in wanted)
    deck = view.presentation(path, shown=items) if items else None
    content = slide_of(deck, slide)
    if deck is None or content is None:
        return []
    shapes = list(shapes_of(content))
    seen: dict[int, list[str]] = {}
    for line, row in zip(wanted, deck.shown, strict=True):
        for index in _shapes_seen(shapes, line, row):
            seen.setdefault(index, []).append(line)
    return [(shapes[index], found) for index, found in seen.items()]


def passages(view: MachineView, path: str, slide: int, text: str) -> list[Passage]:
    """Return all occurrences of a text on a slide; none if the text is not seen.

    Args:
        view: the machine.
        path: path of the file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph.
    """
    wanted = text.strip()
    if not 0 < len(wanted) <= MAX_TEXT_CHARS:
        return []
    deck = view.presentation(path, shown=(TextItem(text=wanted, page=slide - 1),))
    content = slide_of(deck, slide)
    if deck is None or content is None or not deck.shown[0].is_shown:
        return []
    heights_mm = [place.height_mm for place in deck.shown[0].places if place.is_seen]
    drawn_pt = (max(heights_mm, default=0.0) - _MARGINS_MM) / _MM_PER_POINT
    return [
        passage
        for shape in shapes_of(content)
        for paragraph in shape.paragraphs
        for passage in _passages_in(
            paragraph, wanted, drawn_pt, deck.shown[0].readings, has_foreign_fonts=deck.brings_fonts
        )
    ]


def _passages_in(
    paragraph: SlideParagraph,
    text: str,
    drawn_pt: float,
    drawn: tuple[Reading, ...],
    *,
    has_foreign_fonts: bool,
) -> Iterator[Passage]:
    letters = "".join(run.text for run in paragraph.runs)
    runs = [run for run in paragraph.runs for _ in run.text]
    start = letters.find(text)
    while start >= 0:
        end = start + len(text)
        before = [run for run, letter in zip(runs[:start], letters, strict=False) if letter.strip()]
        after = [
            run for run, letter in zip(runs[end:], letters[end:], strict=True) if letter.strip()
        ]
        around = (*before[-1:], *after[:1])
        own = tuple(runs[start:end])
        yield Passage(paragraph, own, around, drawn_pt, drawn, has_foreign_fonts)
        start = letters.find(text, start + 1)


def _shapes_seen(shapes: list[Shape], line: str, row: Shown) -> list[int]:
    """Return the indices of the shapes in which a line is seen."""
    if not row.is_shown:
        return []
    having = [
        index
        for index, shape in enumerate(shapes)
        if any(line in paragraph.text for paragraph in shape.paragraphs)
    ]
    places: dict[int, list[bool]] = {}
    for place in row.places:
        nearest = _nearest(shapes, having, place)
        kinds = {(shapes[index].type, line in lines_of(shapes[index])) for index in nearest}
        for index in nearest:
            places.setdefault(index, []).append(place.is_seen and len(kinds) == 1)
    return [
        index
        for index, flags in places.items()
        if (any if _is_only_line(shapes[index], line) else all)(flags)
    ]


def _nearest(shapes: list[Shape], indices: list[int], place: Place) -> list[int]:
    across = place.left_mm + place.width_mm / 2
    down = place.top_mm + place.height_mm / 2
    distances = {
        index: max(
            shapes[index].left_mm - across,
            across - shapes[index].left_mm - shapes[index].width_mm,
            0.0,
        )
        + max(
            shapes[index].top_mm - down, down - shapes[index].top_mm - shapes[index].height_mm, 0.0
        )
        for index in indices
    }
    least = min(distances.values(), default=0.0)
    return [index for index, distance in distances.items() if distance == least]


def _is_only_line(shape: Shape, line: str) -> bool:
    return all(line not in other or line == other for other in lines_of(shape))
