"""Colours, light and dark."""

from __future__ import annotations

from dataclasses import dataclass

Color = tuple[int, int, int]


def rgb(text: str) -> Color:
    """Parse a colour of six hex digits."""
    return int(text[0:2], 16), int(text[2:4], 16), int(text[4:6], 16)


@dataclass(frozen=True)
class Theme:
    """One set of colours.

    Attributes:
        is_dark: whether text is light on a dark background.
        background: colour of the screen.
        surface: colour of cards, dialogs and fields.
        ink: colour of text.
        ink_soft: colour of secondary text and icons.
        primary: accent colour.
        on_primary: colour of text on `primary`.
        tint: soft variant of the primary colour.
        on_tint: colour of text on `tint`.
        line: colour of dividers and outlines.
        danger: colour of destructive actions.
    """

    is_dark: bool
    background: Color
    surface: Color
    ink: Color
    ink_soft: Color
    primary: Color
    on_primary: Color
    tint: Color
    on_tint: Color
    line: Color
    danger: Color


LIGHT = Theme(
    is_dark=False,
    background=rgb("FBFAFF"),
    surface=rgb("EEF0F9"),
    ink=rgb("1A1C1E"),
    ink_soft=rgb("5A5E66"),
    primary=rgb("0B57D0"),
    on_primary=rgb("FFFFFF"),
    tint=rgb("D3E3FD"),
    on_tint=rgb("041E49"),
    line=rgb("C8CBD3"),
    danger=rgb("B3261E"),
)

DARK = Theme(
    is_dark=True,
    background=rgb("111318"),
    surface=rgb("23262D"),
    ink=rgb("E5E6EA"),
    ink_soft=rgb("A9ADB6"),
    primary=rgb("A8C7FA"),
    on_primary=rgb("062E6F"),
    tint=rgb("0F4590"),
    on_tint=rgb("D7E5FF"),
    line=rgb("43474F"),
    danger=rgb("F2B8B5"),
)
