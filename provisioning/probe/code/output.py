"""The output of the agent's code, bounded while it is written."""

from __future__ import annotations

import re
from typing import Any

MAX_CHARS = 100_000
"""Longest output that is kept: its beginning and its end."""
MAX_PICTURE_CHARS = 2_000_000
"""Longest picture that is kept, as base64."""
# Source: ECMA-48: control sequences that IPython colours tracebacks with.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Output:
    """Text and the last picture that code has written."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._dropped = 0
        self.picture = ""

    def add(self, text: str) -> None:
        """Append text without control characters; drop from the middle what is too much."""
        text = _UNPRINTABLE.sub("", _CONTROL.sub("", text.replace("\r\n", "\n")))
        room = MAX_CHARS // 2 - len(self._head)
        self._head += text[:room]
        tail = self._tail + text[max(0, room) :]
        self._dropped += max(0, len(tail) - MAX_CHARS // 2)
        self._tail = tail[-(MAX_CHARS // 2) :]

    def add_value(self, data: dict[str, Any]) -> None:
        """Append a value in the forms that Jupyter sends: its text, and its picture."""
        text, picture = data.get("text/plain", ""), data.get("image/png", "")
        if isinstance(picture, str) and 0 < len(picture) <= MAX_PICTURE_CHARS:
            self.picture = picture.replace("\n", "")
        elif isinstance(text, str) and text:
            self.add(f"{text}\n")

    def text(self) -> str:
        """Return all text that was kept."""
        if not self._dropped:
            return self._head + self._tail
        return f"{self._head}\n[{self._dropped} characters left out]\n{self._tail}"
