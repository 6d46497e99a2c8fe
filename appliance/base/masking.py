"""Take secrets out of texts that people or files get: logs, errors, what servers replied."""

from __future__ import annotations

import re

HIDDEN = "***"
"""What stands in the place of a secret."""

_CREDENTIALS = re.compile(r"""(\w://)[^\s/?#"'<>]+@""")
_LONG = 16
_SHORT = 8
_LABEL = r"((?:bearer|basic|key|token|password|secret)(?:\s+provided)?[\s\"'=:]{1,4})"

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
    for secret in sorted(_secrets, key=len, reverse=True):
        text = _secrets[secret].sub(rf"\g<1>{HIDDEN}", text)
    return _CREDENTIALS.sub(rf"\g<1>{HIDDEN}@", text)


def _pattern(secret: str) -> re.Pattern[str]:
    words = re.escape(secret)
    if len(secret) >= _LONG:
        return re.compile(f"(){words}")
    alone = rf"(?<![\w-]){words}(?![\w-])"
    if len(secret) >= _SHORT:
        return re.compile(f"(){alone}")
    return re.compile(_LABEL + alone, re.IGNORECASE)
