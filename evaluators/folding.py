"""Normalise texts for comparison: replace compatibility characters and remove soft hyphens."""

from __future__ import annotations

import unicodedata

_SOFT_HYPHEN = "\u00ad"
_APART = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Tags of mappings in UnicodeData.txt whose characters have another meaning next to a digit."""


def plain(text: str) -> str:
    """Return a text in Unicode NFKC, without soft hyphens.

    Next to digits, superscripts, subscripts, circled characters and fractions do not change:
    10\u00b2 is not 102, and 1\u00bd is not eleven halves.
    """
    seen = text.replace(_SOFT_HYPHEN, "")
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
