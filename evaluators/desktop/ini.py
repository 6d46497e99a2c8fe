"""Read INI files and their kin: desktop entries, Firefox' profiles, NetworkManager's connections."""

from __future__ import annotations

import configparser


def parse_ini(text: str | None) -> configparser.RawConfigParser:
    """Read sections and keys, both with their letter case, values as they stand.

    No section gives its keys to the others. A file that is missing (None), broken, or has a
    section or key twice reads as one without sections.
    """
    parser = configparser.RawConfigParser(default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text or "")
    except configparser.Error:
        parser.clear()
    return parser
