"""Take secrets out of texts that people or files get: logs, errors, what servers replied."""

from __future__ import annotations

import json
import re
from typing import Any

HIDDEN = "***"
"""What stands in the place of a secret."""

_CREDENTIALS = re.compile(r"""(\w://)[^\s/?#"'<>]+@""")
_LONG = 16
_SHORT = 8
_LABEL = r"((?:bearer|basic|key|token|password|secret)(?:\s+(?:provided|is|was))?[\s\\\"'`=:]{1,6})"
_BEGIN = r"(?:(?<![\w-])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"
"""No word goes on here; the letters of an escape such as ``\\n`` in JSON are no word."""

_secrets: dict[str, re.Pattern[str]] = {}


def redact(secret: str) -> None:
    """Hide a secret in all texts that this process masks from now on; empty ones are ignored."""
    if secret:
        _secrets[secret] = _pattern(secret)


def mask(text: str) -> str:
    """Return a text without the secrets given to `redact`, and without passwords in addresses.

    A secret of 16 characters or more is hidden wherever it stands, a shorter one where it stands
    alone, and one of fewer than 8, such as the ``none`` that local servers take for a key, only
    where the text calls it a key: other words are never touched.
    """
    return _CREDENTIALS.sub(rf"\g<1>{HIDDEN}@", _hide(text))


def hide_secrets(value: Any) -> Any:  # noqa: ANN401 - anything JSON has
    """Return a value of JSON, all of whose texts are without the secrets given to `redact`.

    Passwords in addresses stay: they may be what an agent was told to type.
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
    escaped = json.dumps(secret)[1:-1]  # as it stands in JSON, of which replies are made
    forms = dict.fromkeys((secret, escaped, escaped.replace("/", r"\/")))
    alternatives = f"(?:{'|'.join(map(re.escape, forms))})"
    if len(secret) >= _LONG:
        return re.compile(f"(){alternatives}")
    alone = rf"{_BEGIN}{alternatives}(?![\w-])"
    if len(secret) >= _SHORT:
        return re.compile(f"(){alone}")
    return re.compile(_LABEL + alone, re.IGNORECASE)
