"""Elements that may get a mark, and how overlapping ones are resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.observation.marks import Source

LEAST_SIDE_PX = 6
"""Smaller elements cannot be hit, and get no mark."""
_SAME_RATIO = 0.8


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element that may get a mark.

    Attributes:
        box: its position and size, px of the screen.
        role: as in `Mark`.
        name: as in `Mark`.
        source: as in `Mark`.
        states: as in `Mark`.
        is_control: whether a person can operate it.
    """

    box: Bounds
    role: str
    name: str
    source: Source
    states: frozenset[str] = frozenset()
    is_control: bool = True


def area_px(box: Bounds) -> int:
    """Return the area of a box; 0 if it is empty."""
    return max(0, box.right - box.left) * max(0, box.bottom - box.top)


def overlap(one: Bounds, other: Bounds) -> Bounds:
    """Return the common part of two boxes, which may be empty."""
    return Bounds(
        max(one.left, other.left),
        max(one.top, other.top),
        min(one.right, other.right),
        min(one.bottom, other.bottom),
    )


def share_inside(inner: Bounds, outer: Bounds) -> float:
    """Return the share of a box that is in another one, 0 to 1."""
    return area_px(overlap(inner, outer)) / max(1, area_px(inner))


def with_captions(found: Sequence[Candidate], icons: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates with icons added; an icon around a single text is one element with it.

    Args:
        found: candidates from other sources.
        icons: candidates from the detector of icons.
    """
    kept = list(found)
    for icon in icons:
        inside = [
            other
            for other in kept
            if other.source == "text" and share_inside(other.box, icon.box) > _SAME_RATIO
        ]
        if len(inside) == 1:
            kept.remove(inside[0])
            kept.append(replace(icon, name=inside[0].name))
        elif not inside:
            kept.append(icon)
    return kept


def without_overlaps(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates whose boxes do not overlap.

    A control around others keeps the largest part of its box that is free of them, such as a row of a
    list around its switch. Of two with nearly the same box, the first is kept.

    Args:
        candidates: the most important first.
    """
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda each: area_px(each.box)):
        if any(_is_same(candidate.box, other.box) for other in kept):
            continue
        box = free_part(candidate.box, [other.box for other in kept])
        if min(box.right - box.left, box.bottom - box.top) >= LEAST_SIDE_PX:
            kept.append(replace(candidate, box=box))
    return kept


def _is_same(one: Bounds, other: Bounds) -> bool:
    common = area_px(overlap(one, other))
    return common >= _SAME_RATIO * max(area_px(one), area_px(other))


def free_part(box: Bounds, others: Sequence[Bounds]) -> Bounds:
    """Return a large part of a box that others do not cover; empty if there is none.

    The others are cut off one by one or all together, whichever leaves more.

    Args:
        box: the box.
        others: boxes that may overlap it.
    """
    parts = [common for other in others if area_px(common := overlap(box, other))]
    if not parts:
        return box
    single = box
    for part in parts:
        single = _cut(single, part)
    together = Bounds(
        min(part.left for part in parts),
        min(part.top for part in parts),
        max(part.right for part in parts),
        max(part.bottom for part in parts),
    )
    return max(single, _cut(box, together), key=area_px)


def _cut(box: Bounds, other: Bounds) -> Bounds:
    """Return the largest of the four parts of a box beside another one."""
    common = overlap(box, other)
    if area_px(common) == 0:
        return box
    return max(
        (
            replace(box, right=common.left),
            replace(box, left=common.right),
            replace(box, bottom=common.top),
            replace(box, top=common.bottom),
        ),
        key=area_px,
    )


def in_reading_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates by rows from top to bottom, each row from left to right."""
    waiting = sorted(candidates, key=lambda each: (each.box.center[1], each.box.left))
    rows: list[list[Candidate]] = []
    for candidate in waiting:
        row = rows[-1] if rows else []
        # One row reaches to the lower edge of its first element.
        if row and candidate.box.center[1] < row[0].box.bottom:
            row.append(candidate)
        else:
            rows.append([candidate])
    return [each for row in rows for each in sorted(row, key=lambda one: one.box.left)]
