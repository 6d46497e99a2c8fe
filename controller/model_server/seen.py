"""A request as a scripted model sees it, whatever the API."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from foundation.errors import MesocosmError


class BadRequestError(MesocosmError):
    """A request is not in the format of its API."""

    code = "scripted_bad_request"


@dataclass(slots=True)
class Seen:
    """What a request contains.

    Attributes:
        model: name of the model.
        system: system prompt.
        turns: texts by turn: what was said before the first reply, between replies, and since the last.
        images: pictures in order, as they were encoded.
        tools: names of declared tools; of a vendor's own tool its type.
        is_streamed: whether the reply is to be streamed.
    """

    model: str
    system: str = ""
    turns: list[list[str]] = field(default_factory=lambda: [[]])
    images: list[bytes] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    is_streamed: bool = False

    def say(self, text: object) -> None:
        """Add a text that the model is sent."""
        if isinstance(text, str):
            self.turns[-1].append(text)

    def replied(self, *texts: object) -> None:
        """Note a reply of the model in the conversation; a new turn begins after it."""
        for text in texts:
            self.say(text)
        self.turns.append([])

    def show(self, data: object) -> None:
        """Add a picture, given as base64 or as the URL of its data.

        Raises:
            BadRequestError: it is neither.
        """
        text = data if isinstance(data, str) else ""
        try:
            image = base64.b64decode(text.rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError):
            image = b""
        if not image:
            raise BadRequestError("a picture is not base64")
        self.images.append(image)

    @property
    def turn(self) -> int:
        """1 for the first request of a conversation."""
        return len(self.turns)

    @property
    def recent(self) -> str:
        """What the model was sent since its last reply."""
        return "\n".join(self.turns[-1])

    @property
    def everything(self) -> str:
        """All texts."""
        return "\n".join((self.system, *(text for turn in self.turns for text in turn)))


def rows_of(value: object, name: str) -> list[dict[str, Any]]:
    """Return a list of objects.

    Raises:
        BadRequestError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise BadRequestError(f"{name} must be a list of objects")
    return value


def text_of(content: object) -> str:
    """Return a content's text: it is a text, or parts of which some are texts, or absent."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in rows_of(content, "content"))
    return content if isinstance(content, str) else ""


def required(body: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - checked by the caller
    """Return a field of a request.

    Raises:
        BadRequestError: it is missing.
    """
    if name not in body:
        raise BadRequestError(f"{name} is missing")
    return body[name]
