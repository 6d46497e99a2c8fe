"""Show a region of a screen in full resolution."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image

from controller.observation.results import ActionResult
from foundation.errors import InvalidActionError

if TYPE_CHECKING:
    from provisioning.protocols import Machine

MAX_ENLARGEMENT = 8
"""By how much small regions are enlarged at most, so that single pixels can be seen."""
_LONGEST_PX = 1024


def magnify(machine: Machine, start: tuple[int, int], end: tuple[int, int]) -> ActionResult:
    """Return a region of the screen in full resolution, small ones enlarged by a whole factor.

    Args:
        machine: the machine.
        start: one corner, px.
        end: the opposite corner, px.

    Raises:
        InvalidActionError: the region is empty.
    """
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(start, end, strict=True))
    if left == right or top == bottom:
        raise InvalidActionError("The region is empty: its corners must differ in x and y.")
    image = Image.fromarray(machine.screen.capture()[top : bottom + 1, left : right + 1])
    width, height = image.size
    factor = max(1, min(MAX_ENLARGEMENT, _LONGEST_PX // max(width, height)))
    if factor > 1:
        image = image.resize((width * factor, height * factor), Image.Resampling.NEAREST)
    out = io.BytesIO()
    image.save(out, "PNG")
    text = f"The screen from ({left}, {top}) to ({right}, {bottom}), enlarged {factor} times."
    return ActionResult(text, out.getvalue())
