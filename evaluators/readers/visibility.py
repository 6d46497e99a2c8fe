"""Decide whether text of a document can be seen at all."""

from __future__ import annotations

import re

SMALLEST_PT = 2.0
"""Text below this size cannot be read."""
SMALLEST_MM = 0.25
"""A picture whose side is below this, a pixel of 96 an inch, cannot be seen."""
NEAREST = 24
"""Colours that differ by no more than this in each of red, green and blue look alike."""
PAPER = "ffffff"
_COLOUR = re.compile(r"[0-9a-f]{6}")


def is_faint(opacity: float) -> bool:
    """Return whether what is this opaque, 0 to 1, cannot be seen."""
    return opacity * 255 <= NEAREST


def is_visible(size_pt: float | None, colour: str, background: str) -> bool:
    """Return whether text can be read on its background.

    Args:
        size_pt: None when nothing sets it.
        colour: ``rrggbb`` in lower case; anything else is the default colour, which contrasts.
        background: likewise; anything else is white paper.
    """
    if size_pt is not None and size_pt < SMALLEST_PT:
        return False
    if not _COLOUR.fullmatch(colour):
        return True
    paper = background if _COLOUR.fullmatch(background) else PAPER
    pairs = zip(bytes.fromhex(colour), bytes.fromhex(paper), strict=True)
    return any(abs(ink - ground) > NEAREST for ink, ground in pairs)
