"""Values of settings in the GVariant text format.

Source: GLib's "GVariant Text Format".
"""

from __future__ import annotations

import re

_TYPE = re.compile(r"\A(?:@\S+|byte|u?int(?:16|32|64)|double|handle|objectpath|signature) +(?=\S)")
_NO_TEXT = re.compile(r"[\[({<@]|(?:byte|u?int(?:16|32|64)|double|handle) [-0-9]")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"| +", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def is_same_variant(left: str, right: str) -> bool:
    """Return whether two texts represent the same value.

    White space outside of texts, the kind of quotes, and the name of a type before the value are
    ignored.
    """
    return _plain(left) == _plain(right)


def is_no_text(value: str) -> bool:
    """Return whether a value without quotes is not a plain text, but for example a list."""
    return _NO_TEXT.match(value) is not None


def _plain(text: str) -> str:
    return _TEXT.sub(_in_one_form, _TYPE.sub("", text.strip()))


def _in_one_form(match: re.Match[str]) -> str:
    """Return a text in single quotes, with its own quotes unescaped; empty for white space."""
    if match.lastindex is None:
        return ""
    return f"'{_ESCAPED.sub(_unescaped, match[match.lastindex])}'"


def _unescaped(match: re.Match[str]) -> str:
    return match[1] if match[1] in {"'", '"'} else match[0]
