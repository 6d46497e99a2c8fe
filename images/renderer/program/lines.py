"""Lines of a text on its page: whether each letter is drawn, and what is around them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import ImageChops, ImageStat
from PIL.Image import Resampling

from images.renderer.program.pages import CONTRAST, DPI, Box, levels_of, mean_in, pixels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.Image import Image

MIN_LETTER = 30
"""Least mean change of a letter, of 255 where its ink is: less is white, covered or lost in other text."""
_NEEDED = [math.ceil(level * MIN_LETTER / 255) for level in range(256)]
"""Least change of a pixel by its ink, with which a letter of such pixels changes enough."""
MIN_INK = 20
"""Mean level of ink in the box of a letter of which the ink is unknown."""
MIN_LETTER_MM = 0.55
"""Least height of a letter or digit: that of the small letters of a 4 pt font."""
LABEL_MM = 25.0
"""How far before a line its number or bullet may be."""
LABEL_GAP_MM = 0.2
"""How far it ends at least before the line."""
CLEAN = 24
"""Levels by which what is around a text may differ, once the text is removed."""


@dataclass(frozen=True)
class Line:
    """A line of a text on its page.

    Attributes:
        occurrence: number of the text's occurrence that it belongs to.
        box: its place.
        letters: the places of its letters.
        text: what its letters shall be; spaces may be missing.
        is_tiny: whether one of its letters or digits is too small to read.
        frame: lower edge, baseline and upper edge of its fonts, in points from the bottom of the page;
            None if it is not level.
        has_symbols: whether a letter is drawn in a font of symbols.
        within: what may be pictured around it; None for all of the page.
        context: the text that it is a part of, if that is in no paragraph of the view.
        is_mixed: whether letters of another text stand between those of its occurrence.
    """

    occurrence: int
    box: Box
    letters: tuple[Box, ...]
    text: str
    is_tiny: bool
    frame: tuple[float, float, float] | None
    has_symbols: bool
    within: Box | None = None
    context: str = ""
    is_mixed: bool = False


def look_at_lines(
    lines: Sequence[Line],
    ink_of: Callable[[int], Image | None] | None,
    pages: tuple[Sequence[Image], Sequence[Image]],
    levels: dict[int, Image],
) -> list[dict[str, Any]]:
    """Return the rows of the lines of a text: whether its occurrence is drawn in part, and what is around it.

    Args:
        lines: the lines.
        ink_of: returns how much of each pixel of a page the text covers; None if that is unknown.
        pages: pages with the text, and without it.
        levels: their differences by page, as far as they are known; others are added.
    """
    before, after = pages
    partial = {line.occurrence for line in lines if line.is_tiny or line.is_mixed}
    for line in lines:
        page = line.box.page
        if page not in levels:
            levels[page] = levels_of(before[page], after[page])
        ink = ink_of(page) if ink_of else None
        letters = line.letters if ink is None else _doubtful(line, levels[page], ink)
        if not all(_is_drawn(letter, levels[page], ink) for letter in letters):
            partial.add(line.occurrence)
    return [
        {
            "line": line,
            "is_partial": line.occurrence in partial,
            "has_label": not is_clean(before[line.box.page], _before(line.box), CONTRAST),
            "is_clean": not line.has_symbols and is_clean(after[line.box.page], line.box),
        }
        for line in lines
    ]


def _doubtful(line: Line, levels: Image, ink: Image) -> Sequence[Box]:
    """Return the letters of a line that must be looked at: none of those with ink if all ink changes the picture."""
    place = pixels_of(line.box)
    own, seen = ink.crop(place), levels.crop(place)
    if 0 in own.size:
        return line.letters
    # Black on white changes by as much as it has ink, which is decided faster.
    is_lacking = ImageChops.subtract(own, seen).getbbox() is not None
    if is_lacking and ImageChops.subtract(own.point(_NEEDED), seen).getbbox():
        return line.letters
    strip = own.resize((own.width, 1), Resampling.BOX).tobytes()
    return [letter for letter in line.letters if not any(strip[_columns(letter, place[0])])]


def _columns(letter: Box, start: int) -> slice:
    """Return the columns of pixels that lie in a letter as a whole, from a column on."""
    left, right = (side / 25.4 * DPI - start for side in (letter.left, letter.right))
    return slice(max(math.ceil(left), 0), max(math.floor(right), 0))


def _is_drawn(letter: Box, levels: Image, ink: Image | None) -> bool:
    covered = mean_in(ink, letter) if ink is not None else 0
    return mean_in(levels, letter) * 255 >= MIN_LETTER * (covered or MIN_INK)


def _before(box: Box) -> Box:
    """Return the place of what may stand before a line, such as its number."""
    right = box.left - LABEL_GAP_MM
    return Box(box.page, max(box.left - LABEL_MM, 0), box.top, right, box.bottom)


def is_clean(page: Image, box: Box, least: int = CLEAN) -> bool:
    """Return whether a place, such as that of a removed text and what touches it, has a single colour."""
    around = page.crop(pixels_of(box))
    return 0 in around.size or all(
        high - low <= least for low, high in ImageStat.Stat(around).extrema
    )
