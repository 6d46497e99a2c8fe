"""Read which colour fills a cell of an .xlsx file: by value, by palette, or by theme."""

from __future__ import annotations

import colorsys
import re
from functools import lru_cache
from typing import Any

_THEMED = 12
"""Colours that a theme has."""
_FULL = 255
_COLOUR = re.compile(r"[0-9A-Fa-f]{6}")


def fill_of(cell: Any) -> str:  # noqa: ANN401 - a foreign class
    """Return the colour that fills a cell, ``rrggbb`` in lower case; empty where none does, or none is known."""
    from openpyxl.styles.colors import COLOR_INDEX  # noqa: PLC0415 - only in the reader's process

    if cell.fill is None or cell.fill.fill_type != "solid":
        return ""
    colour = cell.fill.fgColor
    found = ""
    if colour.type == "rgb":
        found = str(colour.rgb)
    elif colour.type == "indexed" and colour.indexed < len(COLOR_INDEX):
        found = str(COLOR_INDEX[colour.indexed])
    elif colour.type == "theme":
        themed = _colours_of(cell.parent.parent.loaded_theme)
        found = (
            _tinted(themed[colour.theme], colour.tint) if 0 <= colour.theme < len(themed) else ""
        )
    return found[-6:].lower()


@lru_cache(maxsize=1)
def _colours_of(theme: bytes | None) -> tuple[str, ...]:
    """Return the colours of a theme, or what stands in their places, in the order in which cells number them.

    Source: ECMA-376, 20.1.6.2 has them as dark, light, dark, light; cells count each light one first.
    """
    from openpyxl.xml.functions import fromstring  # noqa: PLC0415

    if not theme:
        return ()
    scheme = fromstring(theme).find(".//{*}clrScheme")
    colours = [each[0] for each in scheme if len(each)] if scheme is not None else []
    found = [colour.get("lastClr", colour.get("val", "")) for colour in colours]
    if len(found) != _THEMED:
        return ()
    dark, light, other_dark, other_light, *accents = found
    return (light, dark, other_light, other_dark, *accents)


def _tinted(colour: str, tint: float) -> str:
    """Return a colour made darker (-1 to 0) or lighter (0 to 1); nothing of what is no colour.

    Source: ECMA-376, 18.8.19: what is changed is the luminance.
    """
    if not _COLOUR.fullmatch(colour):
        return ""
    red, green, blue = (part / _FULL for part in bytes.fromhex(colour))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    changed = colorsys.hls_to_rgb(hue, light, saturation)
    return bytes(round(part * _FULL) for part in changed).hex()
