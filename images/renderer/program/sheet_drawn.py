"""What is drawn in a cell: its letters, as far as they are not cut off, and the colour of most of its area."""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pypdfium2
from pypdfium2 import raw

from images.renderer.program.pages import CONTRAST, DPI, Box, levels_of, mm_of, pixels_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

_MAX_CHARACTERS = 50_000
_EVERYWHERE = (float("-inf"), float("-inf"), float("inf"), float("inf"))
_BOLD = ("bold", "black", "heavy")
_SLANTED = ("italic", "oblique")
_STROKED = 2
"""Text rendering mode of fonts without a bold face, drawn with thick edges. Source: ISO 32000-1, 9.3.6."""
_NAME_BYTES = 200
_MM_PER_INCH = 25.4
_MIN_HEIGHT_MM = 0.55
"""Least height of a letter or digit that can be read."""
_MIN_INK = 0.08
"""Least share of the pixels of a letter that its removal changes."""
_Bounds = tuple[float, float, float, float]
"""Left, bottom, right and top in points."""


@dataclass(frozen=True)
class Character:
    """A character that is drawn and not cut off.

    Attributes:
        text: the character.
        box: its place; its page is that of the print.
        look: its formatting, as in views.
        index: its number on the page.
    """

    text: str
    box: Box
    look: tuple[tuple[str, Any], ...]
    index: int = 0

    @property
    def spot(self) -> tuple[str, int, int]:
        """The character with its place in tenths of a millimetre."""
        return self.text, round(self.box.left * 10), round(self.box.top * 10)

    def is_in(self, box: Box) -> bool:
        """Return whether its middle is in a box."""
        x, y = (self.box.left + self.box.right) / 2, (self.box.top + self.box.bottom) / 2
        return box.left <= x <= box.right and box.top <= y <= box.bottom


def read_characters(path: Path, boxes: Sequence[Sequence[Box]]) -> list[list[list[Character]]]:
    """Return the characters that a PDF shows in each box of each item.

    The text of a neighbour that is cut off at a box is not in it.
    """
    with pypdfium2.PdfDocument(path) as pdf:
        pages = {box.page for item in boxes for box in item}
        drawn = {page: _characters(pdf[page], page) for page in pages}
    return [
        [[letter for letter in drawn[box.page] if letter.is_in(box)] for box in item]
        for item in boxes
    ]


def is_letter_seen(before: Image, after: Image, letter: Character) -> bool:
    """Return whether removing the text of a letter changes the picture where the letter is drawn.

    Args:
        before: its page.
        after: its page without the text.
        letter: the letter.
    """
    is_letter = letter.text.isalnum()
    if is_letter and letter.box.bottom - letter.box.top < _MIN_HEIGHT_MM:
        return False
    levels = levels_of(*(page.crop(_inner(letter.box)) for page in (before, after))).histogram()
    seen = sum(levels[CONTRAST if is_letter else CONTRAST // 2 :])
    return seen > 0 and (not is_letter or seen >= _MIN_INK * sum(levels))


def _inner(box: Box) -> tuple[int, int, int, int]:
    """Return the pixels that lie in a box as a whole, at least one each way."""
    left, top, right, bottom = (
        side * DPI / _MM_PER_INCH for side in (box.left, box.top, box.right, box.bottom)
    )
    across, down = _pixels(left, right), _pixels(top, bottom)
    return across[0], down[0], across[1], down[1]


def _pixels(start: float, end: float) -> tuple[int, int]:
    first, last = math.ceil(start), math.floor(end)
    return (first, last) if first < last else (int((start + end) / 2), int((start + end) / 2) + 1)


def text_of(characters: Sequence[Character]) -> str:
    """Return the text of characters."""
    return "".join(character.text for character in characters)


def runs_of(characters: Sequence[Character]) -> list[dict[str, Any]]:
    """Return the parts of a drawn text with their formatting."""
    letters = [character for character in characters if not character.text.isspace()]
    return [
        {"text": text_of(list(part)), **dict(look)}
        for look, part in groupby(letters, key=lambda character: character.look)
    ]


def is_part_of(drawn: str, text: str) -> bool:
    """Return whether a drawn text has no more letters and digits than a text."""
    return _letters(drawn) <= _letters(text)


def _letters(text: str) -> Counter[str]:
    plain = unicodedata.normalize("NFKD", text)
    return Counter(character for character in plain if character.isalnum())


def _characters(page: Any, number: int) -> list[Character]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the characters of a page, without those whose middle is cut off."""
    content, height = page.get_textpage(), page.get_height()
    objects: dict[int, tuple[_Bounds, tuple[tuple[str, Any], ...]]] = {}
    characters = []
    for index in range(min(content.count_chars(), _MAX_CHARACTERS)):
        drawn = raw.FPDFText_GetTextObject(content, index)
        if not drawn:
            continue
        address = ctypes.cast(drawn, ctypes.c_void_p).value or 0
        if address not in objects:
            objects[address] = _clip_of(drawn), _look_of(content, index, drawn)
        clip, look = objects[address]
        left, bottom, right, top = content.get_charbox(index)
        x, y = (left + right) / 2, (bottom + top) / 2
        if clip[0] <= x <= clip[2] and clip[1] <= y <= clip[3]:
            sides = (mm_of(side) for side in (left, height - top, right, height - bottom))
            text = chr(raw.FPDFText_GetUnicode(content, index))
            characters.append(Character(text, Box(number, *sides), look, index))
    return characters


def _look_of(content: Any, index: int, drawn: Any) -> tuple[tuple[str, Any], ...]:  # noqa: ANN401
    """Return the formatting of a text object, by one of its characters."""
    buffer, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    raw.FPDFText_GetFontInfo(content, index, buffer, _NAME_BYTES, flags)
    font = buffer.value.decode(errors="replace")
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(content, index, matrix)
    color = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFText_GetFillColor(content, index, *color)
    is_stroked = raw.FPDFTextObj_GetTextRenderMode(drawn) == _STROKED
    is_slanted = matrix.b == 0 and matrix.c != 0
    return tuple(
        {
            "is_bold": is_stroked or any(name in font.lower() for name in _BOLD),
            "is_italic": is_slanted or any(name in font.lower() for name in _SLANTED),
            "size_pt": round(raw.FPDFText_GetFontSize(content, index) * abs(matrix.d or 1), 1),
            "color": "#" + "".join(f"{part.value:02x}" for part in color[:3]),
        }.items()
    )


def _clip_of(drawn: Any) -> _Bounds:  # noqa: ANN401 - pypdfium2 has no types
    """Return the rectangle that an object is cut to."""
    clip = raw.FPDFPageObj_GetClipPath(drawn)
    bounds = _EVERYWHERE
    for path in range(raw.FPDFClipPath_CountPaths(clip)):
        points = [
            _point_of(raw.FPDFClipPath_GetPathSegment(clip, path, segment))
            for segment in range(raw.FPDFClipPath_CountPathSegments(clip, path))
        ]
        if points:
            across, up = [x for x, _ in points], [y for _, y in points]
            bounds = (
                max(bounds[0], min(across)),
                max(bounds[1], min(up)),
                min(bounds[2], max(across)),
                min(bounds[3], max(up)),
            )
    return bounds


def _point_of(segment: Any) -> tuple[float, float]:  # noqa: ANN401 - pypdfium2 has no types
    x, y = ctypes.c_float(), ctypes.c_float()
    raw.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def gaps_of(box: Box, characters: Sequence[Character]) -> list[float] | None:
    """Return the distances of letters from left, top, right and bottom of their cell, in mm; None without letters."""
    boxes = [letter.box for letter in characters if not letter.text.isspace()]
    if not boxes:
        return None
    gaps = (
        min(one.left for one in boxes) - box.left,
        min(one.top for one in boxes) - box.top,
        box.right - max(one.right for one in boxes),
        box.bottom - max(one.bottom for one in boxes),
    )
    return [round(gap, 2) for gap in gaps]


def background_of(page: Image, box: Box, least_share: float = 0.0) -> str | None:
    """Return the most frequent colour in a box, as ``#rrggbb``; None if it has no area, or a smaller share of it."""
    part = page.crop(pixels_of(box))
    if 0 in part.size:
        return None
    pixels = part.tobytes()
    counts = Counter(pixels[at : at + 3] for at in range(0, len(pixels), 3))
    color, count = counts.most_common(1)[0]
    return f"#{color.hex()}" if count * 3 >= least_share * len(pixels) else None
