"""View of a presentation."""

from __future__ import annotations

from typing import Literal

from evaluators.rendering.views.common import Placed, Shown, ViewModel
from evaluators.rendering.views.text import ParagraphBase


class SlideParagraph(ParagraphBase):
    """A paragraph of a shape.

    Attributes:
        level: its level in the outline, from 0.
        list: ``bullet``, ``number``, or empty if it is in no list.
    """

    level: int
    list: str


class Shape(Placed):
    """A shape on a slide.

    Attributes:
        number: its number on the slide, from the back; items ask by it whether it is seen.
        name: its name.
        type: LibreOffice's name of its type, such as ``TitleTextShape``.
        rotation_deg: rotation, counter-clockwise.
        fill: ``#rrggbb``; None if it has none, or not a single colour.
        is_visible: whether it is shown on the screen.
        is_printable: whether it is shown in print.
        is_empty_placeholder: whether it is a placeholder without content, which is not shown.
        description: its alternative text or title.
        paragraphs: its text; of a table, that of its cells by rows.
        shapes: shapes of a group.
    """

    number: int
    name: str
    type: str
    rotation_deg: float
    fill: str | None
    is_visible: bool
    is_printable: bool
    is_empty_placeholder: bool
    description: str
    paragraphs: tuple[SlideParagraph, ...]
    shapes: tuple[Shape, ...]


class Background(ViewModel):
    """A background: the kind of its fill, and its colour if the fill is ``solid``."""

    fill: str
    color: str | None


class Slide(ViewModel):
    """A slide.

    Attributes:
        name: its name.
        is_shown: whether it is in the slide show; what is on a hidden slide is not seen.
        layout: LibreOffice's number of its layout.
        master: name of its master slide.
        background: its background, or that of its master; None if there is none.
        has_own_background: whether it differs from its master's.
        notes: its notes.
        transition: LibreOffice's number of the transition's type; 0 is none.
        transition_subtype: number of its variant.
        transition_s: duration of the transition.
        advances_after_s: seconds after which the next slide follows; None if it waits.
        shapes: its shapes from the back to the front.
        has_animation: whether it, or its master, has a picture of several frames, or a text that moves; nothing on it is seen.
    """

    name: str
    is_shown: bool
    layout: int
    master: str
    background: Background | None
    has_own_background: bool
    notes: str
    transition: int
    transition_subtype: int
    transition_s: float
    advances_after_s: float | None
    shapes: tuple[Shape, ...]
    has_animation: bool = False


class SlidesView(ViewModel):
    """A presentation.

    Attributes:
        version: version of the view.
        kind: its kind.
        width_mm: width of the slides.
        height_mm: height of the slides.
        slides: its slides in order.
        brings_fonts: whether it brings fonts of its own, whose letters may have any weight, slant and size.
        shown: whether each item of the request is seen; page numbers leave out hidden slides.
    """

    version: int
    kind: Literal["slides"]
    width_mm: float
    height_mm: float
    slides: tuple[Slide, ...]
    brings_fonts: bool = False
    shown: tuple[Shown, ...]
