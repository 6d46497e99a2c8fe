"""The letters of a PDF's page: where they are drawn, and in which colour."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pypdfium2 import raw

from images.renderer.program.pages import Box, mm_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

_SAME_LINE = 0.5
"""Least common share of the height of letters in one line."""


@dataclass(frozen=True)
class Letter:
    """A letter on a page, in points from the bottom left corner.

    Attributes:
        page: number of the page, from 0.
        index: its number on the page.
        character: the letter.
        color: its colour as 0xRRGGBB.
        left: left edge.
        bottom: lower edge.
        right: right edge.
        top: upper edge.
    """

    page: int
    index: int
    character: str
    color: int
    left: float
    bottom: float
    right: float
    top: float

    def follows(self, other: Letter) -> bool:
        """Return whether it is behind another letter in the same line."""
        common = min(self.top, other.top) - max(self.bottom, other.bottom)
        height = min(self.top - self.bottom, other.top - other.bottom)
        is_level = common >= _SAME_LINE * height
        return self.page == other.page and self.left >= other.left and is_level

    def distance(self, other: Letter) -> float:
        """Return how far its lower left corner is from that of another letter, in points."""
        return max(abs(self.left - other.left), abs(self.bottom - other.bottom))


def read_letters(
    content: Any,  # noqa: ANN401 - pypdfium2 has no types
    page: int,
    colors: Container[int] | None = None,
) -> list[Letter]:
    """Return the letters of a page, without spaces.

    Args:
        content: text of the page.
        page: number of the page.
        colors: the colours of those wanted; None for all.
    """
    color = [ctypes.c_uint() for _ in range(4)]
    sides = [ctypes.c_double() for _ in range(4)]
    letters = []
    for index in range(content.count_chars()):
        character = chr(raw.FPDFText_GetUnicode(content, index))
        if character.isspace() or not character.isprintable():
            continue
        raw.FPDFText_GetFillColor(content, index, *color)
        packed = _packed(color)
        if colors is not None and packed not in colors:
            continue
        raw.FPDFText_GetCharBox(content, index, *sides)
        left, right, bottom, top = (side.value for side in sides)
        letters.append(Letter(page, index, character, packed, left, bottom, right, top))
    return letters


def color_of(drawn: Any) -> int:  # noqa: ANN401 - pypdfium2 has no types
    """Return the colour of a text object, as 0xRRGGBB."""
    color = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFPageObj_GetFillColor(drawn, *color)
    return _packed(color)


def line_boxes(letters: Sequence[Letter], heights: Mapping[int, float]) -> list[Box]:
    """Return the boxes of the lines of letters.

    Args:
        letters: the letters, in order.
        heights: heights of their pages, in points.
    """
    lines: list[list[Letter]] = []
    for letter in letters:
        if lines and letter.follows(lines[-1][-1]):
            lines[-1].append(letter)
        else:
            lines.append([letter])
    return [_box_of(line, heights[line[0].page]) for line in lines]


def _packed(color: Sequence[ctypes.c_uint]) -> int:
    return color[0].value << 16 | color[1].value << 8 | color[2].value


def _box_of(line: Sequence[Letter], height: float) -> Box:
    return Box(
        line[0].page,
        mm_of(min(letter.left for letter in line)),
        mm_of(height - max(letter.top for letter in line)),
        mm_of(max(letter.right for letter in line)),
        mm_of(height - min(letter.bottom for letter in line)),
    )
