"""Decide which text operators of a PDF's page are invisible.

Text counts as hidden if it is without ink, with transparent ink or under a soft mask, tiny or
narrow, off the page or its form, in a hidden layer, in the colour of its background, or painted
over. An operator may paint several passages: letters and their outlines, or a form that is shown
twice. The position of a text is that of its beginning. Only upright filled rectangles and opaque
pictures count as covering; on any other shape or picture, and under shadings and annotations, text
counts as visible.

Source: ISO 32000-1, 8.5 (paths), 8.11 (optional content), 9.3 (text).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluators.readers.pdf_graphics import UNKNOWN, holds, is_inside
from evaluators.readers.visibility import PAPER, is_visible

if TYPE_CHECKING:
    from evaluators.readers.pdf_graphics import Box, Ring
    from evaluators.readers.pdf_layers import Layers


@dataclass(frozen=True, slots=True)
class Area:
    """A painted area.

    Attributes:
        order: time of painting, counted in operators.
        box: bounding box.
        colour: ``rrggbb``; empty if it is not a plain rectangle of one colour.
        covers: whether it hides everything below.
        rings: clipping paths.
    """

    order: int
    box: Box
    colour: str
    covers: bool
    rings: tuple[Ring, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage painted by a text operator.

    Attributes:
        key: key of the operator.
        order: time of painting, counted in operators.
        x: position of its beginning.
        y: likewise.
        size_pt: height of its letters on the page.
        colour: ``rrggbb``; empty if unknown.
        is_inked: whether anything is painted, in a visible layer.
    """

    key: int
    order: int
    x: float
    y: float
    size_pt: float
    colour: str
    is_inked: bool


@dataclass
class Page:
    """Contents painted on a page.

    Attributes:
        box: the visible part of the page.
        layers: layers of the file.
        passages: passages in painting order.
        areas: likewise.
        order: number of interpreted operators.
    """

    box: Box
    layers: Layers
    passages: list[Passage] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    order: int = 0

    def paint(
        self, box: Box, colour: str, rings: tuple[Ring, ...], *, covers: bool = False
    ) -> None:
        """Record a painted area; an area of a known colour covers what is below it."""
        covers = covers or bool(colour)
        self.areas.append(Area(self.order, box, colour, covers=covers, rings=rings))

    def hidden(self) -> set[int]:
        """Return the keys of invisible text operators."""
        seen = {passage.key for passage in self.passages if self._is_seen(passage)}
        return {passage.key for passage in self.passages} - seen

    def _is_seen(self, passage: Passage) -> bool:
        x, y = passage.x, passage.y + passage.size_pt / 4
        if not passage.is_inked or not holds(self.box, x, y):
            return False
        around = [
            area for area in self.areas if holds(area.box, x, y) and is_inside(area.rings, x, y)
        ]
        if any(area.covers and area.order > passage.order for area in around):
            return False
        below = [area for area in around if area.order < passage.order]
        ground = below[-1].colour if below else PAPER
        colour = passage.colour if ground else UNKNOWN
        return is_visible(passage.size_pt, colour, ground)
