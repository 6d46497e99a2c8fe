from __future__ import annotations

from typing import Any

import pytest

from controller.actions.space import ActionSpace
from controller.actions.vocabulary import action_tools
from controller.agents.model.acting import Hands
from controller.models.families.family import Screen
from controller.models.families.gestures import Do, FaultKind, Gesture, ParseError
from controller.models.pictures.sizing import Size

SIZE = Size(1080, 2400)


def hands(kind: str) -> Hands:
    tools = ActionSpace({"it": kind}, action_tools()).tools
    return Hands("it", kind, tools["it"], tools["session"])


def acted(hand: Hands, gesture: Gesture) -> list[tuple[str, dict[str, Any]]]:
    screen = Screen("it", "phone" if hand.kind == "phone" else "desktop", SIZE, SIZE)
    return [(action.do, dict(action.args)) for action in hand.act(gesture, screen)]


@pytest.mark.parametrize(
    ("gesture", "actions"),
    [
        (Gesture(Do.CLICK, ((5, 6),)), [("click", {"x": 5, "y": 6})]),
        (Gesture(Do.CLICK, ((5, 6),), clicks=2), [("double_click", {"x": 5, "y": 6})]),
        (Gesture(Do.CLICK, ((5, 6),), "right"), [("right_click", {"x": 5, "y": 6})]),
        (Gesture(Do.MOVE, ((5, 6),)), [("move", {"x": 5, "y": 6})]),
        (
            Gesture(Do.DRAG, ((1, 2), (3, 4))),
            [("drag", {"x": 1, "y": 2, "to_x": 3, "to_y": 4})],
        ),
        (
            Gesture(Do.SCROLL, ((5, 6),), notches=(0, 3)),
            [("scroll", {"x": 5, "y": 6, "notches": 3})],
        ),
        (
            Gesture(Do.SCROLL, notches=(0, -3)),
            [("scroll", {"x": 540, "y": 1200, "notches": -3})],
        ),
        (Gesture(Do.KEYS, keys=("ctrl", "s")), [("key", {"keys": ["ctrl", "s"]})]),
        (
            Gesture(Do.TYPE, text="a", clears=True, submits=True),
            [
                ("key", {"keys": ["ctrl", "a"]}),
                ("key", {"keys": ["BackSpace"]}),
                ("type_text", {"text": "a\n"}),
            ],
        ),
        (Gesture(Do.OPEN, text="Files"), [("open_app", {"name": "Files"})]),
        (
            Gesture(Do.WAIT, seconds=25),
            [("wait", {"seconds": 10}), ("wait", {"seconds": 10}), ("wait", {"seconds": 5})],
        ),
        (Gesture(Do.LOOK), [("wait", {"seconds": 0.1})]),
        (Gesture(Do.ANSWER, text="7"), [("submit", {"answer": "7"}), ("complete", {})]),
        (Gesture(Do.DONE), [("complete", {})]),
        (Gesture(Do.GIVE_UP, text="no"), [("declare_infeasible", {"reason": "no"})]),
    ],
)
def test_gestures_on_a_desktop(gesture: Gesture, actions: list[tuple[str, dict[str, Any]]]) -> None:
    assert acted(hands("desktop"), gesture) == actions


@pytest.mark.parametrize(
    ("gesture", "actions"),
    [
        (Gesture(Do.CLICK, ((5, 6),)), [("tap", {"x": 5, "y": 6})]),
        (Gesture(Do.CLICK, ((5, 6),), "right"), [("long_tap", {"x": 5, "y": 6})]),
        (
            Gesture(Do.DRAG, ((1, 2), (3, 4))),
            [("swipe", {"x": 1, "y": 2, "to_x": 3, "to_y": 4})],
        ),
        # Scrolling down is swiping up: 3 notches of 6 % of 2400 px; it ends 5 % before the edge.
        (
            Gesture(Do.SCROLL, ((540, 1200),), notches=(0, 3)),
            [("swipe", {"x": 540, "y": 1200, "to_x": 540, "to_y": 768})],
        ),
        (
            Gesture(Do.SCROLL, ((540, 1200),), notches=(0, -20)),
            [("swipe", {"x": 540, "y": 1200, "to_x": 540, "to_y": 2279})],
        ),
        (Gesture(Do.KEYS, keys=("Return",)), [("key", {"name": "ENTER"})]),
        (Gesture(Do.KEYS, keys=("a",)), [("type_text", {"text": "a"})]),
        (Gesture(Do.BUTTON, text="HOME"), [("key", {"name": "HOME"})]),
        (
            Gesture(Do.TYPE, text="a", submits=True),
            [("type_text", {"text": "a"}), ("key", {"name": "ENTER"})],
        ),
    ],
)
def test_gestures_on_a_phone(gesture: Gesture, actions: list[tuple[str, dict[str, Any]]]) -> None:
    assert acted(hands("phone"), gesture) == actions


def test_gestures_without_a_place_are_where_the_pointer_is() -> None:
    hand = hands("desktop")
    with pytest.raises(ParseError) as caught:
        acted(hand, Gesture(Do.CLICK))
    assert caught.value.kind is FaultKind.BAD_ARGUMENTS
    acted(hand, Gesture(Do.MOVE, ((7, 8),)))
    assert acted(hand, Gesture(Do.CLICK)) == [("click", {"x": 7, "y": 8})]
    assert acted(hand, Gesture(Do.DRAG, ((9, 9),))) == [
        ("drag", {"x": 7, "y": 8, "to_x": 9, "to_y": 9})
    ]
    assert acted(hand, Gesture(Do.SCROLL, notches=(0, 1)))[0][1]["x"] == 9


@pytest.mark.parametrize(
    ("kind", "gesture"),
    [
        ("desktop", Gesture(Do.CLICK, ((1, 1),), clicks=9)),
        ("desktop", Gesture(Do.BUTTON, text="HOME")),
        ("desktop", Gesture(Do.ASK)),
        ("phone", Gesture(Do.KEYS, keys=("ctrl", "s"))),
        ("phone", Gesture(Do.MOVE, ((1, 1),))),
    ],
)
def test_what_a_machine_does_not_offer_is_a_fault(kind: str, gesture: Gesture) -> None:
    with pytest.raises(ParseError) as caught:
        acted(hands(kind), gesture)
    assert caught.value.kind is FaultKind.UNSUPPORTED
