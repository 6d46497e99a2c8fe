"""Compare what people read: white space, invisible characters and Unicode forms do not count."""

from __future__ import annotations

from evaluators.desktop.visible import shown


def is_same_text(given: str, wanted: str) -> bool:
    """Return whether two texts read the same; letter case is significant."""
    return shown(given) == shown(wanted)


def has_text(given: str, part: str) -> bool:
    """Return whether a text has a part as it reads; an empty part matches any text."""
    return shown(part) in shown(given)


def digits_of(number: str) -> str:
    """Return the digits of a telephone number, with a plus if it is international."""
    kept = "".join(char for char in number if char in "+0123456789")
    if kept.startswith("00"):
        kept = f"+{kept[2:]}"
    return kept[:1] + kept[1:].replace("+", "")
