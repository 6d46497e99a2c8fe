"""Positions and visibility of shapes on an OpenDocument slide.

Source: OpenDocument 1.3 part 3, draw:color-mode, draw:display, draw:transform, presentation:placeholder;
LibreOffice's ``xmloff/source/draw/xexptran.cxx`` for the order and direction of transformations.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.odf_look import LENGTH, attribute, length_mm, share_of
from evaluators.readers.pdf_graphics import IDENTITY, bounding_box, matrix_of, times

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from evaluators.readers.pdf_graphics import Matrix

_STEP = re.compile(r"(\w+)\s*\(([^()]*)\)")
_APART = re.compile(r"[\s,]+")
_STRONGEST = 0.75
"""Maximum change of colours with which a picture still counts as the same."""
_GAMMA = 4.0
"""Likewise, for the exponents of its gamma."""
_UNSHOWN = frozenset({"none", "printer"})
_CHANGES = ("luminance", "contrast", "red", "green", "blue")


def hidden_layers(layers: Iterable[Any]) -> frozenset[str]:
    """Return the names of layers that are not displayed."""
    return frozenset(
        attribute(layer, "name") for layer in layers if attribute(layer, "display") in _UNSHOWN
    )


def is_displayed(node: Any, hidden: Collection[str]) -> bool:  # noqa: ANN401 - odfpy's element
    """Return whether a shape and all of its groups are displayed.

    Args:
        node: the shape.
        hidden: names of hidden layers.
    """
    while node is not None:
        if attribute(node, "display") in _UNSHOWN or attribute(node, "layer") in hidden:
            return False
        node = node.parentNode
    return True


def is_prompt(node: Any) -> bool:  # noqa: ANN401
    """Return whether a shape's text is a prompt that is visible only while editing the slide."""
    return attribute(node, "placeholder") == "true"


def keeps_colours(styles: Sequence[Any]) -> bool:
    """Return whether a style and its base styles, nearest first, do not alter pictures."""

    def look(name: str) -> str:
        values = (attribute(child, name) for style in styles for child in style.childNodes)
        return next(filter(None, values), "")

    gamma = share_of(look("gamma")) or 1.0
    changes = [share_of(look(name)) or 0.0 for name in _CHANGES]
    is_even = 1 / _GAMMA <= gamma <= _GAMMA and all(abs(change) < _STRONGEST for change in changes)
    return is_even and look("colormode") not in {"mono", "watermark"}


def box_of(node: Any) -> tuple[float, float, float, float]:  # noqa: ANN401
    """Return the left and top edge, width and height, in mm, of a shape's axis-aligned bounding box."""
    x, y, width, height = (length_mm(attribute(node, key)) for key in ("x", "y", "width", "height"))
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    left, top, right, bottom = bounding_box(corners, _transform(attribute(node, "transform")))
    return left, top, right - left, bottom - top


def _transform(text: str) -> Matrix:
    """Return a shape's combined transformation, without skewing."""
    matrix = IDENTITY
    for name, values in _STEP.findall(text):
        numbers = [_number(value) for value in _APART.split(values.strip())]
        matrix = times(matrix, _step(name, numbers))
    return matrix


def _step(name: str, numbers: list[float]) -> Matrix:
    first, second = (*numbers, 0.0)[:2]
    if name == "translate":
        return 1.0, 0.0, 0.0, 1.0, first, second
    if name == "rotate":  # counterclockwise
        across, down = math.cos(first), math.sin(first)
        return across, -down, down, across, 0.0, 0.0
    if name == "scale":
        return first, 0.0, 0.0, second or first, 0.0, 0.0
    return matrix_of(numbers) if name == "matrix" else IDENTITY


def _number(text: str) -> float:
    return length_mm(text) if LENGTH.fullmatch(text) else float(text)
