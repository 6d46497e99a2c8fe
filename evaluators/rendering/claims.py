"""Whether a text that was read in a picture can be the text that a document claims to show there."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LATIN = "LATIN "
_KEPT = frozenset(".,-+%")
_SAME = str.maketrans(
    {"|": "l", "[": "l", "]": "l", "\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-", ";": ",", ":": ".",
     "\u00e6": "ae", "\u0153": "oe", "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u0131": "i", "\u00f0": "d"}
)  # fmt: skip
_ALIKE = ("0oqd", "1lijt|", "5s", "2z", "8b", "6gb", "9gq", "7t", "4a", ".,", "3e")
"""Letters and digits that look alike; two digits never do."""
_PAIRS = frozenset((a, b) for group in _ALIKE for a in group for b in group)
_THIN = frozenset("lij")
_ERRORS = 0.12
"""Least share of letters that may be read wrongly; none of up to four."""
_MAX_RUN = 2
"""Letters in a row that may be missing or added within a text."""
_GAP = 1.0
_MARK_GAP = 0.4
_DIGIT_GAP = 1.6


@dataclass(frozen=True)
class _Step:
    """A step from the claimed to the read text; one of them is empty if a letter is missing or added."""

    claimed: str
    read: str


def is_readable(text: str) -> bool:
    """Return whether all letters of a text are Latin, and it has letters or digits at all."""
    letters = [letter for letter in text if letter.isalnum()]
    return any(map(str.isalnum, _folded(text))) and all(
        letter.isascii() or unicodedata.name(letter, "").startswith(_LATIN) for letter in letters
    )


def can_be(
    read: str,
    claimed: str,
    before: Iterable[str] = (),
    after: Iterable[str] = (),
    *,
    is_alone: bool = True,
) -> bool:
    """Return whether what was read can be the claimed text.

    Digits must be the same, apart from letters that look like them; of letters, few may differ; nothing
    may be added or missing at the ends.

    Args:
        read: the text that was read.
        claimed: the text that should be there.
        before: what may be directly in front of it, or the end of it.
        after: what may be directly behind it, or the start of it.
        is_alone: whether nothing else is drawn in its place; otherwise no letter may be added.
    """
    found = _folded(read)
    starts = {"", *(_folded(text) for text in before)}
    ends = {"", *(_folded(text) for text in after)}
    own = _folded(claimed)
    return any(
        _agree(own, found, start, end, is_alone=is_alone) for start in starts for end in ends
    )


def _agree(own: str, found: str, start: str, end: str, *, is_alone: bool) -> bool:
    steps = list(_align(start + own + end, found))
    # What belongs to the neighbours may be outside of the picture, or cut; but not be other digits.
    steps, near = _split(steps, len(start), len(own), len(end))
    if any(step.read.isdigit() and step.claimed != step.read for step in near):
        return False
    if not is_alone and any(_is_added(step) for step in steps):
        return False
    letters = sum(map(str.isalpha, own))
    wrong = [step for step in steps if step.claimed != step.read and not _are_alike(step)]
    if any(_is_weighty(steps, number) for number in range(len(steps))):
        return False
    errors = sum(1 for step in wrong if (step.claimed + step.read).isalpha())
    return errors <= _ERRORS * letters and _longest_run(steps) <= _MAX_RUN and not _is_open(steps)


def _split(steps: list[_Step], start: int, size: int, end: int) -> tuple[list[_Step], list[_Step]]:
    """Return the steps of a text, and those of its neighbours.

    Args:
        steps: the steps of all.
        start: number of letters before the text.
        size: number of its letters.
        end: number of letters behind it.
    """
    own: list[_Step] = []
    near: list[_Step] = []
    place = 0
    for step in steps:
        is_before = place < start or (place == start > 0 and not step.claimed)
        is_behind = place > start + size or (
            place == start + size and (end > 0 or bool(step.claimed))
        )
        (near if is_before or is_behind else own).append(step)
        place += len(step.claimed)
    return own, near


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_SAME)).translate(_SAME)
    return "".join(
        letter for letter in plain if letter.isascii() and (letter.isalnum() or letter in _KEPT)
    )


def _is_added(step: _Step) -> bool:
    """Return whether a letter was read that is not claimed, apart from those that borders look like."""
    return not step.claimed and step.read.isalpha() and step.read not in _THIN


def _are_alike(step: _Step) -> bool:
    if step.claimed.isdigit() and step.read.isdigit():
        return step.claimed == step.read
    return (step.claimed, step.read) in _PAIRS


def _is_weighty(steps: list[_Step], number: int) -> bool:
    """Return whether a step changes a number."""
    step = steps[number]
    if step.claimed == step.read or _are_alike(step):
        return False
    if step.claimed.isdigit() or step.read.isdigit():
        return True
    sides = [
        steps[near] if 0 <= near < len(steps) else _Step("", "")
        for near in (number - 1, number + 1)
    ]
    is_before, is_behind = (side.claimed.isdigit() or side.read.isdigit() for side in sides)
    mark = step.claimed or step.read
    if mark in ".,":
        return is_before and is_behind
    return mark in "-+%" and (is_before or is_behind)


def _is_open(steps: list[_Step]) -> bool:
    """Return whether two letters are missing or added at an end."""
    for ends in (steps[:2], steps[-2:]):
        letters = [step for step in ends if (step.claimed + step.read).isalpha()]
        if len(letters) == 2 and all(not step.claimed or not step.read for step in letters):  # noqa: PLR2004
            return True
    return False


def _longest_run(steps: list[_Step]) -> int:
    longest = run = 0
    for step in steps:
        is_gap = (step.claimed + step.read).isalpha() and not (step.claimed and step.read)
        run = run + 1 if is_gap else 0
        longest = max(longest, run)
    return longest


def _weight(letter: str) -> float:
    return _MARK_GAP if letter in _KEPT else _DIGIT_GAP if letter.isdigit() else _GAP


def _align(claimed: str, read: str) -> Iterator[_Step]:
    """Yield the cheapest steps that turn one text into the other."""
    rows = [[0.0]]
    for letter in read:
        rows[0].append(rows[0][-1] + _weight(letter))
    for one in claimed:
        above = rows[-1]
        row = [above[0] + _weight(one)]
        for place, other in enumerate(read):
            row.append(
                min(
                    above[place] + _cost(one, other),
                    above[place + 1] + _weight(one),
                    row[place] + _weight(other),
                )
            )
        rows.append(row)
    steps = []
    down, across = len(claimed), len(read)
    while down or across:
        here = rows[down][across]
        if (
            down
            and across
            and here == rows[down - 1][across - 1] + _cost(claimed[down - 1], read[across - 1])
        ):
            down, across = down - 1, across - 1
            steps.append(_Step(claimed[down], read[across]))
        elif down and here == rows[down - 1][across] + _weight(claimed[down - 1]):
            down -= 1
            steps.append(_Step(claimed[down], ""))
        else:
            across -= 1
            steps.append(_Step("", read[across]))
    return reversed(steps)


def _cost(one: str, other: str) -> float:
    if one == other:
        return 0.0
    return 0.2 if _are_alike(_Step(one, other)) else 1.5
