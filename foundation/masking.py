"""Mask secrets in text that is shown or written: logs, errors, replies of servers."""

from __future__ import annotations

import json
import re
from typing import Any

HIDDEN = "***"
"""Replacement text of a secret."""

_CREDENTIALS = re.compile(r"""(\w://)[^\s/?#"'<>]+@""")
_LONG = 16
_SHORT = 8
_LABEL = r"((?:bearer|basic|key|token|password|secret)(?:\s+(?:provided|is|was))?[\s\\\"'`=:]{1,6})"
_BEGIN = r"(?:(?<![\w-])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"
"""Start of a word; the letter of an escape such as ``\\n`` in JSON does not belong to a word."""

_secrets: dict[str, re.Pattern[str]] = {}


def redact(secret: str) -> None:
    """Hide a secret in all text that this process masks from now on; empty ones are ignored."""
    if secret:
        _secrets[secret] = _pattern(secret)


def mask(text: str) -> str:
    """Return a text without the secrets given to `redact`, and without passwords in addresses.

    A secret of 16 characters or more is hidden everywhere, and a shorter one only as a separate
    word. One of fewer than 8, such as the ``none`` that local servers accept as a key, is only
    hidden where the text labels it as a key, so that ordinary words are never masked.
    """
    return _CREDENTIALS.sub(rf"\g<1>{HIDDEN}@", _hide(text))


def hide_secrets(value: Any) -> Any:  # noqa: ANN401 - anything JSON has
    """Return a JSON value with the secrets given to `redact` masked in all its strings.

    Passwords in addresses are kept: a task may require an agent to type them.
    """
    if not _secrets:
        return value
    match value:
        case str():
            return _hide(value)
        case dict():
            return {_hide(str(key)): hide_secrets(item) for key, item in value.items()}
        case list() | tuple():
            return [hide_secrets(item) for item in value]
        case _:
            return value


def _hide(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):
        text = _secrets[secret].sub(rf"\g<1>{HIDDEN}", text)
    return text


def _pattern(secret: str) -> re.Pattern[str]:
    escaped = json.dumps(secret)[1:-1]  # as it appears in JSON replies
    forms = dict.fromkeys((secret, escaped, escaped.replace("/", r"\/")))
    alternatives = f"(?:{'|'.join(map(re.escape, forms))})"
    if len(secret) >= _LONG:
        return re.compile(f"(){alternatives}")
    alone = rf"{_BEGIN}{alternatives}(?![\w-])"
    if len(secret) >= _SHORT:
        return re.compile(f"(){alone}")
    return re.compile(_LABEL + alone, re.IGNORECASE)
