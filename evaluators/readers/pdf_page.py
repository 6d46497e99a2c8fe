"""Decide which text operators of a PDF's page nobody sees.

Hidden are text without ink, with transparent ink or under a soft mask, tiny or narrow text, text off the
page or its form, text of a hidden layer, text in the colour of what lies below it, and text that is painted
over. An operator may paint several passages: letters and their outlines, or a form that is shown twice. A
place is that of a text's beginning. Only upright filled rectangles and opaque pictures are known to
cover; on any other shape or picture, and under shadings and annotations, text counts as visible.

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
    """What was painted.

    Attributes:
        order: when, counted in operators.
        box: where.
        colour: ``rrggbb``; empty when it is no plain rectangle of one colour.
        covers: whether nothing below it is seen.
        rings: it is painted inside these only.
    """

    order: int
    box: Box
    colour: str
    covers: bool
    rings: tuple[Ring, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """What a text operator paints.

    Attributes:
        key: of the operator.
        order: when it was painted.
        x: where it begins.
        y: likewise.
        size_pt: height of its letters on the page.
        colour: ``rrggbb``; empty when unknown.
        is_inked: whether anything is painted, in a layer that is shown.
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
    """What was painted on a page.

    Attributes:
        box: the visible part of the page.
        layers: of the file.
        passages: in the order in which they were painted.
        areas: likewise.
        order: how many operators were followed.
    """

    box: Box
    layers: Layers
    passages: list[Passage] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    order: int = 0

    def paint(
        self, box: Box, colour: str, rings: tuple[Ring, ...], *, covers: bool = False
    ) -> None:
        """Note that an area was painted; one of a known colour covers what is below it."""
        covers = covers or bool(colour)
        self.areas.append(Area(self.order, box, colour, covers=covers, rings=rings))

    def hidden(self) -> set[int]:
        """Return the keys of text operators that nobody sees."""
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
