"""OpenCUA: sections Thought, Action and Code, the code being one pyautogui call; ratios of 0 to 1.

Source: xlang-ai/OpenCUA ``evaluation/agentnetbench/agent/opencua.py`` and README.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.models.families.arguments import fail, notches, number, seconds, show, text
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

SYSTEM = """\
You operate the {kind} of a person by programs. You are given a task, a screenshot and your earlier steps. \
Take the next step, and reply with these sections:

# Step
## Thought: what the screen shows, and why the next step is what it is.
## Action: the step in one sentence.
## Code:
```python
one call of pyautogui, or computer.wait(), computer.triple_click(x, y), or \
computer.terminate(status='success' or 'failure', answer='the answer, if one was asked for')
```
Coordinates are parts of the width and the height of the screenshot, from 0 to 1."""
USER = "# Task\n{instruction}\n\nTake the next step."
_WAIT_S = 3.0
_CODE = re.compile(r"```(?:python|code)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT = re.compile(r"##[ ]?Thought:?(.*?)(?=##|\Z)", re.DOTALL)


class OpenCuaDeclaration:
    """Declares the sections in the system prompt."""

    texts: tuple[str, ...] = (SYSTEM, USER)

    def declare(self, brief: Brief) -> Declared:
        """Return the prompt; the server needs no tools."""
        system = SYSTEM.format(kind=brief.screen.kind)
        return Declared(system, (), USER.format(instruction=brief.instruction))


class OpenCuaParser:
    """Reads the calls of the last section."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all calls."""
        said = reply.message.text[:MAX_REPLY_CHARS]
        thought = _THOUGHT.search(said)
        return read_all(
            reply,
            _CODE.findall(said)[-1:],
            _gestures,
            thought=thought[1].strip() if thought else "",
        )


def _gestures(source: str) -> Iterator[Gesture]:
    for call in read_calls(source):
        name = call.name.removeprefix("pyautogui.").removeprefix("computer.")
        if name not in _READERS:
            fail(FaultKind.UNKNOWN_ACTION, f"There is no function called {show(call.name)}.")
        yield from _READERS[name](call)


def _at(call: PythonCall, first: int = 0) -> tuple[Place, ...]:
    x, y = call.argument("x", first), call.argument("y", first + 1)
    if isinstance(x, list | tuple):
        x, y = (*x, None, None)[:2]
    return () if x is None and y is None else ((number(x, "x"), number(y, "y")),)


def _click(button: str, clicks: int) -> Callable[[PythonCall], Iterator[Gesture]]:
    def read(call: PythonCall) -> Iterator[Gesture]:
        chosen = call.argument("button", default=button)
        if chosen not in {"left", "middle", "right"}:
            fail(FaultKind.BAD_ARGUMENTS, f"There is no button called {show(chosen)}.")
        yield Gesture(Do.CLICK, _at(call), chosen, clicks)

    return read


def _pointer(do: Do) -> Callable[[PythonCall], Iterator[Gesture]]:
    def read(call: PythonCall) -> Iterator[Gesture]:
        places = _at(call)
        if not places and do is not Do.RELEASE:
            fail(FaultKind.BAD_ARGUMENTS, "x and y are missing.")
        yield Gesture(do, places)

    return read


def _scroll(call: PythonCall, *, is_horizontal: bool = False) -> Iterator[Gesture]:
    turns = notches(number(call.argument("clicks", 0), "clicks"))
    turned = (turns, 0) if is_horizontal else (0, -turns)
    yield Gesture(Do.SCROLL, _at(call, 1), notches=turned)


def _hscroll(call: PythonCall) -> Iterator[Gesture]:
    return _scroll(call, is_horizontal=True)


def _type(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.TYPE, text=text(call.argument("message", 0), "message"))


def _press(call: PythonCall) -> Iterator[Gesture]:
    names = call.argument("keys", 0)
    for name in names if isinstance(names, list) else [names]:
        yield Gesture(Do.KEYS, keys=split_keys(name))


def _hotkey(call: PythonCall) -> Iterator[Gesture]:
    names = call.args[0] if call.args and isinstance(call.args[0], list) else list(call.args)
    yield Gesture(Do.KEYS, keys=split_keys(names or call.argument("keys")))


def _held(do: Do) -> Callable[[PythonCall], Iterator[Gesture]]:
    def read(call: PythonCall) -> Iterator[Gesture]:
        yield Gesture(do, keys=split_keys(call.argument("key", 0)))

    return read


def _wait(call: PythonCall) -> Iterator[Gesture]:
    yield Gesture(Do.WAIT, seconds=seconds(call.argument("seconds", 0), _WAIT_S))


def _terminate(call: PythonCall) -> Iterator[Gesture]:
    status, answer = call.argument("status", 0, "success"), call.argument("answer", 1)
    if status not in {"success", "failure"}:
        fail(FaultKind.BAD_ARGUMENTS, f"status must be success or failure, not {show(status)}.")
    if status == "failure":
        yield Gesture(Do.GIVE_UP, text=text(answer or "", "answer"))
    else:
        yield Gesture(Do.ANSWER, text=text(answer, "answer")) if answer else Gesture(Do.DONE)


_READERS: dict[str, Callable[[PythonCall], Iterator[Gesture]]] = {
    "click": _click("left", 1),
    "rightClick": _click("right", 1),
    "middleClick": _click("middle", 1),
    "doubleClick": _click("left", 2),
    "tripleClick": _click("left", 3),
    "triple_click": _click("left", 3),
    "moveTo": _pointer(Do.MOVE),
    "dragTo": _pointer(Do.DRAG),
    "scroll": _scroll,
    "hscroll": _hscroll,
    "write": _type,
    "typewrite": _type,
    "press": _press,
    "hotkey": _hotkey,
    "keyDown": _held(Do.KEYS_DOWN),
    "keyUp": _held(Do.KEYS_UP),
    "wait": _wait,
    "terminate": _terminate,
}

OPENCUA = Family(
    name="opencua",
    adapters=frozenset({"openai"}),
    sizer=SmartResize(28, 3136, 12_845_056),
    declaration=OpenCuaDeclaration(),
    parser=OpenCuaParser(),
    coordinates=Coordinates(Kind.RATIO),
    history=History(turns=50, pictures=3, is_summary=True),
    source="xlang-ai/OpenCUA evaluation/agentnetbench/agent/opencua.py",
)
