"""The letters of a PDF's page: where they are drawn, and in which colour."""

from __future__ import annotations

import ctypes
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pypdfium2 import raw

from images.renderer.program.pages import Box, mm_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_SAME_LINE = 0.5
"""Least common share of the height of letters in one line."""
_FROM_RIGHT = frozenset({"R", "AL"})
_LEVEL_RAD = 0.02


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
        is_behind = self.left >= other.left or _is_from_right(self.character)
        return self.page == other.page and is_behind and is_level

    def distance(self, other: Letter) -> float:
        """Return how far its lower left corner is from that of another letter, in points."""
        return max(abs(self.left - other.left), abs(self.bottom - other.bottom))


def read_letters(
    content: Any,  # noqa: ANN401 - pypdfium2 has no types
    page: int,
    colors: Container[int] | None = None,
    indices: range | None = None,
) -> list[Letter]:
    """Return the letters of a page, without spaces.

    Args:
        content: text of the page.
        page: number of the page.
        colors: the colours of those wanted; None for all.
        indices: their numbers on the page; None for all.
    """
    color = [ctypes.c_uint() for _ in range(4)]
    sides = [ctypes.c_double() for _ in range(4)]
    letters = []
    for index in range(content.count_chars()) if indices is None else indices:
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


def read_colors(content: Any) -> set[int]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the colours of the letters of a page, as 0xRRGGBB.

    Args:
        content: text of the page.
    """
    color = [ctypes.c_uint() for _ in range(4)]
    found = set()
    for index in range(content.count_chars()):
        raw.FPDFText_GetFillColor(content, index, *color)
        found.add(_packed(color))
    return found


def lines_of(letters: Sequence[Letter]) -> list[list[Letter]]:
    """Return letters, which are in order, by lines."""
    lines: list[list[Letter]] = []
    for letter in letters:
        if lines and letter.follows(lines[-1][-1]):
            lines[-1].append(letter)
        else:
            lines.append([letter])
    return lines


def text_of(line: Sequence[Letter]) -> str:
    """Return the letters of a line, with a space where some were left out."""
    gaps = (b.index - a.index > 1 for a, b in zip(line, line[1:], strict=False))
    spaced = zip(line[1:], gaps, strict=True)
    return line[0].character + "".join(" " * gap + letter.character for letter, gap in spaced)


def frame_of(content: Any, line: Sequence[Letter]) -> tuple[float, float, float] | None:  # noqa: ANN401
    """Return the lower edge, baseline and upper edge of a line for its fonts, in points; None if it is not level."""
    sides, origin = raw.FS_RECTF(), [ctypes.c_double() for _ in range(2)]
    bottom, top = min(row.bottom for row in line), max(row.top for row in line)
    height = top - bottom
    low, high = bottom, top
    for letter in line:
        if abs(raw.FPDFText_GetCharAngle(content, letter.index)) > _LEVEL_RAD:
            return None
        raw.FPDFText_GetLooseCharBox(content, letter.index, sides)
        low, high = min(low, sides.bottom), max(high, sides.top)
    raw.FPDFText_GetCharOrigin(content, line[0].index, *origin)
    # A font may claim any height.
    return max(low, bottom - height), origin[1].value, min(high, top + height)


def box_of(page: int, letters: Sequence[Letter], page_height: float, margin_mm: float = 0) -> Box:
    """Return the box of letters on a page, whose height is in points."""
    return Box(
        page,
        mm_of(min(letter.left for letter in letters)) - margin_mm,
        mm_of(page_height - max(letter.top for letter in letters)) - margin_mm,
        mm_of(max(letter.right for letter in letters)) + margin_mm,
        mm_of(page_height - min(letter.bottom for letter in letters)) + margin_mm,
    )


def _packed(color: Sequence[ctypes.c_uint]) -> int:
    return color[0].value << 16 | color[1].value << 8 | color[2].value


def _is_from_right(character: str) -> bool:
    return unicodedata.bidirectional(character) in _FROM_RIGHT
