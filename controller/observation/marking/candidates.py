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


def covers(outer: Bounds, point: tuple[int, int]) -> bool:
    """Return whether a point is in a box."""
    return outer.left <= point[0] < outer.right and outer.top <= point[1] < outer.bottom


def share_inside(inner: Bounds, outer: Bounds) -> float:
    """Return the share of a box that is in another one, 0 to 1."""
    return area_px(overlap(inner, outer)) / max(1, area_px(inner))


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
        box = _free_part(candidate.box, [other.box for other in kept])
        if min(box.right - box.left, box.bottom - box.top) >= LEAST_SIDE_PX:
            kept.append(replace(candidate, box=box))
    return kept


def _is_same(one: Bounds, other: Bounds) -> bool:
    common = area_px(overlap(one, other))
    return common >= _SAME_RATIO * max(area_px(one), area_px(other))


def _free_part(box: Bounds, others: Sequence[Bounds]) -> Bounds:
    """Cut the parts of a box that others cover; each cut keeps the largest of the four sides."""
    for other in others:
        common = overlap(box, other)
        if area_px(common) == 0:
            continue
        box = max(
            (
                replace(box, right=common.left),
                replace(box, left=common.right),
                replace(box, bottom=common.top),
                replace(box, top=common.bottom),
            ),
            key=area_px,
        )
    return box


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
