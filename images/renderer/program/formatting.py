"""Formatting of characters and colours, common to all kinds of documents of LibreOffice."""

from __future__ import annotations

from typing import Any

_AUTOMATIC = -1
_BOLD = 110.0
"""Source: com.sun.star.awt.FontWeight: SEMIBOLD."""
_UNDERLINE = {0: "", 1: "single", 2: "double", 3: "dotted"}
"""Source: com.sun.star.awt.FontUnderline."""


def color(value: int) -> str | None:
    """Return a colour as ``#rrggbb``; None for automatic or transparent."""
    return None if value == _AUTOMATIC else f"#{value & 0xFFFFFF:06x}"


def character_format(thing: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    """Return the formatting of the characters of a cell, paragraph or run."""
    return {
        "font": thing.CharFontName,
        "size_pt": round(float(thing.CharHeight), 2),
        "weight": float(thing.CharWeight),
        "is_bold": float(thing.CharWeight) >= _BOLD,
        "is_italic": thing.CharPosture.value in {"ITALIC", "OBLIQUE"},
        "underline": _UNDERLINE.get(thing.CharUnderline, "other"),
        "is_struck": thing.CharStrikeout not in {0, 3},
        "color": color(thing.CharColor),
    }
