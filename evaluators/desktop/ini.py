"""Parse INI files and similar: desktop entries, Firefox's profiles, NetworkManager's connections."""

from __future__ import annotations

import configparser


def parse_ini(text: str | None) -> configparser.RawConfigParser:
    """Parse sections, keys and values, with their letter case and without interpolation.

    No section provides defaults for others. A file that is missing (None), broken, or has a
    section or key twice is parsed as one without sections.
    """
    parser = configparser.RawConfigParser(default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text or "")
    except configparser.Error:
        parser.clear()
    return parser
