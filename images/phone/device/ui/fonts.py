"""Fonts: Roboto, with fallbacks for missing characters; icons are also glyphs of a font."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Union

from PIL import ImageFont

Font = Union[ImageFont.FreeTypeFont, ImageFont.ImageFont]  # noqa: UP007 - read at run time by 3.10

_FONTS = Path("/usr/share/fonts/truetype")
_REGULAR = ("roboto/unhinted/RobotoTTF/Roboto-Regular.ttf", "dejavu/DejaVuSans.ttf")
_BOLD = ("roboto/unhinted/RobotoTTF/Roboto-Medium.ttf", "dejavu/DejaVuSans-Bold.ttf")
_FALLBACKS = ("dejavu/DejaVuSans.ttf", "droid/DroidSansFallbackFull.ttf")
_ICONS = "material-design-icons-iconfont/MaterialIcons-Regular.ttf"
_PLAIN_END = 0x250
# Drawn as blanks; libraqm refuses a line with paragraph separators.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_GLYPH = "\uffff"

# Source: the font's own table, `_variables.scss` of fonts-material-design-icons-iconfont.
ICONS = {
    "add": "\ue145",
    "airplane": "\ue195",
    "alarm": "\ue855",
    "apps": "\ue5c3",
    "archive": "\ue149",
    "back": "\ue5c4",
    "backspace": "\ue14a",
    "battery": "\ue1a4",
    "block": "\ue14b",
    "bluetooth": "\ue1a7",
    "bookmark": "\ue866",
    "bookmark_empty": "\ue867",
    "brightness": "\ue1ae",
    "bulb": "\ue90f",
    "call": "\ue0b0",
    "call_end": "\ue0b1",
    "call_made": "\ue0b2",
    "call_missed": "\ue0b4",
    "call_received": "\ue0b5",
    "camera": "\ue412",
    "car": "\ue531",
    "check": "\ue5ca",
    "check_circle": "\ue86c",
    "chevron": "\ue5cc",
    "circle": "\ue836",
    "clock": "\ue192",
    "close": "\ue5cd",
    "cloud": "\ue2c2",
    "collapse": "\ue5ce",
    "contacts": "\ue7fd",
    "copy": "\ue14d",
    "delete": "\ue92e",
    "devices": "\ue1b1",
    "dialpad": "\ue0bc",
    "directions": "\ue52e",
    "display": "\ue1ae",
    "document": "\ue873",
    "drafts": "\ue151",
    "drop_down": "\ue5c5",
    "edit": "\ue3c9",
    "event": "\ue878",
    "expand": "\ue5cf",
    "file": "\ue24d",
    "folder": "\ue2c7",
    "forward": "\ue5c8",
    "history": "\ue889",
    "home": "\ue88a",
    "hourglass": "\ue88b",
    "image": "\ue3f4",
    "inbox": "\ue156",
    "info": "\ue88f",
    "keyboard_hide": "\ue31a",
    "language": "\ue894",
    "lens": "\ue3fa",
    "mail": "\ue0e1",
    "map": "\ue55b",
    "menu": "\ue5d2",
    "message": "\ue0c9",
    "mic": "\ue029",
    "mic_off": "\ue02b",
    "moon": "\ue51c",
    "more": "\ue5d4",
    "movie": "\ue02c",
    "my_location": "\ue55c",
    "navigation": "\ue55d",
    "new_folder": "\ue2cc",
    "note_add": "\ue89c",
    "notes": "\ue26c",
    "notifications": "\ue7f4",
    "paste": "\ue14f",
    "pause": "\ue034",
    "person": "\ue7fd",
    "phone": "\ue32c",
    "photos": "\ue413",
    "place": "\ue55f",
    "play": "\ue037",
    "previous": "\ue5cb",
    "public": "\ue80b",
    "radio_on": "\ue837",
    "refresh": "\ue5d5",
    "remove": "\ue15b",
    "reply": "\ue15e",
    "return": "\ue31b",
    "rotate": "\ue1c1",
    "search": "\ue8b6",
    "send": "\ue163",
    "settings": "\ue8b8",
    "shift": "\ue316",
    "signal": "\ue1c8",
    "star": "\ue838",
    "star_empty": "\ue83a",
    "stop": "\ue047",
    "storage": "\ue1c2",
    "swap": "\ue8d5",
    "tasks": "\ue2e6",
    "timer": "\ue425",
    "today": "\ue8df",
    "volume": "\ue050",
    "walk": "\ue536",
    "wifi": "\ue63e",
}


@lru_cache(maxsize=64)
def load_font(names: tuple[str, ...], size_px: int) -> Font:
    """Return the first installed font of a list, or Pillow's own if none is installed."""
    for name in names:
        if (_FONTS / name).is_file():
            return ImageFont.truetype(str(_FONTS / name), size_px)
    try:
        return ImageFont.load_default(size_px)
    except TypeError:  # Pillow before 10.1 supports only one size
        return ImageFont.load_default()


def icon_font(size_px: int) -> Font:
    """Return the font for `ICONS`."""
    return load_font((_ICONS,), size_px)


def text_font(size_px: int, *, bold: bool) -> Font:
    """Return the font for text."""
    return load_font(_BOLD if bold else _REGULAR, size_px)


@lru_cache(maxsize=4096)
def _font_name(char: str, *, bold: bool) -> tuple[str, ...]:
    """Return the names of the font that has a glyph for a character."""
    own = _BOLD if bold else _REGULAR
    if ord(char) < _PLAIN_END:
        return own
    for names in (own, *((name,) for name in _FALLBACKS)):
        font = load_font(names, 32)
        if _picture(font, char) != _picture(font, _NO_GLYPH):
            return names
    return own


def _picture(font: Font, char: str) -> tuple[object, bytes]:
    mask = font.getmask(char)
    return mask.size, bytes(mask)


@lru_cache(maxsize=4096)
def split_runs(text: str, size_px: int, *, bold: bool) -> tuple[tuple[str, Font, float], ...]:
    """Split text into runs with the same font.

    Returns:
        Text, font and width in px of each run.
    """
    runs = []
    text = _CONTROLS.sub(" ", text)
    for names, chars in groupby(text, key=lambda char: _font_name(char, bold=bold)):
        run, font = "".join(chars), load_font(names, size_px)
        runs.append((run, font, float(font.getlength(run))))
    return tuple(runs)


def measure(text: str, size_px: int, *, bold: bool = False) -> float:
    """Return the width of one line of text, px."""
    return sum(width for _, _, width in split_runs(text, size_px, bold=bold))


@lru_cache(maxsize=2048)
def wrap(
    text: str, size_px: int, width_px: int, max_lines: int, *, bold: bool = False
) -> tuple[str, ...]:
    """Break text into lines; the last one ends in an ellipsis if the text does not fit."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrap_paragraph(paragraph, size_px, width_px, bold=bold)
        if len(lines) > max_lines:
            break
    if len(lines) <= max_lines:
        return tuple(lines)
    last = lines[max_lines - 1]
    while last and measure(f"{last}…", size_px, bold=bold) > width_px:
        last = last[:-1]
    return (*lines[: max_lines - 1], f"{last.rstrip()}…")


def _wrap_paragraph(text: str, size_px: int, width_px: int, *, bold: bool) -> list[str]:
    lines, line = [], ""
    for word in text.split(" "):
        wider = f"{line} {word}" if line else word
        if measure(wider, size_px, bold=bold) <= width_px:
            line = wider
            continue
        if line:
            lines.append(line)
        line = word
        while len(line) > 1 and measure(line, size_px, bold=bold) > width_px:
            count = _count_that_fit(line, size_px, width_px, bold=bold)
            lines.append(line[:count])
            line = line[count:]
    return [*lines, line]


def _count_that_fit(text: str, size_px: int, width_px: int, *, bold: bool) -> int:
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle], size_px, bold=bold) <= width_px:
            low = middle
        else:
            high = middle - 1
    return low
