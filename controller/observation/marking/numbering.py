"""Numbers of marks that stay with their elements from one observation to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.observation.marking.candidates import (
    Candidate,
    area_px,
    in_reading_order,
    overlap,
)
from controller.observation.marks import Mark

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEAR_RATIO = 0.5


@dataclass(slots=True)
class Numbering:
    """Numbers the elements of one screen, from 1.

    An element that was there keeps its number: one with the same role and name at about the same place,
    or the only one with that role and name. A number is not used again for another element.

    Attributes:
        is_stable: whether elements keep their numbers; otherwise each observation counts from 1.
    """

    is_stable: bool = True
    _last: list[Mark] = field(default_factory=list)
    _next: int = 1

    def number(self, candidates: Sequence[Candidate]) -> tuple[Mark, ...]:
        """Return the marks of candidates, ordered by number."""
        ordered = in_reading_order(candidates)
        if not self.is_stable:
            return tuple(_mark(number, row) for number, row in enumerate(ordered, 1))
        known = _same_elements(self._last, ordered)
        marks = []
        for place, candidate in enumerate(ordered):
            number = known.get(place)
            if number is None:
                number, self._next = self._next, self._next + 1
            marks.append(_mark(number, candidate))
        self._last = sorted(marks, key=lambda mark: mark.id)
        return tuple(self._last)


def _mark(number: int, candidate: Candidate) -> Mark:
    return Mark(
        number,
        candidate.box,
        candidate.role,
        candidate.name,
        candidate.source,
        candidate.states,
    )


def _same_elements(marks: Sequence[Mark], candidates: Sequence[Candidate]) -> dict[int, int]:
    """Return the number of the earlier mark of each candidate, by the candidate's index."""
    waiting: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        waiting.setdefault((mark.role, mark.name), []).append(mark)
    counts: dict[tuple[str, str], int] = {}
    for candidate in candidates:
        key = (candidate.role, candidate.name)
        counts[key] = counts.get(key, 0) + 1
    known: dict[int, int] = {}
    unplaced: list[int] = []
    for place, candidate in enumerate(candidates):
        same = waiting.get((candidate.role, candidate.name), [])
        best = max(same, key=lambda mark: _likeness(mark, candidate), default=None)
        if best is not None and _likeness(best, candidate) >= _NEAR_RATIO:
            same.remove(best)
            known[place] = best.id
        else:
            unplaced.append(place)
    for place in unplaced:
        key = (candidates[place].role, candidates[place].name)
        # Moved, for example because its list was scrolled.
        if key[1] and counts[key] == 1 and len(waiting.get(key, [])) == 1:
            known[place] = waiting[key].pop().id
    return known


def _likeness(mark: Mark, candidate: Candidate) -> float:
    common = area_px(overlap(mark.box_px, candidate.box))
    return common / max(1, area_px(mark.box_px) + area_px(candidate.box) - common)
