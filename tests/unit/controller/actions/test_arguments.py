from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.arguments import check, understand
from controller.actions.space import Action, ActionSpace
from controller.actions.vocabulary import action_tools
from foundation.errors import InvalidActionError
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from evaluators.schema import Tool
    from provisioning.protocols import Json


def tool(name: str, on: str = "desktop") -> Tool:
    return action_tools()[on][name]


@pytest.mark.parametrize(
    ("name", "args", "meant"),
    [
        ("click", {"x": 640.0, "y": 2}, {"x": 640, "y": 2}),
        ("key", {"keys": ["ctrl+s"]}, {"keys": ["ctrl", "s"]}),
        ("key", {"keys": ["Ctrl + Shift", "t"]}, {"keys": ["Ctrl", "Shift", "t"]}),
        ("key", {"keys": "ctrl+s"}, {"keys": ["ctrl", "s"]}),
        ("key", {"keys": "Return"}, {"keys": ["Return"]}),
        ("key", {"keys": '["ctrl", "s"]'}, {"keys": ["ctrl", "s"]}),
        ("key", {"keys": '["ctrl+s"]'}, {"keys": ["ctrl", "s"]}),
        ("key", {"keys": ["ctrl++"]}, {"keys": ["ctrl", "+"]}),
    ],
)
def test_other_spellings_are_understood_and_noted(
    name: str, args: dict[str, Json], meant: dict[str, Json]
) -> None:
    understood, notes = understand(tool(name), args)
    assert understood == meant
    assert [type(value) for value in understood.values()] == list(map(type, meant.values()))
    assert len(notes) == sum(repr(args[key]) != repr(meant[key]) for key in args)
    assert understand(tool(name), understood) == (meant, ())
    check(tool(name), understood)


def test_note_has_what_was_written() -> None:
    _, notes = understand(tool("click"), {"x": 640.0, "y": 2})
    assert notes == ("x: 640.0 as 640",)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("key", {"keys": ["+"]}),
        ("key", {"keys": ["plus", "KP_Add"]}),
        ("type_text", {"text": "640.0"}),
        ("type_text", {"text": '["ctrl", "s"]'}),
        ("open_app", {"name": '"Terminal"'}),
        ("scroll", {"x": 1, "y": 2, "notches": -3}),
    ],
)
def test_right_arguments_stay_as_they_are(name: str, args: dict[str, Json]) -> None:
    assert understand(tool(name), args) == (args, ())


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("click", {"x": 640.5, "y": 2}, "not 640.5"),
        ("click", {"x": True, "y": 2}, "not true"),
        ("click", {"x": "true", "y": 2}, 'not "true"'),
        ("click", {"x": "640", "y": 2}, 'not "640"'),
        ("key", {"keys": ["ctrl+nokey"]}, "no key called 'nokey'"),
        ("key", {"keys": 7}, "not 7"),
    ],
)
def test_other_values_are_refused(name: str, args: dict[str, Json], message: str) -> None:
    understood, _ = understand(tool(name), args)
    with pytest.raises(InvalidActionError) as caught:
        check(tool(name), understood)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "args",
    [
        {"x": 1, "y": 2, "scroll_x": 0, "scroll_y": 100},
        {"x": 1, "y": 2, "direction": "down", "amount": 3},
        {"x": 1, "y": 2, "notches": 3, "direction": "left"},
    ],
)
def test_scrolling_of_other_toolkits_is_answered_with_what_there_is(args: dict[str, Any]) -> None:
    with pytest.raises(InvalidActionError) as caught:
        check(tool("scroll"), args)
    message = str(caught.value)
    assert "notches = 3 shows what is further down" in message
    assert "sideways = 3 shows what is further right" in message


def test_missing_argument_is_described() -> None:
    with pytest.raises(InvalidActionError, match="y is missing: from the top edge, px"):
        check(tool("click"), {"x": 1})


def test_space_understands_calls_of_models() -> None:
    space = ActionSpace({"d": DESKTOP}, action_tools())
    action = space.action_of_tool("d__click", {"x": 640.0, "y": 2})
    assert action == Action("click", "d", {"x": 640, "y": 2})
    assert action.notes == ("x: 640.0 as 640",)
    assert space.understand(action) is action
    unknown = Action("clik", "d", {"x": 640.0})
    assert space.understand(unknown) is unknown
