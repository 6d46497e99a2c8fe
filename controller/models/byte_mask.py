"""Take secrets out of bytes that come in pieces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from appliance.base.masking import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_CHARS = 8


class ByteMask:
    """Replaces secrets in a stream; holds back only what may be the beginning of one.

    Args:
        secrets: those of fewer than 8 characters, such as ``none``, are words like others, and stay.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for text in secrets if len(text) >= _MIN_CHARS for form in _forms(text)}
        self._secrets = sorted((form.encode() for form in forms), key=len, reverse=True)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return what of the stream can go on."""
        data = self._replace(self._held + chunk)
        keep = max((_overlap(data, secret) for secret in self._secrets), default=0)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def rest(self) -> bytes:
        """Return what was held back, at the stream's end."""
        data, self._held = self._held, b""
        return data

    def _replace(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, HIDDEN.encode())
        return data


def _forms(secret: str) -> tuple[str, ...]:
    escaped = json.dumps(secret)[1:-1]
    return secret, escaped, escaped.replace("/", r"\/")


def _overlap(data: bytes, secret: bytes) -> int:
    """Return how many bytes at the end of data begin a secret."""
    lengths = range(min(len(data), len(secret) - 1), 0, -1)
    return next((length for length in lengths if data.endswith(secret[:length])), 0)
