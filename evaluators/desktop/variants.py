"""Values of settings in GVariant's text form.

Source: GLib's "GVariant Text Format".
"""

from __future__ import annotations

import re

_TYPE = re.compile(r"\A(?:@\S+|byte|u?int(?:16|32|64)|double|handle|objectpath|signature) +(?=\S)")
_NO_TEXT = re.compile(r"[\[({<@]|(?:byte|u?int(?:16|32|64)|double|handle) [-0-9]")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"| +", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def is_same_variant(left: str, right: str) -> bool:
    """Return whether two texts are the same value, however it is written.

    Blanks outside of texts, the kind of a text's quotes, and the name of a type before the value do
    not count.
    """
    return _plain(left) == _plain(right)


def is_no_text(value: str) -> bool:
    """Return whether a value without quotes is a list, or another one that is no plain text."""
    return _NO_TEXT.match(value) is not None


def _plain(text: str) -> str:
    return _TEXT.sub(_in_one_form, _TYPE.sub("", text.strip()))


def _in_one_form(match: re.Match[str]) -> str:
    """Return a text in single quotes, its own quotes not escaped; nothing for blanks."""
    if match.lastindex is None:
        return ""
    return f"'{_ESCAPED.sub(_unescaped, match[match.lastindex])}'"


def _unescaped(match: re.Match[str]) -> str:
    return match[1] if match[1] in {"'", '"'} else match[0]
