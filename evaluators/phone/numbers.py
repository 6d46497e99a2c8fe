"""Compare telephone numbers by their notation."""

from __future__ import annotations

import re
import unicodedata

_IGNORED = re.compile(r"[\s.\-/()\u200e\u200f\u202a-\u202e\u2066-\u2069\u2010-\u2015]")
"""White space, punctuation, and the direction marks that Android puts around numbers."""
_NUMBER = re.compile(r"\+?[0-9*#,;]+")


def is_same_number(left: str, right: str) -> bool:
    """Return whether two numbers are equal, apart from punctuation.

    A leading ``00`` equals ``+``. Text with a letter, such as a sender's name, is not a number and
    is not equal to any.
    """
    key = _key(left)
    return bool(key) and key == _key(right)


def _key(number: str) -> str:
    plain = _IGNORED.sub("", unicodedata.normalize("NFKC", number))
    if not _NUMBER.fullmatch(plain):
        return ""
    return f"+{plain[2:]}" if plain.startswith("00") else plain
