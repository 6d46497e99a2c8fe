"""Read the format of a cell of an .xlsx file: its fill, by value, palette or theme, and whether it is bold."""

from __future__ import annotations

import colorsys
import re
from functools import lru_cache
from typing import Any

_THEMED = 12
"""Names of a theme's colours."""
_FULL = 255
_COLOUR = re.compile(r"[0-9A-Fa-f]{6}")


def fill_of(cell: Any) -> str:  # noqa: ANN401 - a foreign class
    """Return the fill colour of a cell, ``rrggbb`` in lower case; empty if it has none or it is unknown."""
    is_solid = cell.fill is not None and cell.fill.fill_type == "solid"
    return (_colour_of(cell) if is_solid else "")[-6:].lower()


def _colour_of(cell: Any) -> str:  # noqa: ANN401
    from openpyxl.styles.colors import COLOR_INDEX  # noqa: PLC0415 - only in the reader's process

    colour = cell.fill.fgColor
    if colour.type == "theme":
        themed = _colours_of(cell.parent.parent.loaded_theme)
        return _tinted("".join(themed[colour.theme : colour.theme + 1]), colour.tint)
    if colour.type == "indexed":
        return "".join(COLOR_INDEX[colour.indexed : colour.indexed + 1])
    return str(colour.rgb)


def is_bold(cell: Any) -> bool:  # noqa: ANN401 - a foreign class
    """Return whether a cell's complete text is bold; passages with their own font do not use the cell's."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock  # noqa: PLC0415

    passages = cell.value if isinstance(cell.value, CellRichText) else ()
    fonts = [
        passage.font if isinstance(passage, TextBlock) else cell.font
        for passage in passages
        if str(passage).strip()
    ]
    return all(bool(font.b) for font in fonts or (cell.font,))


@lru_cache(maxsize=1)
def _colours_of(theme: bytes | None) -> tuple[str, ...]:
    """Return the colours of a theme, or their defaults, in the order of cells' colour numbers.

    Source: ECMA-376, 20.1.6.2: the order is dark, light, dark, light; cells number each light one
        first.
    """
    from openpyxl.xml.functions import fromstring  # noqa: PLC0415

    if not theme:
        return ()
    scheme = fromstring(theme).find(".//{*}clrScheme")
    colours = [entry[0] for entry in scheme if len(entry)] if scheme is not None else []
    hex_colours = [colour.get("lastClr") or str(colour.get("val")) for colour in colours]
    if len(hex_colours) != _THEMED:
        return ()
    dark, light, other_dark, other_light, *accents = hex_colours
    return (light, dark, other_light, other_dark, *accents)


def _tinted(colour: str, tint: float) -> str:
    """Return a darker (-1 to 0) or lighter (0 to 1) colour; empty if it is not a colour.

    Source: ECMA-376, 18.8.19: the tint changes the luminance.
    """
    if not _COLOUR.fullmatch(colour):
        return ""
    red, green, blue = (part / _FULL for part in bytes.fromhex(colour))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 - abs(tint)) + max(tint, 0)
    changed = colorsys.hls_to_rgb(hue, light, saturation)
    return bytes(round(part * _FULL) for part in changed).hex()
