"""The five parts of a family of models, and what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply, Tool
    from controller.models.pictures.coordinates import Coordinates
    from controller.models.pictures.sizing import Size, Sizer


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen as a model is shown it.

    Attributes:
        role: role of its machine.
        kind: kind of machine.
        size: its size.
        sent: size of the picture that is sent.
    """

    role: str
    kind: Literal["desktop", "phone"]
    size: Size
    sent: Size


@dataclass(frozen=True, slots=True)
class Brief:
    """What a declaration is made from.

    Attributes:
        instruction: the task.
        screen: the screen that the model acts on in its family's own format.
        tools: our own tools beside it: those of the session, and of other machines.
    """

    instruction: str
    screen: Screen
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What a model is told before the first screenshot.

    Attributes:
        system: system prompt; empty for none.
        tools: tools of each request.
        user: text beside the first screenshot.
    """

    system: str
    tools: tuple[Tool, ...]
    user: str


class Declaration(Protocol):
    """The prompt and the tools of a family."""

    texts: tuple[str, ...]
    """All its texts, for the digest of prompts."""

    def declare(self, brief: Brief) -> Declared:
        """Return what a model is told."""
        ...


class Parser(Protocol):
    """Reads the replies of a family."""

    def read(self, reply: Reply) -> Parsed:
        """Return what a model wants to do; never raises, whatever the reply is."""
        ...


@dataclass(frozen=True, slots=True)
class History:
    """What of earlier turns each request includes.

    Attributes:
        turns: number of earlier turns.
        pictures: number of turns, the present one included, that keep their screenshots.
        is_summary: whether turns without a screenshot are lines of text in the first message.
    """

    turns: int
    pictures: int
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models.

    Attributes:
        name: its name in settings and results.
        adapters: adapters of the APIs that carry its format.
        sizer: chooses the size of the pictures that are sent.
        declaration: prompt and tools.
        parser: reads replies.
        coordinates: what coordinates refer to.
        history: what of earlier turns is sent.
        source: where its format is published.
        has_tools: whether it can call our own tools, too; otherwise it acts on one machine only.
        answers_with_picture: whether the screenshot is the outcome of a call, not a message of its own.
        acts: whether it chooses actions; a grounder only names places.
    """

    name: str
    adapters: frozenset[str]
    sizer: Sizer
    declaration: Declaration
    parser: Parser
    coordinates: Coordinates
    history: History
    source: str
    has_tools: bool = False
    answers_with_picture: bool = False
    acts: bool = True
