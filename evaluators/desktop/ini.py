"""Parse INI files and similar: desktop entries, Firefox's profiles, NetworkManager's connections."""

from __future__ import annotations

import configparser
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_TOP = "[\1]\n"
_HEADER = re.compile(r"\[(?P<header>.+)\]\s*$")


def parse_ini(
    text: str | None, *, delimiters: Sequence[str] = ("=", ":"), is_lenient: bool = False
) -> configparser.RawConfigParser:
    """Parse sections, keys and values, with their letter case and without interpolation.

    No section provides defaults for others; nothing may stand behind the bracket of its name. A file that is missing (None), broken, or has a
    section or key twice is parsed as one without sections.

    Args:
        text: the file's content.
        delimiters: what may stand between a key and its value.
        is_lenient: whether there may be keys before the first section, which are in none, and keys without
            a value, whose value is None.
    """
    parser = configparser.RawConfigParser(
        default_section="\0", delimiters=delimiters, allow_no_value=is_lenient
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.SECTCRE = _HEADER
    try:
        parser.read_string(f"{_TOP if is_lenient else ''}{text or ''}")
    except (configparser.Error, AttributeError):  # its own, for a line that goes on with no value
        parser.clear()
    return parser
