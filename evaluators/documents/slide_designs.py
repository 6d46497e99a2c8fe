"""Evaluators of slides' design: background, place of shapes, transition, visibility, size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.slide_texts import lines_of, slide_of
from evaluators.documents.slides import page_of
from evaluators.rendering.request import ObjectItem
from evaluators.rendering.views.slides import SlidesView

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.common import Shown
    from evaluators.rendering.views.slides import Shape

Number = Annotated[int, Field(ge=1)]
Length = Annotated[float, Field(ge=0)]
Transition = Literal[
    "none", "any", "bars", "checkers", "clock", "cover", "diagonal", "dissolve", "fade", "push",
    "random", "shape", "split", "venetian", "wedge", "wheel", "wipe", "zoom",
]  # fmt: skip
_TRANSITIONS = {
    "none": {0}, "bars": {38}, "checkers": {39}, "clock": {22}, "cover": {36}, "diagonal": {34},
    "dissolve": {40}, "fade": {37}, "push": {35}, "random": {42}, "shape": {3, 12, 17}, "split": {4},
    "venetian": {41}, "wedge": {25}, "wheel": {23}, "wipe": {1}, "zoom": {43},
}  # fmt: skip
"""Source: com.sun.star.animations.TransitionType, and Impress's presets."""
_MAX_SHAPES = 10
_PX_PER_MM = 96 / 25.4
_LEAST_SEEN = 0.5
_MIN_SHARE = 0.1
_NEAR = 8
"""Largest difference of a colour channel, 0 to 255, of the same colour."""


@evaluator(on="documents")
def slide_background_coloured(
    view: MachineView, path: MachinePath, slide: Number, colour: str
) -> bool:
    """Return whether a slide has a background of one colour, and it is seen.

    The background may be that of its master slide. At least a tenth of the slide must show its
    colour.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.

    Example:
        ``{on: desktop, check: slide_background_coloured,
        with: {path: ~/a.odp, slide: 1, colour: ffff00}}``
    """
    viewed = view.document(path, pages=True)
    deck = viewed.view if viewed is not None and isinstance(viewed.view, SlidesView) else None
    content = slide_of(deck, slide)
    if viewed is None or deck is None or content is None or content.background is None:
        return False
    wanted = colour.lower().lstrip("#")
    page = page_of(deck, slide, viewed.pages)
    if page is None or content.background.color != f"#{wanted}":
        return False
    difference = np.abs(page.pixels.astype(np.int16) - tuple(bytes.fromhex(wanted))).max(axis=2)
    return bool((difference <= _NEAR).mean() >= _MIN_SHARE)


@evaluator(on="documents")
def slide_shape_at(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    shape: str,
    *,
    left_mm: float | None = None,
    top_mm: float | None = None,
    tolerance_mm: Length = 2.0,
) -> bool:
    """Return whether a shape of a slide is seen, and is at the given position.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        shape: its name, or a line of its text.
        left_mm: distance of its left edge from the left of the slide; by default any.
        top_mm: distance of its top edge from the top; by default any.
        tolerance_mm: largest difference of each.

    Example:
        ``{on: desktop, check: slide_shape_at,
        with: {path: ~/a.odp, slide: 1, shape: Logo, left_mm: 10, top_mm: 10}}``
    """
    sides = {"left_mm": left_mm, "top_mm": top_mm}
    return _has_shape(view, path, slide, shape, lambda it: _is_near(it, sides, tolerance_mm))


@evaluator(on="documents")
def slide_shape_sized(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    shape: str,
    *,
    width_mm: Length | None = None,
    height_mm: Length | None = None,
    tolerance_mm: Length = 2.0,
) -> bool:
    """Return whether a shape of a slide is seen, and has the given size.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        shape: its name, or a line of its text.
        width_mm: its width; by default any.
        height_mm: its height; by default any.
        tolerance_mm: largest difference of each.

    Example:
        ``{on: desktop, check: slide_shape_sized,
        with: {path: ~/a.odp, slide: 1, shape: Logo, width_mm: 40}}``
    """
    sides = {"width_mm": width_mm, "height_mm": height_mm}
    return _has_shape(view, path, slide, shape, lambda it: _is_near(it, sides, tolerance_mm))


@evaluator(on="documents")
def slide_transition_is(
    view: MachineView, path: MachinePath, slide: Number, transition: Transition
) -> bool:
    """Return whether a slide appears with the given transition.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        transition: its name in Impress, without variants; ``cover`` also uncovers, ``push`` also
            combs; ``any`` is every one but none.

    Example:
        ``{on: desktop, check: slide_transition_is,
        with: {path: ~/a.odp, slide: 1, transition: dissolve}}``
    """
    content = slide_of(view.presentation(path), slide)
    if content is None:
        return False
    if transition == "any":
        return content.transition != 0
    return content.transition in _TRANSITIONS[transition]


@evaluator(on="documents")
def slide_is_hidden(view: MachineView, path: MachinePath, slide: Number) -> bool:
    """Return whether a slide exists and is left out of the slide show.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.

    Example:
        ``{on: desktop, check: slide_is_hidden, with: {path: ~/a.odp, slide: 4}}``
    """
    content = slide_of(view.presentation(path), slide)
    return content is not None and not content.is_shown


@evaluator(on="documents")
def slides_have_size(
    view: MachineView,
    path: MachinePath,
    width_mm: Length,
    height_mm: Length,
    tolerance_mm: Length = 1.0,
) -> bool:
    """Return whether the slides of a presentation have the given size.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        width_mm: their width.
        height_mm: their height.
        tolerance_mm: largest difference of each.

    Example:
        ``{on: desktop, check: slides_have_size,
        with: {path: ~/a.odp, width_mm: 280, height_mm: 157.5}}``
    """
    deck = view.presentation(path)
    return (
        deck is not None
        and abs(deck.width_mm - width_mm) <= tolerance_mm
        and abs(deck.height_mm - height_mm) <= tolerance_mm
    )


@evaluator(on="documents")
def slides_have_orientation(
    view: MachineView, path: MachinePath, orientation: Literal["portrait", "landscape"]
) -> bool:
    """Return whether the slides of a presentation are higher than wide (portrait), or wider than high.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        orientation: the orientation; square slides have none.

    Example:
        ``{on: desktop, check: slides_have_orientation,
        with: {path: ~/a.odp, orientation: portrait}}``
    """
    deck = view.presentation(path)
    if deck is None or deck.width_mm == deck.height_mm:
        return False
    return (deck.height_mm > deck.width_mm) == (orientation == "portrait")


def _has_shape(
    view: MachineView, path: str, slide: int, name: str, is_so: Callable[[Shape], bool]
) -> bool:
    """Return whether a slide has a shape of that name or text that is seen and fulfils a condition."""
    content = slide_of(view.presentation(path), slide)
    shapes = [
        shape
        for shape in (content.shapes if content is not None else ())
        if _is_called(shape, name) and is_so(shape)
    ]
    items = [ObjectItem(number=shape.number, page=slide - 1) for shape in shapes]
    deck = view.presentation(path, shown=items[:_MAX_SHAPES]) if items else None
    return deck is not None and any(
        row.is_shown and _fills(shape, row)
        for shape, row in zip(shapes[:_MAX_SHAPES], deck.shown, strict=True)
    )


def _fills(shape: Shape, row: Shown) -> bool:
    """Return whether what is seen of a shape without text is at least half as wide and as high as the shape."""
    if lines_of(shape) or shape.rotation_deg or shape.shapes:
        return True
    sides = (row.width_px, shape.width_mm), (row.height_px, shape.height_mm)
    return all(seen_px / _PX_PER_MM >= _LEAST_SEEN * side_mm for seen_px, side_mm in sides)


def _is_called(shape: Shape, name: str) -> bool:
    return bool(name.strip()) and (shape.name == name or name.strip() in lines_of(shape))


def _is_near(shape: Shape, sides: dict[str, float | None], tolerance_mm: float) -> bool:
    return all(
        abs(getattr(shape, side) - wanted) <= tolerance_mm
        for side, wanted in sides.items()
        if wanted is not None
    )
