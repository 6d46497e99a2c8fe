"""Decide whether text of a document is visible."""

from __future__ import annotations

import re

SMALLEST_PT = 2.0
"""Minimum size of legible text."""
SMALLEST_MM = 0.25
"""Minimum side of a visible picture: one pixel at 96 per inch."""
NEAREST = 24
"""Colours that differ by no more than this in each of red, green and blue are indistinguishable."""
PAPER = "ffffff"
_COLOUR = re.compile(r"[0-9a-f]{6}")


def is_faint(opacity: float) -> bool:
    """Return whether something with an opacity, 0 to 1, is invisible."""
    return opacity * 255 <= NEAREST


def is_visible(size_pt: float | None, colour: str, background: str) -> bool:
    """Return whether text is legible on its background.

    Args:
        size_pt: font size; None if it is not set.
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
