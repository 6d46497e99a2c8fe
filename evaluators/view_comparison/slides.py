"""Compare the views of two presentations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.view_comparison.difference import (
    Difference,
    back_color,
    compare,
    compare_colors,
    compare_each,
    compare_fields,
    compare_numbers,
    shortened,
)
from evaluators.view_comparison.paragraphs import compare_formatting, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.rendering.views.slides import Shape, Slide, SlideParagraph, SlidesView
    from evaluators.view_comparison.difference import Aspect, Comparison, Tolerances

_PLACE = ("left_mm", "top_mm", "width_mm", "height_mm")
_ROTATION_DEG = 0.5
_FAR_MM = 1e6


def compare_text(
    wanted: SlidesView, found: SlidesView, _tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the texts of the shapes of each slide, in any order of the shapes, and its notes."""

    def compare_pair(where: str, one: Slide, other: Slide) -> Iterator[Difference]:
        texts = (
            sorted(
                text
                for shape in visible_shapes(slide.shapes)
                if (text := written(shape.paragraphs))
            )
            for slide in (one, other)
        )
        yield from compare(where, *texts)
        yield from compare(f"{where}, notes", one.notes.strip(), other.notes.strip())

    yield from compare_each("slide", wanted.slides, found.slides, compare_pair)


def compare_formats(
    wanted: SlidesView, found: SlidesView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare backgrounds, fills, and the formatting of texts."""

    def compare_slide(where: str, one: Slide, other: Slide) -> Iterator[Difference]:
        colors = [slide.background.color if slide.background else None for slide in (one, other)]
        yield from compare_colors(
            f"{where}, background", back_color(colors[0]), back_color(colors[1]), tolerances.color
        )
        if colors == [None, None]:
            fills = [slide.background and slide.background.fill for slide in (one, other)]
            yield from compare(f"{where}, background", *fills)
        for place, shape, partner in _matched(where, one, other):
            if partner is None:
                yield Difference(place, shortened(written(shape.paragraphs)), "nothing")
            else:
                yield from _compare_shape(place, shape, partner, tolerances)

    yield from compare_each("slide", wanted.slides, found.slides, compare_slide)


def _compare_shape(
    where: str, wanted: Shape, found: Shape, tolerances: Tolerances
) -> Iterator[Difference]:
    yield from compare_colors(f"{where}, fill", wanted.fill, found.fill, tolerances.color)

    def compare_pair(
        place: str, one: SlideParagraph, other: SlideParagraph
    ) -> Iterator[Difference]:
        yield from compare_formatting(place, one, other, tolerances)

    yield from compare_each(f"{where}, paragraph", _filled(wanted), _filled(found), compare_pair)


def _filled(shape: Shape) -> list[SlideParagraph]:
    return [paragraph for paragraph in shape.paragraphs if paragraph.text.strip()]


def compare_structure(
    wanted: SlidesView, found: SlidesView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare size, hidden slides and transitions, and the types, places and outline levels of shapes."""

    def compare_slide(where: str, one: Slide, other: Slide) -> Iterator[Difference]:
        names = ("is_shown", "transition", "transition_subtype", "advances_after_s")
        yield from compare_fields(where, one, other, names)
        counts = (len(visible_shapes(slide.shapes)) for slide in (one, other))
        yield from compare(f"{where}, number of shapes", *counts)
        for place, shape, partner in _matched(where, one, other):
            if partner is None:
                yield Difference(place, shape.type, "nothing")
                continue
            yield from compare_fields(place, shape, partner, ("type",))
            yield from compare_fields(place, shape, partner, _PLACE, tolerances.position_mm)
            angles = shape.rotation_deg, partner.rotation_deg
            yield from compare_numbers(f"{place}, rotation_deg", *angles, _ROTATION_DEG)
            lists = (
                [(part.level, part.list) for part in _filled(shown)] for shown in (shape, partner)
            )
            yield from compare(f"{place}, levels and lists", *lists)

    yield from compare_fields(
        "slides", wanted, found, ("width_mm", "height_mm"), tolerances.position_mm
    )
    yield from compare_each("slide", wanted.slides, found.slides, compare_slide)


def visible_shapes(shapes: Sequence[Shape]) -> list[Shape]:
    """Return the shapes that can be seen, with those of groups in place of the groups."""
    return [
        part
        for shape in shapes
        if shape.is_visible and not shape.is_empty_placeholder
        for part in (visible_shapes(shape.shapes) if shape.shapes else [shape])
    ]


def _matched(where: str, wanted: Slide, found: Slide) -> Iterator[tuple[str, Shape, Shape | None]]:
    """Iterate over the reference's shapes with the most similar shape of the document, each used once."""
    left = visible_shapes(found.shapes)
    for number, shape in enumerate(visible_shapes(wanted.shapes), 1):
        partner = min(left, key=lambda other: _unlikeness(shape, other), default=None)
        if partner is not None:
            left.remove(partner)
        yield f"{where}, shape {number}", shape, partner


def _unlikeness(one: Shape, other: Shape) -> float:
    distance: float = sum(abs(getattr(one, name) - getattr(other, name)) for name in _PLACE)
    other_text = written(one.paragraphs) != written(other.paragraphs)
    return distance + _FAR_MM * (2 * other_text + (one.type != other.type))


ASPECTS: dict[Aspect, Comparison] = {
    "text": compare_text,
    "formatting": compare_formats,
    "structure": compare_structure,
}
"""How each aspect is compared."""
