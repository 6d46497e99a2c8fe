"""Parse INI files and similar formats: desktop entries, Firefox's profiles, NetworkManager's connections."""

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
    """Parse sections, keys and values, case-sensitive and without interpolation.

    No section provides defaults for others; nothing may follow the closing bracket of a section's
    name. A file that is missing (None), malformed, or has a duplicate section or key is parsed as
    one without sections.

    Args:
        text: the file's content.
        delimiters: allowed delimiters between a key and its value.
        is_lenient: whether to allow keys before the first section, which are ignored, and keys
            without a value, whose value is None.
    """
    parser = configparser.RawConfigParser(
        default_section="\0", delimiters=delimiters, allow_no_value=is_lenient
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.SECTCRE = _HEADER
    try:
        parser.read_string(f"{_TOP if is_lenient else ''}{text or ''}")
    except (configparser.Error, AttributeError):  # raised for a continuation line without a value
        parser.clear()
    return parser
