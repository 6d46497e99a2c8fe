"""Make texts comparable: compatible characters as plain ones, without what cannot be seen."""

from __future__ import annotations

import unicodedata

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
"""Soft hyphen, blanks of no width, byte order mark."""
_APART = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Tags of the mappings in UnicodeData.txt whose characters mean something else beside a digit."""


def plain(text: str) -> str:
    """Return a text in Unicode NFKC, without soft hyphens and blanks of no width.

    Beside digits those that are raised, lowered, circled or fractions stay as they are: 10\u00b2 is not
    102, and 1\u00bd is no eleven halves.
    """
    seen = text.translate(_UNSEEN)
    if seen.isascii():
        return seen
    parts, begin = [], 0
    for place, character in enumerate(seen):
        if _is_apart(character) and _beside_digit(seen, place):
            parts += [unicodedata.normalize("NFKC", seen[begin:place]), character]
            begin = place + 1
    return "".join([*parts, unicodedata.normalize("NFKC", seen[begin:])])


def _is_apart(character: str) -> bool:
    return character.isnumeric() and unicodedata.decomposition(character).startswith(_APART)


def _beside_digit(text: str, place: int) -> bool:
    return any(side.isnumeric() for side in (text[place - 1 : place], text[place + 1 : place + 2]))
