"""Decide whether the style of a picture's frame in OpenDocument shows the complete picture."""

from __future__ import annotations

import re
from typing import Any

from evaluators.readers.odf_look import attribute, length_mm, share_of
from evaluators.readers.visibility import is_faint

_PARTS = re.compile(r"[\s,]+")
_BRIGHTEST = 0.75
"""Maximum change of brightness with which a picture still counts as the same."""
_CROPPED_MM = 1.0


def is_shown(style: Any, *, whole: bool) -> bool:  # noqa: ANN401 - odfpy's element
    """Return whether a picture in a frame with a style is visible.

    Args:
        style: style of the frame, if any.
        whole: whether a picture must not be cropped by more than 1 mm on any side.
    """
    children = style.childNodes if style is not None else ()
    return all(_is_seen(child) and not (whole and _is_cropped(child)) for child in children)


def _is_seen(child: Any) -> bool:  # noqa: ANN401
    names = ("imageopacity", "luminance", "contrast")
    opacity, *changes = (share_of(attribute(child, name)) for name in names)
    if opacity is not None and is_faint(opacity):
        return False
    return all(abs(change) < _BRIGHTEST for change in changes if change is not None)


def _is_cropped(child: Any) -> bool:  # noqa: ANN401
    inner = attribute(child, "clip").strip().removeprefix("rect(").removesuffix(")")
    return any(length_mm(edge) > _CROPPED_MM for edge in _PARTS.split(inner) if edge)
