"""Colours and marks of text as they are drawn, which shapes upon the text, or colours of its lines, may change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluators.rendering.views.common import Reading

_NEAR = 24
_LEAST_SHARE = 0.65
"""Least part of the way from the background to a colour: edges of thin letters do not reach it."""


def has_color(line: Reading, color: str) -> bool:
    """Return whether the letters of a line can have a colour ``#rrggbb``; so if they were not measured."""
    if line.color is None or line.background is None:
        return True
    drawn, behind, wanted = map(_channels, (line.color, line.background, color))
    ways = [after - before for before, after in zip(behind, wanted, strict=True)]
    length = sum(way * way for way in ways)
    along = sum(
        way * (seen - before) for way, seen, before in zip(ways, drawn, behind, strict=True)
    )
    share = min(max(along / length if length else 1.0, 0.0), 1.0)
    reached = [before + share * way for before, way in zip(behind, ways, strict=True)]
    return share >= _LEAST_SHARE and _are_near(drawn, reached)


def has_background(line: Reading, color: str) -> bool:
    """Return whether there is a colour behind a line; so if it was not measured."""
    return line.background is None or _are_near(_channels(line.background), _channels(color))


def has_marks(lines: Iterable[Reading], look: str) -> bool:
    """Return whether lines are underlined or struck through, if that is the look; other looks are not drawn as marks."""
    if look == "underline":
        return all(line.color is None or line.is_underlined for line in lines)
    if look in {"strike", "strikethrough"}:
        return all(line.color is None or line.is_struck for line in lines)
    return True


def has_label(lines: Iterable[Reading]) -> bool:
    """Return whether a number or bullet is drawn before one of the lines; so if they were not measured."""
    return any([line.has_label for line in lines] or [True])


def _channels(color: str) -> list[int]:
    return list(bytes.fromhex(color.removeprefix("#")))


def _are_near(one: Iterable[float], other: Iterable[float]) -> bool:
    return all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))
