"""The letters of a PDF's page: where they are drawn, and in which colour."""

from __future__ import annotations

import ctypes
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pypdfium2 import raw

from images.renderer.program.pages import Box, mm_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_MAX_NAME = 200
_SYMBOLS = ("symbol", "dingbat", "d050000l")
"""Parts of names of fonts of symbols."""
_REACH = 0.25
"""How far the middle of a mark may be above or below a line, as a part of its height."""
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
    handle = content.raw  # which spares its wrapper's conversion in each call
    color = red, green, blue, _ = tuple(ctypes.c_uint() for _ in range(4))
    sides = left, right, bottom, top = tuple(ctypes.c_double() for _ in range(4))
    letters = []
    for index in range(content.count_chars()) if indices is None else indices:
        character = chr(raw.FPDFText_GetUnicode(handle, index))
        if character.isspace() or not character.isprintable():
            continue
        raw.FPDFText_GetFillColor(handle, index, *color)
        packed = red.value << 16 | green.value << 8 | blue.value
        if colors is not None and packed not in colors:
            continue
        raw.FPDFText_GetCharBox(handle, index, *sides)
        edges = left.value, bottom.value, right.value, top.value
        letters.append(Letter(page, index, character, packed, *edges))
    return letters


def color_of(drawn: Any) -> int:  # noqa: ANN401 - pypdfium2 has no types
    """Return the colour of a text object, as 0xRRGGBB."""
    color = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFPageObj_GetFillColor(drawn, *color)
    return _packed(color)


_DESCENT = 0.3
"""Least height of a line below its baseline, as a part of that above."""


def lines_of(letters: Sequence[Letter]) -> list[list[Letter]]:
    """Return letters, which are in order, by lines."""
    lines: list[list[Letter]] = []
    bottom = top = 0.0
    for letter in letters:
        last = lines[-1][-1] if lines else None
        if last and _is_behind(letter, last) and _is_level(letter, bottom, top):
            lines[-1].append(letter)
            bottom, top = min(bottom, letter.bottom), max(top, letter.top)
        else:
            lines.append([letter])
            bottom, top = letter.bottom, letter.top
    return lines


def _is_behind(letter: Letter, last: Letter) -> bool:
    is_from_right = unicodedata.bidirectional(letter.character) in _FROM_RIGHT
    return letter.page == last.page and (letter.left >= last.left or is_from_right)


def _is_level(letter: Letter, bottom: float, top: float) -> bool:
    """Return whether the middle of a letter is between the edges of a line, or the other way round."""
    reach = _REACH * max(letter.top - letter.bottom, top - bottom)
    middle, other = (letter.bottom + letter.top) / 2, (bottom + top) / 2
    return (
        bottom - reach <= middle <= top + reach
        or letter.bottom - reach <= other <= letter.top + reach
    )


def without_label(text: str, letters: Sequence[Letter]) -> Sequence[Letter]:
    """Return the letters of a text without those of its list label, which has its colour."""
    words = "".join(text.split())
    start = "".join(letter.character for letter in letters).find(words)
    return letters[start : start + len(words)] if start >= 0 else letters


def text_of(line: Sequence[Letter]) -> str:
    """Return the letters of a line, with a space where some were left out."""
    gaps = (b.index - a.index > 1 for a, b in pairwise(line))
    spaced = zip(line[1:], gaps, strict=True)
    return line[0].character + "".join(" " * gap + letter.character for letter, gap in spaced)


_NEXT = 3.0
"""How far the next line of a text is at most below a line, in heights."""
_TOUCH = 0.35
"""Distance in heights at which a letter belongs to the end of a line."""
_SAME_PT = 2.0


def are_apart(lines: Sequence[Sequence[Letter]]) -> bool:
    """Return whether a line of a text is not the one below the line before it."""
    for line, following in pairwise(lines):
        _, bottom, right, top = _edges(line)
        left, low, _, high = _edges(following)
        drop = (bottom + top - low - high) / 2
        if not 0 < drop <= _NEXT * max(top - bottom, high - low) or left >= right:
            return True
    return False


def letters_between(lines: Sequence[Sequence[Letter]], others: Sequence[Letter]) -> str:
    """Return letters and digits that stand between those of a text, or at the end of a line that goes on.

    Args:
        lines: the lines of the text.
        others: the other letters of the page.
    """
    own = [letter for line in lines for letter in line]
    found = ""
    for number, line in enumerate(lines):
        left, bottom, right, top = _edges(line)
        reach = _TOUCH * (top - bottom)
        left -= reach if number else 0
        right += reach if number + 1 < len(lines) else 0
        inside = [
            letter
            for letter in others
            if letter.character.isalnum()
            and bottom < (letter.bottom + letter.top) / 2 < top
            and left < (letter.left + letter.right) / 2 < right
        ]
        # Bold letters may be drawn twice.
        found += "".join(
            letter.character
            for letter in inside
            if not any(
                one.character == letter.character and one.distance(letter) < _SAME_PT for one in own
            )
        )
    return found


def _edges(line: Sequence[Letter]) -> tuple[float, float, float, float]:
    return (
        min(letter.left for letter in line),
        min(letter.bottom for letter in line),
        max(letter.right for letter in line),
        max(letter.top for letter in line),
    )


def frame_of(content: Any, line: Sequence[Letter]) -> tuple[float, float, float] | None:  # noqa: ANN401
    """Return the lower edge, baseline and upper edge of a line for its fonts, in points; None if it is not level."""
    handle, sides, origin = content.raw, raw.FS_RECTF(), [ctypes.c_double() for _ in range(2)]
    bottom, top = min(row.bottom for row in line), max(row.top for row in line)
    height = top - bottom
    low, high = bottom, top
    for letter in line:
        if abs(raw.FPDFText_GetCharAngle(handle, letter.index)) > _LEVEL_RAD:
            return None
        raw.FPDFText_GetLooseCharBox(handle, letter.index, sides)
        low, high = min(low, sides.bottom), max(high, sides.top)
    raw.FPDFText_GetCharOrigin(handle, line[0].index, *origin)
    # A font may claim any place and height.
    baseline = min(max(origin[1].value, bottom - 2 * height), top - height / 2)
    high = min(high, top + height)
    return min(max(low, bottom - height), baseline - _DESCENT * (high - baseline)), baseline, high


def has_symbols(content: Any, line: Sequence[Letter]) -> bool:  # noqa: ANN401 - pypdfium2 has no types
    """Return whether a letter of a line is drawn in a font of symbols, which are no letters."""
    handle, name = content.raw, ctypes.create_string_buffer(_MAX_NAME)
    names = set()
    for letter in line:
        raw.FPDFText_GetFontInfo(handle, letter.index, name, _MAX_NAME, None)
        names.add(name.value)
    fonts = [one.decode(errors="replace").lower() for one in names]
    return any(mark in font for font in fonts for mark in _SYMBOLS)


def letter_box(letter: Letter, page_height: float) -> Box:
    """Return the box of a letter on its page, whose height is in points."""
    return Box(
        letter.page,
        mm_of(letter.left),
        mm_of(page_height - letter.top),
        mm_of(letter.right),
        mm_of(page_height - letter.bottom),
    )


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
