"""Qwen3-VL and Qwen3.5: a JSON call, or one of XML tags, between ``tool_call`` tags; a grid of 0 to 1000.

Source: QwenLM/Qwen3-VL ``cookbooks/utils/agent_function_call.py`` and ``mobile_agent.ipynb``; Qwen3.5's
chat template for the XML form.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import (
    fail,
    notches,
    number,
    place,
    read_call,
    read_object,
    required,
    seconds,
    show,
    text,
)
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import held_keys, split_keys
from controller.models.families.reading import MAX_REPLY_CHARS, read_all
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import SmartResize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply, ToolCall

STEPS = 1000
_NAMES = {"desktop": "computer_use", "phone": "mobile_use"}
_DESKTOP = (
    "key",
    "type",
    "mouse_move",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "scroll",
    "hscroll",
    "wait",
    "terminate",
    "answer",
)
_PHONE = (
    "click",
    "long_press",
    "swipe",
    "type",
    "system_button",
    "open",
    "wait",
    "terminate",
    "answer",
)
SYSTEM = """\
# Tools

You may call functions to act on a {kind}. Their signatures are given between <tools></tools>:
<tools>
{tools}
</tools>

Return each call as a JSON object with its name and arguments between <tool_call></tool_call>:
<tool_call>
{{"name": <function-name>, "arguments": <arguments-as-JSON>}}
</tool_call>

# Format of a reply

Thought: why the next step is what it is, in one or two sentences.
Action: the step in one sentence.
Then one <tool_call> with it. When the task is done, terminate with status success; if an answer was \
asked for, use answer; if the task cannot be done, terminate with status failure."""
ABOUT = """\
Act on a {kind} with mouse and keyboard, or fingers. The screen is 1000 x 1000: coordinates go from 0 to \
1000, x from the left, y from the top. Positive pixels scroll up, negative ones down."""
USER = "The task: {instruction}"
_PX_PER_NOTCH = 100.0
_MOST_CLICKS = 20
_BUTTONS = {"back": "BACK", "home": "HOME", "menu": "APP_SWITCH", "enter": "ENTER"}
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\n]{1,64})>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\n]{1,64})>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)


class QwenDeclaration:
    """Declares the function in the system prompt."""

    texts: tuple[str, ...] = (SYSTEM, ABOUT, USER, *_DESKTOP, *_PHONE)

    def declare(self, brief: Brief) -> Declared:
        """Return the prompt; the server needs no tools."""
        kind = brief.screen.kind
        properties: dict[str, Any] = {
            "action": {"type": "string", "enum": list(_DESKTOP if kind == "desktop" else _PHONE)},
            "coordinate": {"type": "array", "description": "[x, y]"},
            "text": {"type": "string", "description": "for type, answer, system_button and open"},
            "time": {"type": "number", "description": "seconds"},
            "status": {"type": "string", "enum": ["success", "failure"]},
        }
        if kind == "desktop":
            properties |= {
                "keys": {"type": "array", "description": "for key, pressed together"},
                "pixels": {"type": "number", "description": "for scroll and hscroll"},
            }
        else:
            properties["coordinate2"] = {"type": "array", "description": "where a swipe ends"}
        function = {
            "type": "function",
            "function": {
                "name": _NAMES[kind],
                "description": ABOUT.format(kind=kind),
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": ["action"],
                },
            },
        }
        system = SYSTEM.format(kind=kind, tools=json.dumps(function))
        return Declared(system, (), USER.format(instruction=brief.instruction))


class QwenParser:
    """Reads calls in the text of a reply, or those that the server has already parsed."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all calls."""
        said = reply.message.text[:MAX_REPLY_CHARS]
        calls: Iterable[str | ToolCall] = reply.message.calls or _CALL.findall(said)
        thought = said.partition("<tool_call>")[0].strip()
        return read_all(reply, calls, _gestures, thought=thought or reply.message.reasoning)


def _gestures(call: str | ToolCall) -> Iterator[Gesture]:
    name, args = _call_of(call) if isinstance(call, str) else (call.name, read_call(call))
    if name not in _NAMES.values():
        fail(FaultKind.UNKNOWN_ACTION, f"There is no function called {show(name)}.")
    # Qwen3.5 sometimes writes `type` in place of `action`.
    action = args.get("action", args.get("type"))
    if not isinstance(action, str) or action not in _READERS:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no action called {show(action)}.")
    yield from _READERS[action](args)


def _call_of(body: str) -> tuple[object, dict[str, Any]]:
    if match := _FUNCTION.search(body):
        parameters = _PARAMETER.findall(match[2])
        return match[1].strip(), {name: _value(value) for name, value in parameters}
    call = read_object(body.strip() or "null")
    return call.get("name"), read_object(call.get("arguments", {}))


def _value(body: str) -> object:
    """Return a parameter of the XML form: JSON if it is a list or a number, else text."""
    if body.strip()[:1] not in "[{-0123456789":
        return body
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return value


def _click(button: str, clicks: int) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        at = args.get("coordinate")
        places = () if at is None else (place(at),)
        yield Gesture(Do.CLICK, places, button, clicks, held_keys(args.get("text")))

    return read


def _at(do: Do) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        # A drag begins where the pointer is.
        yield Gesture(do, (place(required(args, "coordinate")),))

    return read


def _swipe(args: dict[str, Any]) -> Iterator[Gesture]:
    ends = place(required(args, "coordinate")), place(required(args, "coordinate2"))
    yield Gesture(Do.DRAG, ends)


def _scroll(args: dict[str, Any], *, is_horizontal: bool = False) -> Iterator[Gesture]:
    pixels = number(required(args, "pixels"), "pixels")
    # Small numbers are clicks of the wheel; positive ones are up, or right.
    turns = notches(pixels if abs(pixels) <= _MOST_CLICKS else pixels / _PX_PER_NOTCH)
    at = args.get("coordinate")
    places = () if at is None else (place(at),)
    turned = (turns, 0) if is_horizontal else (0, -turns)
    yield Gesture(Do.SCROLL, places, notches=turned, keys=held_keys(args.get("text")))


def _hscroll(args: dict[str, Any]) -> Iterator[Gesture]:
    return _scroll(args, is_horizontal=True)


def _keys(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.KEYS, keys=split_keys(required(args, "keys", "text")))


def _type(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.TYPE, text=text(required(args, "text")))


def _wait(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.WAIT, seconds=seconds(args.get("time"), 1.0, "time"))


def _long_press(args: dict[str, Any]) -> Iterator[Gesture]:
    at = place(required(args, "coordinate"))
    yield Gesture(Do.LONG_PRESS, (at,), seconds=seconds(args.get("time"), 1.0, "time"))


def _button(args: dict[str, Any]) -> Iterator[Gesture]:
    name = text(required(args, "button", "text")).lower()
    if name not in _BUTTONS:
        fail(FaultKind.BAD_ARGUMENTS, f"There is no button called {show(name)}.")
    yield Gesture(Do.BUTTON, text=_BUTTONS[name])


def _open(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.OPEN, text=text(required(args, "text")))


def _answer(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.ANSWER, text=text(required(args, "text")))


def _terminate(args: dict[str, Any]) -> Iterator[Gesture]:
    status = args.get("status", "success")
    if status not in {"success", "failure"}:
        fail(FaultKind.BAD_ARGUMENTS, f"status must be success or failure, not {show(status)}.")
    yield Gesture(Do.DONE if status == "success" else Do.GIVE_UP)


_READERS: dict[str, Callable[[dict[str, Any]], Iterator[Gesture]]] = {
    "key": _keys,
    "type": _type,
    "mouse_move": _at(Do.MOVE),
    "left_click": _click("left", 1),
    "click": _click("left", 1),
    "left_click_drag": _at(Do.DRAG),
    "right_click": _click("right", 1),
    "middle_click": _click("middle", 1),
    "double_click": _click("left", 2),
    "triple_click": _click("left", 3),
    "scroll": _scroll,
    "hscroll": _hscroll,
    "wait": _wait,
    "terminate": _terminate,
    "answer": _answer,
    "long_press": _long_press,
    "swipe": _swipe,
    "system_button": _button,
    "open": _open,
}

QWEN3_VL = Family(
    name="qwen3-vl",
    adapters=frozenset({"openai"}),
    sizer=SmartResize(32, 64 * 32 * 32, 2560 * 32 * 32),
    declaration=QwenDeclaration(),
    parser=QwenParser(),
    coordinates=Coordinates(Kind.GRID, STEPS),
    history=History(turns=50, pictures=4, is_summary=True),
    source="QwenLM/Qwen3-VL cookbooks/utils/agent_function_call.py",
)
