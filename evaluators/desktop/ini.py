"""Parse INI files and similar: desktop entries, Firefox's profiles, NetworkManager's connections."""

from __future__ import annotations

import configparser
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_HEADER = re.compile(r"\[(?P<header>.+)\]\s*$")


def parse_ini(
    text: str | None, *, delimiters: Sequence[str] = ("=", ":")
) -> configparser.RawConfigParser:
    """Parse sections, keys and values, with their letter case and without interpolation.

    No section provides defaults for others; nothing may stand behind the bracket of its name. A file that is missing (None), broken, or has a
    section or key twice is parsed as one without sections.

    Args:
        text: the file's content.
        delimiters: what may stand between a key and its value.
    """
    parser = configparser.RawConfigParser(default_section="\0", delimiters=delimiters)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.SECTCRE = _HEADER
    try:
        parser.read_string(text or "")
    except configparser.Error:
        parser.clear()
    return parser
