"""Convert components of a PDF's colour spaces to red, green and blue.

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
"""Type of a function: exponential interpolation."""
_FUNCTION = 3
"""Index of an ink's function in its colour space."""
_NEUTRAL = 5.0
"""Lab colours that differ by no more than this from grey count as grey."""
_INKS = frozenset({"/Separation", "/DeviceN"})


def array_of(space: Any) -> list[Any]:  # noqa: ANN401 - a name, an array, or a reference to one
    """Return a colour space's array with references resolved; empty for a name."""
    resolved = _resolved(space)
    return [_resolved(part) for part in resolved] if isinstance(resolved, list) else []


def mix_of(space: Sequence[Any]) -> Mix:
    """Return a function that converts components of a colour space to ``rrggbb``."""
    kind = space[0] if space else None
    if kind in _INKS:
        return _ink_mix(space)
    if kind == "/Lab":
        return _lab
    if kind == "/Indexed":
        return _indexed_mix(space)
    return colour_of


def first_colour(space: Sequence[Any], mix: Mix) -> str:
    """Return the initial colour of a colour space: full ink, else black or the first entry."""
    kind = space[0] if space else None
    if kind in _INKS:
        return mix([1.0])
    return mix([0.0]) if kind == "/Indexed" else "000000"


def has_ink(space: Sequence[Any]) -> bool:
    """Return whether a colour space paints anything, unlike one without colorants."""
    return list(space[:2]) != ["/Separation", "/None"]


def _resolved(entry: Any) -> Any:  # noqa: ANN401
    return entry.get_object() if hasattr(entry, "get_object") else entry


def _ink_mix(space: Sequence[Any]) -> Mix:
    """Return the function that mixes inks; inks without an exponential function darken."""
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
    """Return the colour of inks, determined by the strongest."""
    share = min(max(*tints, 0.0), 1.0) ** exponent
    return mix([start + share * (end - start) for start, end in zip(none, full, strict=False)])


def _lab(components: Sequence[float]) -> str:
    """Return the colour of a grey Lab value; other colours are unknown."""
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
