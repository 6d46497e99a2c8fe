"""Geometry, colours and the graphics state of a PDF's page.

Source: ISO 32000-1, 8.3 (coordinates), 8.4 (graphics state), 8.6 (colours).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evaluators.readers.visibility import is_faint

Matrix = tuple[float, float, float, float, float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""
Ring = tuple[Box, ...]
"""Boxes of a path; a point is inside if an odd number of them contain it."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
EVERYWHERE: Box = (-1e9, -1e9, 1e9, 1e9)
UNKNOWN = ""
"""Marker of an unknown colour."""


Mix = Callable[[Sequence[float]], str]
"""Function that converts components of a colour space to ``rrggbb``, or `UNKNOWN`."""


def colour_of(numbers: Sequence[float]) -> str:
    """Return a colour as ``rrggbb``; empty for an invalid number of components."""
    match len(numbers):
        case 1:
            parts = [numbers[0]] * 3
        case 3:
            parts = list(numbers)
        case 4:
            parts = [(1 - ink) * (1 - numbers[3]) for ink in numbers[:3]]
        case _:
            return UNKNOWN
    return "".join(f"{round(255 * min(max(part, 0), 1)):02x}" for part in parts)


@dataclass(frozen=True, slots=True)
class Paint:
    """Paint for filling or stroking.

    Attributes:
        colour: ``rrggbb``; empty when unknown.
        mix: conversion function of its colour space.
        has_ink: whether paint in the colour space is visible, unlike in one without colorants.
        alpha: opacity within the group.
    """

    colour: str = "000000"
    mix: Mix = colour_of
    has_ink: bool = True
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class GraphicsState:
    """State that ``q`` saves and ``Q`` restores.

    Attributes:
        fill: paint of areas and letters.
        stroke: paint of lines and outlines of letters.
        is_plain: whether paint replaces what is below, in blend mode *Normal*.
        blends_well: whether paint is visible in the blend mode wherever it would be in *Normal*.
        is_masked: whether a soft mask applies within the group.
        outer_opacity: opacity of the group in all enclosing groups; 0 if one is invisible.
        is_plain_around: whether all of these groups are painted in blend mode *Normal*.
        stretch: relative width of letters.
        clip: clipping box; nothing is painted outside.
        rings: clipping paths; nothing is painted at points that an even number of a path's boxes
            contain.
    """

    matrix: Matrix = IDENTITY
    fill: Paint = Paint()
    stroke: Paint = Paint()
    line_width: float = 1.0
    outer_opacity: float = 1.0
    is_plain_around: bool = True
    is_plain: bool = True
    blends_well: bool = True
    is_masked: bool = False
    stretch: float = 1.0
    font_size: float = 0.0
    leading: float = 0.0
    mode: int = 0
    clip: Box = EVERYWHERE
    rings: tuple[Ring, ...] = ()

    def covers(self, paint: Paint) -> bool:
        """Return whether paint hides what is below."""
        is_plain = self.is_plain and self.is_plain_around and paint.has_ink
        return is_plain and not self.is_masked and paint.alpha * self.outer_opacity >= 1

    def is_seen(self, paint: Paint) -> bool:
        """Return whether paint is visible at all."""
        return paint.has_ink and self._is_clear(paint.alpha)

    def in_group(self) -> GraphicsState:
        """Return the initial state of a transparency group, to which the surrounding state applies as a whole.

        Source: ISO 32000-1, 11.6.6.
        """
        alpha = self.fill.alpha
        return replace(
            self,
            outer_opacity=alpha * self.outer_opacity if self._is_clear(alpha) else 0.0,
            is_plain_around=self.is_plain and self.is_plain_around,
            fill=replace(self.fill, alpha=1.0),
            stroke=replace(self.stroke, alpha=1.0),
            is_plain=True,
            blends_well=True,
            is_masked=False,
        )

    def _is_clear(self, alpha: float) -> bool:
        return self.blends_well and not self.is_masked and not is_faint(alpha * self.outer_opacity)


def matrix_of(numbers: Sequence[float]) -> Matrix:
    """Return a matrix of six numbers.

    Raises:
        ValueError: there are not exactly six numbers.
    """
    a, b, c, d, e, f = numbers
    return a, b, c, d, e, f


def times(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies the first and then the second matrix."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (
        a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k,
        e * h + f * j + m,
    )  # fmt: skip


def bounding_box(corners: Sequence[tuple[float, float]], matrix: Matrix) -> Box:
    """Return the bounding box of points transformed by a matrix."""
    a, b, c, d, e, f = matrix
    xs = [a * x + c * y + e for x, y in corners]
    ys = [b * x + d * y + f for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def union(boxes: Sequence[Box]) -> Box:
    """Return the bounding box of boxes."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def cut(box: Box, clip: Box) -> Box:
    """Return the intersection of two boxes, which is empty if they are disjoint."""
    return max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3])


def holds(box: Box, x: float, y: float) -> bool:
    """Return whether a point is in a box."""
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def is_inside(rings: Sequence[Ring], x: float, y: float) -> bool:
    """Return whether a point is inside all of the given paths."""
    return all(sum(holds(box, x, y) for box in ring) % 2 for ring in rings)
