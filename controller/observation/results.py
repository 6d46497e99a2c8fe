"""What an action returns to the agent besides the next screenshots."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioning.protocols import Json

MAX_RESULT_CHARS = 20_000
"""Longest text of a result; the rest is left out, and the text says so."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action: text, a picture, or both.

    Attributes:
        text: the text, such as the output of code.
        png: a picture, such as a part of the screen in full resolution; empty if there is none.
        call: the action as ``role.name``.
        index: position of the action among those of its turn, from 0.
    """

    text: str = ""
    png: bytes = b""
    call: str = ""
    index: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the result as JSON, in the format of agent programs."""
        picture = {"png": base64.b64encode(self.png).decode()} if self.png else {}
        return {"call": self.call, "index": self.index, "text": self.text, **picture}


def bounded(text: str, most: int = MAX_RESULT_CHARS) -> str:
    """Return a text shortened to its beginning and end, with the number of characters left out."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-most // 2 :]
    return f"{head}\n[{len(text) - len(head) - len(tail)} characters left out]\n{tail}"
