"""What is drawn in a cell: its text, as far as it is not cut off, and the colour of most of its area."""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pypdfium2
from pypdfium2 import raw

from images.renderer.program.pages import mm_of, pixels_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.pages import Box

_MAX_CHARACTERS = 50_000
_EVERYWHERE = (float("-inf"), float("-inf"), float("inf"), float("inf"))
_Bounds = tuple[float, float, float, float]
"""Left, bottom, right and top in points."""


@dataclass(frozen=True)
class _Character:
    text: str
    x_mm: float
    y_mm: float


def read_boxes(path: Path, boxes: Sequence[tuple[int, Box]]) -> list[str]:
    """Return the text that a PDF shows in each box; the boxes come with the numbers of their pages.

    The text of a neighbour that is cut off at the box is not in it.
    """
    with pypdfium2.PdfDocument(path) as pdf:
        drawn = {number: _characters(pdf[number]) for number in {number for number, _ in boxes}}
    return [
        "".join(
            character.text
            for character in drawn[number]
            if box.left <= character.x_mm <= box.right and box.top <= character.y_mm <= box.bottom
        )
        for number, box in boxes
    ]


def _characters(page: Any) -> list[_Character]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the characters of a page by the places of their middles, without those cut off."""
    content, height = page.get_textpage(), page.get_height()
    clips: dict[int, _Bounds] = {}
    characters = []
    for index in range(min(content.count_chars(), _MAX_CHARACTERS)):
        drawn = raw.FPDFText_GetTextObject(content, index)
        if not drawn:
            continue
        address = ctypes.cast(drawn, ctypes.c_void_p).value or 0
        if address not in clips:
            clips[address] = _clip_of(drawn)
        left, bottom, right, top = content.get_charbox(index)
        x, y = (left + right) / 2, (bottom + top) / 2
        clip = clips[address]
        if clip[0] <= x <= clip[2] and clip[1] <= y <= clip[3]:
            text = chr(raw.FPDFText_GetUnicode(content, index))
            characters.append(_Character(text, mm_of(x), mm_of(height - y)))
    return characters


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


def background_of(page: Image, box: Box) -> str | None:
    """Return the most frequent colour in a box, as ``#rrggbb``; None if it has no area."""
    part = page.crop(pixels_of(box))
    if 0 in part.size:
        return None
    pixels = part.tobytes()
    color, _ = Counter(pixels[at : at + 3] for at in range(0, len(pixels), 3)).most_common(1)[0]
    return f"#{color.hex()}"
