"""Mask secrets in a byte stream that arrives in chunks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from foundation.masking import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_CHARS = 8


class ByteMask:
    """Masks secrets in a stream; withholds only bytes that may be the start of a secret.

    Args:
        secrets: the secrets; those shorter than 8 characters, such as ``none``, are ordinary text
            and are not masked.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for text in secrets if len(text) >= _MIN_CHARS for form in _forms(text)}
        self._secrets = sorted((form.encode() for form in forms), key=len, reverse=True)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Add a chunk and return the masked bytes that can be forwarded."""
        data = self._replace(self._held + chunk)
        keep = max((_overlap(data, secret) for secret in self._secrets), default=0)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def rest(self) -> bytes:
        """Return the withheld bytes at the end of the stream."""
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
    """Return how many bytes at the end of the data may be the start of a secret."""
    lengths = range(min(len(data), len(secret) - 1), 0, -1)
    return next((length for length in lengths if data.endswith(secret[:length])), 0)
