"""What a model wants to do, whatever its family and the names of our actions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from controller.models.pictures.coordinates import CoordinateError, Place
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.pictures.coordinates import Coordinates
    from controller.models.pictures.sizing import Size


class Do(StrEnum):
    """What is done."""

    CLICK = "click"
    MOVE = "move"
    DRAG = "drag"
    PRESS = "press"
    """Press a button of the pointer and keep it pressed."""
    RELEASE = "release"
    LONG_PRESS = "long_press"
    SCROLL = "scroll"
    KEYS = "keys"
    """Press keys together and release them; held for `seconds` if these are not 0."""
    KEYS_DOWN = "keys_down"
    KEYS_UP = "keys_up"
    TYPE = "type"
    WAIT = "wait"
    LOOK = "look"
    """Only another picture is wanted, which every turn has."""
    ZOOM = "zoom"
    OPEN = "open"
    """Open an application by name."""
    BUTTON = "button"
    """Press a button of a phone, such as HOME."""
    CALL = "call"
    """Call one of our own tools."""
    ANSWER = "answer"
    DONE = "done"
    GIVE_UP = "give_up"
    ASK = "ask"
    """Ask the user."""


@dataclass(frozen=True, slots=True)
class Gesture:
    """One thing that a model wants to do.

    Attributes:
        do: what.
        places: points, in order; those of the model until `on_screen`, then px of the screen. Without
            one, the place is where the pointer is.
        button: left, middle, right, back or forward.
        clicks: how often the button is clicked.
        keys: keys that are pressed, or held meanwhile, by X name.
        text: what is typed, answered, asked or opened, or the name of a tool or a button.
        notches: turns of the wheel: positive is right, and down.
        seconds: duration.
        args: arguments of a tool.
        clears: whether a field is emptied before text is typed.
        submits: whether Return is pressed after text was typed.
    """

    do: Do
    places: tuple[Place, ...] = ()
    button: str = "left"
    clicks: int = 1
    keys: tuple[str, ...] = ()
    text: str = ""
    notches: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    args: Mapping[str, Any] = field(default_factory=dict)
    clears: bool = False
    submits: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return what differs from a plain gesture, for logs and the text of a history."""
        shown: dict[str, Any] = {"do": self.do.value}
        if self.places:
            shown["at"] = [list(place) for place in self.places]
        for name in ("text", "keys", "args"):
            if value := getattr(self, name):
                shown[name] = list(value) if isinstance(value, tuple) else value
        if self.do is Do.CLICK and (self.button, self.clicks) != ("left", 1):
            shown |= {"button": self.button, "clicks": self.clicks}
        if any(self.notches):
            shown["notches"] = list(self.notches)
        if self.seconds:
            shown["seconds"] = self.seconds
        return shown


class FaultKind(StrEnum):
    """Classes of replies that cannot be carried out."""

    NO_CALL = "no_call"
    """Nothing in the reply is an action."""
    CUT_OFF = "cut_off"
    UNPARSABLE = "unparsable"
    """It is not in the family's format."""
    UNKNOWN_ACTION = "unknown_action"
    BAD_ARGUMENTS = "bad_arguments"
    """An argument is missing or of a wrong type."""
    OUTSIDE = "outside"
    """A coordinate is not on the picture."""
    UNKNOWN_KEY = "unknown_key"
    UNSUPPORTED = "unsupported"
    """The family has the action, but this machine does not offer it."""


class ParseError(MesocosmError):
    """A part of a reply is not an action; its text is sent to the model."""

    code = "model_reply_unparsable"

    def __init__(self, kind: FaultKind, brief: str) -> None:
        super().__init__(brief)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a reply.

    Attributes:
        kind: its class.
        text: what is wrong, for the model.
    """

    kind: FaultKind
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, parsed.

    Attributes:
        gestures: gestures before the first fault.
        fault: what is wrong after these; None if nothing is.
        thought: the model's own words.
        calls: for each gesture, the index of the call of the message that it came from; empty for
            replies that are text.
    """

    gestures: tuple[Gesture, ...] = ()
    fault: Fault | None = None
    thought: str = ""
    calls: tuple[int, ...] = ()


def on_screen(gesture: Gesture, coordinates: Coordinates, sent: Size, screen: Size) -> Gesture:
    """Return a gesture with places in px of the screen.

    Args:
        gesture: a gesture with the model's coordinates.
        coordinates: what these refer to.
        sent: size of the picture that the model was sent.
        screen: size of the screen.

    Raises:
        ParseError: a place is outside the picture.
    """
    try:
        places = [coordinates.to_screen(place, sent, screen) for place in gesture.places]
    except CoordinateError as exc:
        raise ParseError(FaultKind.OUTSIDE, f"{exc.brief} {exc.details}") from exc
    return replace(gesture, places=tuple(places))
