"""ShowUI-2B: a Python dict with action, value and position; ratios of 0 to 1.

Source: showlab/ShowUI ``QUICK_START.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import fail, place, show, text, wheel
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.python_calls import read_literal
from controller.models.families.reading import MAX_REPLY_CHARS, read_all
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import SmartResize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply

SYSTEM = """\
You operate the {kind} of a person. Given a task, a screenshot and your earlier steps, reply with the next \
step as a dict:
{{'action': ACTION, 'value': VALUE, 'position': POSITION}}
Positions are [x, y], parts of the width and the height from 0 to 1. The actions:
{actions}"""
_DESKTOP = """\
CLICK: click at position. HOVER: move the pointer to position. INPUT: type value into the field at position. \
ENTER: press Return. SCROLL: scroll to value, up or down. ANSWER: the task is done; value is the answer."""
_PHONE = """\
TAP: tap at position. INPUT: type value. SWIPE: from the first of two positions to the second. ENTER: press \
Return. ANSWER: the task is done; value is the answer."""
USER = "Task: {instruction}"
_NOTCHES = 5
_DICT = re.compile(r"\{[^{}]*\}")


class ShowUiDeclaration:
    """Declares the actions in the system prompt."""

    texts: tuple[str, ...] = (SYSTEM, _DESKTOP, _PHONE, USER)

    def declare(self, brief: Brief) -> Declared:
        """Return the prompt; the server needs no tools."""
        kind = brief.screen.kind
        system = SYSTEM.format(kind=kind, actions=_DESKTOP if kind == "desktop" else _PHONE)
        return Declared(system, (), USER.format(instruction=brief.instruction))


class ShowUiParser:
    """Reads all dicts of a reply."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all dicts."""
        said = reply.message.text[:MAX_REPLY_CHARS]
        return read_all(reply, _DICT.findall(said), _gestures)


def _gestures(source: str) -> Iterator[Gesture]:
    step = read_literal(source)
    if not isinstance(step, dict):
        fail(FaultKind.UNPARSABLE, f"This is not a dict: {show(source)}.")
    action, value = step.get("action"), step.get("value")
    match action:
        case "CLICK" | "TAP" | "SELECT":
            yield Gesture(Do.CLICK, (_position(step),))
        case "HOVER":
            yield Gesture(Do.MOVE, (_position(step),))
        case "INPUT":
            if step.get("position"):
                yield Gesture(Do.CLICK, (_position(step),))
            yield Gesture(Do.TYPE, text=text(value, "value"))
        case "ENTER":
            yield Gesture(Do.KEYS, keys=("Return",))
        case "SCROLL":
            yield Gesture(Do.SCROLL, ((0.5, 0.5),), notches=wheel(value, _NOTCHES))
        case "SWIPE":
            yield Gesture(Do.DRAG, _positions(step))
        case "ANSWER":
            yield Gesture(Do.ANSWER, text=text(value, "value")) if value else Gesture(Do.DONE)
        case _:
            fail(FaultKind.UNKNOWN_ACTION, f"There is no action called {show(action)}.")


def _position(step: dict[Any, Any]) -> tuple[float, float]:
    return place(step.get("position"), "position")


def _positions(step: dict[Any, Any]) -> tuple[tuple[float, float], ...]:
    pair = step.get("position")
    if not isinstance(pair, list | tuple) or len(pair) != 2:  # noqa: PLR2004 - start and end
        fail(FaultKind.BAD_ARGUMENTS, "position must be two positions.")
    return place(_list(pair[0])), place(_list(pair[1]))


def _list(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


SHOWUI = Family(
    name="showui",
    adapters=frozenset({"openai"}),
    sizer=SmartResize(28, 256 * 28 * 28, 1344 * 28 * 28),
    declaration=ShowUiDeclaration(),
    parser=ShowUiParser(),
    coordinates=Coordinates(Kind.RATIO),
    history=History(turns=10, pictures=1, is_summary=True),
    source="showlab/ShowUI QUICK_START.md",
)
