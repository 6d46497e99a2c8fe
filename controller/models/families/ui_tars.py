"""UI-TARS 1.5: ``Thought:`` and ``Action: name(args)``; px of the picture that its processor resized.

Source: bytedance/UI-TARS ``codes/ui_tars/prompt.py``, ``action_parser.py``, ``README_coordinates.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.models.families.arguments import fail, place, seconds, show, text, wheel
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import split_keys
from controller.models.families.python_calls import read_calls
from controller.models.families.reading import MAX_REPLY_CHARS, read_all
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import SmartResize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.families.python_calls import PythonCall
    from controller.models.messages import Reply
    from controller.models.pictures.coordinates import Place

_DESKTOP = """\
click(point='<point>x y</point>')
left_double(point='<point>x y</point>')
right_single(point='<point>x y</point>')
drag(start_point='<point>x y</point>', end_point='<point>x y</point>')
hotkey(key='ctrl c')
type(content='text')  # end with \\n to press Return
scroll(point='<point>x y</point>', direction='down or up or right or left')
wait()  # five seconds
call_user()  # the task cannot be done
finished(content='the answer, or what was done')"""
_PHONE = """\
click(point='<point>x y</point>')
long_press(point='<point>x y</point>')
type(content='text')
scroll(point='<point>x y</point>', direction='down or up or right or left')
open_app(app_name='name')
drag(start_point='<point>x y</point>', end_point='<point>x y</point>')
press_home()
press_back()
wait()  # five seconds
call_user()  # the task cannot be done
finished(content='the answer, or what was done')"""
USER = """\
You operate the {kind} of a person. You are given a task, your earlier steps and screenshots. Take the \
next step.

## Format of a reply
Thought: ...
Action: ...

## Actions
{actions}

## Task
{instruction}"""
SMART = SmartResize(28, 100 * 28 * 28, 16384 * 28 * 28)
_NOTCHES = 5
_WAIT_S = 5.0
_ACTION = re.compile(r"^[ \t]*Action:[ \t]*", re.MULTILINE)
_TAGS = re.compile(r"<\|?/?(?:point|bbox|box_start|box_end)\|?>")


class UiTarsDeclaration:
    """Declares the actions in the first message."""

    texts: tuple[str, ...] = (USER, _DESKTOP, _PHONE)

    def declare(self, brief: Brief) -> Declared:
        """Return the prompt; the server needs no tools."""
        kind = brief.screen.kind
        actions = _DESKTOP if kind == "desktop" else _PHONE
        user = USER.format(kind=kind, actions=actions, instruction=brief.instruction)
        return Declared("", (), user)


class UiTarsParser:
    """Reads the calls after ``Action:``; several are separated by blank lines."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all calls."""
        said = reply.message.text[:MAX_REPLY_CHARS]
        thought, *actions = _ACTION.split(said)
        calls = [
            call for action in actions for call in re.split(r"\n\s*\n", action) if call.strip()
        ]
        thought = thought.strip().removeprefix("Thought:").strip()
        return read_all(reply, calls, _gestures, thought=thought)


def _gestures(source: str) -> Iterator[Gesture]:
    for call in read_calls(_one_line(source)):
        if call.name not in _READERS:
            fail(FaultKind.UNKNOWN_ACTION, f"There is no action called {show(call.name)}.")
        yield from _READERS[call.name](call)


def _one_line(source: str) -> str:
    """Return a call whose texts may contain line ends, which Python does not allow."""
    return source.strip().replace("\r", "").replace("\n", "\\n")


def _point(call: PythonCall, *names: str) -> Place:
    value = next((call.kwargs[name] for name in names if name in call.kwargs), None)
    if value is None:
        value = call.argument(names[0], 0)
    if isinstance(value, str):
        value = _TAGS.sub(" ", value)
    return place(value, names[0])


def _click(button: str, clicks: int) -> Callable[[PythonCall], Iterator[Gesture]]:
    def read(call: PythonCall) -> Iterator[Gesture]:
        yield Gesture(Do.CLICK, (_point(call, "point", "start_box"),), button, clicks)

    return read


def _drag(call: PythonCall) -> Iterator[Gesture]:
    start = _point(call, "start_point", "start_box")
    yield Gesture(Do.DRAG, (start, _point(call, "end_point", "end_box")))


def _keys(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.KEYS, keys=split_keys(call.argument("key", 0)))


def _type(call: PythonCall) -> Iterator[Gesture]:
    content = text(call.argument("content", 0), "content")
    submits = content.endswith("\n")
    yield Gesture(Do.TYPE, text=content.removesuffix("\n"), submits=submits)


def _scroll(call: PythonCall) -> Iterator[Gesture]:
    turns = wheel(call.argument("direction", 1), _NOTCHES)
    yield Gesture(Do.SCROLL, (_point(call, "point", "start_box"),), notches=turns)


def _wait(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.WAIT, seconds=seconds(call.argument("seconds", 0), _WAIT_S))


def _long_press(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.LONG_PRESS, (_point(call, "point", "start_box"),), seconds=1.0)


def _open(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.OPEN, text=text(call.argument("app_name", 0), "app_name"))


def _finished(call: PythonCall) -> Iterator[Gesture]:
    content = call.argument("content", 0)
    yield Gesture(Do.ANSWER, text=text(content, "content")) if content else Gesture(Do.DONE)


def _plain(gesture: Gesture) -> Callable[[PythonCall], Iterator[Gesture]]:
    def read(_call: PythonCall) -> Iterator[Gesture]:
        yield gesture

    return read


_READERS: dict[str, Callable[[PythonCall], Iterator[Gesture]]] = {
    "click": _click("left", 1),
    "left_single": _click("left", 1),
    "left_double": _click("left", 2),
    "right_single": _click("right", 1),
    "drag": _drag,
    "hotkey": _keys,
    "type": _type,
    "scroll": _scroll,
    "wait": _wait,
    "long_press": _long_press,
    "open_app": _open,
    "press_home": _plain(Gesture(Do.BUTTON, text="HOME")),
    "press_back": _plain(Gesture(Do.BUTTON, text="BACK")),
    "call_user": _plain(Gesture(Do.ASK)),
    "finished": _finished,
}

UI_TARS = Family(
    name="ui-tars-1.5",
    adapters=frozenset({"openai"}),
    sizer=SMART,
    declaration=UiTarsDeclaration(),
    parser=UiTarsParser(),
    coordinates=Coordinates(Kind.RESIZED, processor=SMART),
    history=History(turns=50, pictures=5),
    source="bytedance/UI-TARS codes/ui_tars/prompt.py and action_parser.py",
)
