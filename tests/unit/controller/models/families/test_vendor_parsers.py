"""Replies in the published formats of vendors' tools, written anew; the modules name the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.models.families.anthropic_computer import AnthropicParser
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.google_computer import GoogleParser
from controller.models.families.openai_computer import OpenAIComputerParser
from controller.models.messages import Stop
from tests.unit.controller.models.families.replies import called, said

if TYPE_CHECKING:
    from controller.models.families.family import Parser

OPENAI, ANTHROPIC, GOOGLE = OpenAIComputerParser(), AnthropicParser(), GoogleParser()
VENDORS: tuple[Parser, ...] = (OPENAI, ANTHROPIC, GOOGLE)


@pytest.mark.parametrize(
    ("action", "gesture"),
    [
        ({"type": "click", "button": "left", "x": 5, "y": 6}, Gesture(Do.CLICK, ((5, 6),))),
        (
            {"type": "click", "button": "wheel", "x": 5, "y": 6},
            Gesture(Do.CLICK, ((5, 6),), "middle"),
        ),
        (
            {"type": "click", "button": "left", "x": 5, "y": 6, "keys": ["CTRL"]},
            Gesture(Do.CLICK, ((5, 6),), keys=("CTRL",)),
        ),
        (
            {"type": "double_click", "x": 5, "y": 6, "keys": None},
            Gesture(Do.CLICK, ((5, 6),), clicks=2),
        ),
        ({"type": "move", "x": 0, "y": 799}, Gesture(Do.MOVE, ((0, 799),))),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
            Gesture(Do.DRAG, ((1, 2), (3, 4), (5, 6))),
        ),
        (
            {"type": "scroll", "x": 5, "y": 6, "scroll_x": 0, "scroll_y": 360},
            Gesture(Do.SCROLL, ((5, 6),), notches=(0, 3)),
        ),
        (
            {"type": "scroll", "x": 5, "y": 6, "scroll_x": -120, "scroll_y": -10},
            Gesture(Do.SCROLL, ((5, 6),), notches=(-1, -1)),
        ),
        ({"type": "keypress", "keys": ["CTRL", "S"]}, Gesture(Do.KEYS, keys=("CTRL", "s"))),
        ({"type": "type", "text": "a;id\n"}, Gesture(Do.TYPE, text="a;id\n")),
        ({"type": "wait"}, Gesture(Do.WAIT, seconds=2.0)),
        ({"type": "screenshot"}, Gesture(Do.LOOK)),
    ],
)
def test_openai_actions(action: dict[str, Any], gesture: Gesture) -> None:
    parsed = OPENAI.read(called(("computer", {"actions": [action]})))
    assert (parsed.gestures, parsed.fault) == ((gesture,), None)
    # The older computer-use-preview has one action in a call.
    assert OPENAI.read(called(("computer", {"action": action}))).gestures == (gesture,)


def test_openai_batches_keep_their_order_and_their_call() -> None:
    parsed = OPENAI.read(
        called(
            ("session__submit", {"answer": "7"}),
            (
                "computer",
                {"actions": [{"type": "move", "x": 1, "y": 2}, {"type": "type", "text": "x"}]},
            ),
        )
    )
    assert [gesture.do for gesture in parsed.gestures] == [Do.CALL, Do.MOVE, Do.TYPE]
    assert parsed.calls == (0, 1, 1)
    assert parsed.gestures[0].args == {"answer": "7"}


@pytest.mark.parametrize(
    ("args", "gestures"),
    [
        (("left_click", {"coordinate": [5, 6]}), [Gesture(Do.CLICK, ((5, 6),))]),
        (("left_click", {}), [Gesture(Do.CLICK)]),
        (
            ("left_click", {"coordinate": [5, 6], "text": "ctrl+shift"}),
            [Gesture(Do.CLICK, ((5, 6),), keys=("ctrl", "shift"))],
        ),
        (("right_click", {"coordinate": [5, 6]}), [Gesture(Do.CLICK, ((5, 6),), "right")]),
        (("middle_click", {"coordinate": [5, 6]}), [Gesture(Do.CLICK, ((5, 6),), "middle")]),
        (("double_click", {"coordinate": [5, 6]}), [Gesture(Do.CLICK, ((5, 6),), clicks=2)]),
        (("triple_click", {"coordinate": [5, 6]}), [Gesture(Do.CLICK, ((5, 6),), clicks=3)]),
        (("mouse_move", {"coordinate": [5, 6]}), [Gesture(Do.MOVE, ((5, 6),))]),
        (
            ("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4]}),
            [Gesture(Do.DRAG, ((1, 2), (3, 4)))],
        ),
        (("left_mouse_down", {}), [Gesture(Do.PRESS)]),
        (("left_mouse_up", {"coordinate": [3, 4]}), [Gesture(Do.RELEASE, ((3, 4),))]),
        (
            ("scroll", {"coordinate": [5, 6], "scroll_direction": "up", "scroll_amount": 3}),
            [Gesture(Do.SCROLL, ((5, 6),), notches=(0, -3))],
        ),
        (
            ("scroll", {"scroll_direction": "right", "scroll_amount": 2}),
            [Gesture(Do.SCROLL, notches=(2, 0))],
        ),
        (("key", {"text": "ctrl+s"}), [Gesture(Do.KEYS, keys=("ctrl", "s"))]),
        (("key", {"text": "Tab", "repeat": 3}), [Gesture(Do.KEYS, keys=("Tab",))] * 3),
        (
            ("hold_key", {"text": "shift", "duration": 2}),
            [Gesture(Do.KEYS, keys=("shift",), seconds=2)],
        ),
        (("type", {"text": "Größe"}), [Gesture(Do.TYPE, text="Größe")]),
        (("wait", {"duration": 3}), [Gesture(Do.WAIT, seconds=3)]),
        (("screenshot", {}), [Gesture(Do.LOOK)]),
        (("cursor_position", {}), [Gesture(Do.LOOK)]),
        (("zoom", {"region": [0, 0, 9, 9]}), [Gesture(Do.ZOOM, ((0, 0), (9, 9)))]),
    ],
)
def test_anthropic_actions_of_one_tool_and_of_the_toolset(
    args: tuple[str, dict[str, Any]], gestures: list[Gesture]
) -> None:
    name, given = args
    single = ANTHROPIC.read(called(("computer", {"action": name, **given})))
    assert (list(single.gestures), single.fault) == (gestures, None)
    member = ANTHROPIC.read(called((name, given)))
    assert (list(member.gestures), member.fault) == (gestures, None)


@pytest.mark.parametrize(
    ("call", "gestures"),
    [
        # Before Gemini 3.5
        (("click_at", {"x": 5, "y": 6}), [Gesture(Do.CLICK, ((5, 6),))]),
        (("hover_at", {"x": 5, "y": 6}), [Gesture(Do.MOVE, ((5, 6),))]),
        (
            ("type_text_at", {"x": 5, "y": 6, "text": "a"}),
            [Gesture(Do.CLICK, ((5, 6),)), Gesture(Do.TYPE, text="a", clears=True, submits=True)],
        ),
        (
            (
                "type_text_at",
                {"x": 5, "y": 6, "text": "a", "press_enter": False, "clear_before_typing": False},
            ),
            [Gesture(Do.CLICK, ((5, 6),)), Gesture(Do.TYPE, text="a")],
        ),
        (("key_combination", {"keys": "Control+A"}), [Gesture(Do.KEYS, keys=("Control", "a"))]),
        (
            ("scroll_document", {"direction": "down"}),
            [Gesture(Do.SCROLL, ((500, 500),), notches=(0, 5))],
        ),
        (
            ("scroll_at", {"x": 5, "y": 6, "direction": "left", "magnitude": 320}),
            [Gesture(Do.SCROLL, ((5, 6),), notches=(-2, 0))],
        ),
        (
            ("drag_and_drop", {"x": 1, "y": 2, "destination_x": 3, "destination_y": 4}),
            [Gesture(Do.DRAG, ((1, 2), (3, 4)))],
        ),
        (("wait_5_seconds", {}), [Gesture(Do.WAIT, seconds=5)]),
        # Since Gemini 3.5
        (("click", {"x": 5, "y": 6, "intent": "press"}), [Gesture(Do.CLICK, ((5, 6),))]),
        (("triple_click", {"x": 5, "y": 6}), [Gesture(Do.CLICK, ((5, 6),), clicks=3)]),
        (("right_click", {"x": 5, "y": 6}), [Gesture(Do.CLICK, ((5, 6),), "right")]),
        (("mouse_down", {"x": 5, "y": 6}), [Gesture(Do.PRESS, ((5, 6),))]),
        (("mouse_up", {"x": 5, "y": 6}), [Gesture(Do.RELEASE, ((5, 6),))]),
        (
            ("drag_and_drop", {"start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4}),
            [Gesture(Do.DRAG, ((1, 2), (3, 4)))],
        ),
        (
            ("scroll", {"x": 5, "y": 6, "direction": "up", "magnitude_in_pixels": 200}),
            [Gesture(Do.SCROLL, ((5, 6),), notches=(0, -2))],
        ),
        (
            ("scroll", {"x": 5, "y": 6, "direction": "down"}),
            [Gesture(Do.SCROLL, ((5, 6),), notches=(0, 3))],
        ),
        (("type", {"text": "a"}), [Gesture(Do.TYPE, text="a")]),
        (("type", {"text": "a", "press_enter": True}), [Gesture(Do.TYPE, text="a", submits=True)]),
        (("press_key", {"key": "Enter"}), [Gesture(Do.KEYS, keys=("Enter",))]),
        (("hotkey", {"keys": ["ctrl", "c"]}), [Gesture(Do.KEYS, keys=("ctrl", "c"))]),
        (("key_down", {"key": "shift"}), [Gesture(Do.KEYS_DOWN, keys=("shift",))]),
        (("key_up", {"key": "shift"}), [Gesture(Do.KEYS_UP, keys=("shift",))]),
        (("wait", {}), [Gesture(Do.WAIT, seconds=1)]),
        (("take_screenshot", {}), [Gesture(Do.LOOK)]),
        # Mobile
        (("long_press", {"x": 5, "y": 6}), [Gesture(Do.LONG_PRESS, ((5, 6),), seconds=2)]),
        (("open_app", {"app_name": "Tasks"}), [Gesture(Do.OPEN, text="Tasks")]),
        (("go_back", {}), [Gesture(Do.BUTTON, text="BACK")]),
    ],
)
def test_google_functions(call: tuple[str, dict[str, Any]], gestures: list[Gesture]) -> None:
    parsed = GOOGLE.read(called(call))
    assert (list(parsed.gestures), parsed.fault) == (gestures, None)


@pytest.mark.parametrize("parser", VENDORS)
def test_text_without_a_call_ends_the_task_and_nothing_is_a_fault(parser: Parser) -> None:
    assert parser.read(said("It is done.")).gestures == (Gesture(Do.DONE, text="It is done."),)
    nothing = parser.read(said(""))
    assert (nothing.gestures, nothing.fault and nothing.fault.kind) == ((), FaultKind.NO_CALL)
    cut = parser.read(said("It is", Stop.LENGTH))
    assert (cut.gestures, cut.fault and cut.fault.kind) == ((), FaultKind.CUT_OFF)


@pytest.mark.parametrize(
    ("parser", "call", "kind"),
    [
        (OPENAI, ("computer", {"actions": []}), FaultKind.BAD_ARGUMENTS),
        (OPENAI, ("computer", {"actions": ["click"]}), FaultKind.BAD_ARGUMENTS),
        (OPENAI, ("computer", {"actions": [{"type": "fly"}]}), FaultKind.UNKNOWN_ACTION),
        (OPENAI, ("computer", {"actions": [{"type": "click", "x": 1}]}), FaultKind.BAD_ARGUMENTS),
        (
            OPENAI,
            ("computer", {"actions": [{"type": "keypress", "keys": [";id"]}]}),
            FaultKind.UNKNOWN_KEY,
        ),
        (
            OPENAI,
            ("computer", {"actions": [{"type": "wait"}] * 101}),
            FaultKind.BAD_ARGUMENTS,
        ),
        (OPENAI, ("shell", {}), FaultKind.UNKNOWN_ACTION),
        (ANTHROPIC, ("computer", {"action": ["left_click"]}), FaultKind.UNKNOWN_ACTION),
        (ANTHROPIC, ("left_click", {"coordinate": "here"}), FaultKind.BAD_ARGUMENTS),
        (ANTHROPIC, ("left_click", {"coordinate": [1, 2, 3]}), FaultKind.BAD_ARGUMENTS),
        (ANTHROPIC, ("key", {"text": "a", "repeat": 1e9}), FaultKind.BAD_ARGUMENTS),
        (ANTHROPIC, ("type", {"text": "x" * 1_000_000}), FaultKind.BAD_ARGUMENTS),
        (ANTHROPIC, ("wait", {"duration": -1}), FaultKind.BAD_ARGUMENTS),
        (GOOGLE, ("click", {"x": True, "y": 1}), FaultKind.BAD_ARGUMENTS),
        (GOOGLE, ("click", "[1, 2]"), FaultKind.BAD_ARGUMENTS),
        (GOOGLE, ("click", '{"x": 1,'), FaultKind.UNPARSABLE),
        (GOOGLE, ("type", {"text": "a", "press_enter": "yes"}), FaultKind.BAD_ARGUMENTS),
        (GOOGLE, ("scroll", {"x": 1, "y": 2, "direction": "in"}), FaultKind.BAD_ARGUMENTS),
    ],
)
def test_faults_have_a_class_and_are_short(
    parser: Parser, call: tuple[str, dict[str, Any] | str], kind: FaultKind
) -> None:
    parsed = parser.read(called(call))
    assert parsed.fault is not None
    assert (parsed.gestures, parsed.fault.kind) == ((), kind)
    assert len(parsed.fault.text) < 300


def test_calls_before_a_fault_are_kept() -> None:
    parsed = ANTHROPIC.read(
        called(("left_click", {"coordinate": [1, 2]}), ("fly", {}), ("wait", {}))
    )
    assert [gesture.do for gesture in parsed.gestures] == [Do.CLICK]
    assert parsed.fault is not None
    assert parsed.fault.kind is FaultKind.UNKNOWN_ACTION


def test_arguments_that_are_encoded_twice_are_understood() -> None:
    parsed = ANTHROPIC.read(called(("left_click", '"{\\"coordinate\\": [1, 2]}"')))
    assert parsed.gestures == (Gesture(Do.CLICK, ((1, 2),)),)
