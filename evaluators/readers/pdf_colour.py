"""Turn components of a PDF's colour spaces into red, green and blue.

Source: ISO 32000-1, 7.10.3 (functions), 8.6 (colour spaces).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.readers.pdf_graphics import UNKNOWN, colour_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.readers.pdf_graphics import Mix

_EXPONENTIAL = 2
"""Type of a function."""
_FUNCTION = 3
"""Place of an ink's function in its colour space."""
_NEUTRAL = 5.0
"""Colours of Lab that differ by no more than this from grey look grey."""
_INKS = frozenset({"/Separation", "/DeviceN"})


def array_of(space: Any) -> list[Any]:  # noqa: ANN401 - a name, an array, or a reference to one
    """Return a colour space's array, its references resolved; empty for a name."""
    resolved = _resolved(space)
    return [_resolved(part) for part in resolved] if isinstance(resolved, list) else []


def mix_of(space: Sequence[Any]) -> Mix:
    """Return what turns components of a colour space into ``rrggbb``."""
    kind = space[0] if space else None
    if kind in _INKS:
        return _ink_mix(space)
    if kind == "/Lab":
        return _lab
    if kind == "/Indexed":
        return _indexed_mix(space)
    return colour_of


def first_colour(space: Sequence[Any], mix: Mix) -> str:
    """Return the colour that a colour space has at first: all of an ink, else black or the first entry."""
    kind = space[0] if space else None
    if kind in _INKS:
        return mix([1.0])
    return mix([0.0]) if kind == "/Indexed" else "000000"


def has_ink(space: Sequence[Any]) -> bool:
    """Return whether anything is painted in a colour space; not in that of no colorant."""
    return list(space[:2]) != ["/Separation", "/None"]


def _resolved(entry: Any) -> Any:  # noqa: ANN401
    return entry.get_object() if hasattr(entry, "get_object") else entry


def _ink_mix(space: Sequence[Any]) -> Mix:
    """Return how inks mix; those with another function than an exponential one darken."""
    function = space[_FUNCTION] if len(space) > _FUNCTION else {}
    if not hasattr(function, "get") or function.get("/FunctionType") != _EXPONENTIAL:
        return partial(_tinted, (1.0,), (0.0,), 1.0, colour_of)
    none, full = (
        tuple(map(float, function.get(key, [end]))) for key, end in (("/C0", 0), ("/C1", 1))
    )
    return partial(_tinted, none, full, float(function["/N"]), mix_of(array_of(space[2])))


def _tinted(
    none: Sequence[float],
    full: Sequence[float],
    exponent: float,
    mix: Mix,
    tints: Sequence[float],
) -> str:
    """Return the colour of inks, of which the strongest counts."""
    share = min(max(*tints, 0.0), 1.0) ** exponent
    return mix([start + share * (end - start) for start, end in zip(none, full, strict=False)])


def _lab(components: Sequence[float]) -> str:
    """Return the colour of a lightness where it is grey; other colours are not known."""
    lightness, *chroma = components
    is_grey = all(abs(value) <= _NEUTRAL for value in chroma)
    return colour_of([lightness / 100]) if is_grey else UNKNOWN


def _indexed_mix(space: Sequence[Any]) -> Mix:
    base, highest, table = array_of(space[1]), int(space[2]), space[3]
    data = table.get_data() if hasattr(table, "get_data") else table.original_bytes
    width = len(data) // (highest + 1)
    mix = mix_of(base)

    def look_up(components: Sequence[float]) -> str:
        first = int(components[0]) * width
        return mix([byte / 255 for byte in data[first : first + width]])

    return look_up
