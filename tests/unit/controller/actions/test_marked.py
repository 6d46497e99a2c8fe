from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.marked import resolve_marks, with_marks
from controller.actions.space import Action, ActionSpace
from controller.actions.vocabulary import action_tools
from controller.observation.marks import Mark
from foundation.errors import ArgumentsError, UnknownMarkError
from provisioning.protocols import Bounds
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from provisioning.protocols import Json

MARKS = (
    Mark(3, Bounds(10, 20, 30, 40), "push button", "Save", "tree"),
    Mark(4, Bounds(100, 100, 102, 104), "icon", "", "icon"),
    Mark(7, Bounds(0, 0, 4, 4), "icon", "", "icon"),
)
TOOLS = action_tools()


@pytest.mark.parametrize(
    ("on", "name", "args", "resolved"),
    [
        ("desktop", "click", {"mark": 3}, {"x": 20, "y": 30}),
        ("desktop", "click", {"mark": 3, "held": ["ctrl"]}, {"x": 20, "y": 30, "held": ["ctrl"]}),
        ("desktop", "drag", {"mark": 3, "to_mark": 4}, {"x": 20, "y": 30, "to_x": 101, "to_y": 102}),
        ("desktop", "drag", {"mark": 3, "to_x": 1, "to_y": 2}, {"x": 20, "y": 30, "to_x": 1, "to_y": 2}),
        ("phone", "long_tap", {"mark": 4}, {"x": 101, "y": 102}),
        ("phone", "swipe_direction", {"mark": 4, "direction": "up"}, {"x": 101, "y": 102, "direction": "up"}),
    ],
)  # fmt: skip
def test_marks_stand_for_the_middle_of_their_element(
    on: str, name: str, args: dict[str, Json], resolved: dict[str, Json]
) -> None:
    tool = TOOLS[on][name]
    assert resolve_marks(tool, args, MARKS, "role").args == resolved
    tool.check(resolved)


@pytest.mark.parametrize("number", [5, -1, "3", True, None, 3.5, [3]])
def test_unknown_mark_is_answered_with_those_there_are(number: Json) -> None:
    with pytest.raises(UnknownMarkError) as caught:
        resolve_marks(TOOLS["desktop"]["click"], {"mark": number}, MARKS, "pc")
    assert "3-4, 7" in str(caught.value)


def test_mark_without_any_shown_asks_for_coordinates() -> None:
    with pytest.raises(UnknownMarkError, match="you were shown no marks"):
        resolve_marks(TOOLS["desktop"]["click"], {"mark": 1}, (), "pc")


def test_mark_together_with_coordinates_is_refused() -> None:
    with pytest.raises(ArgumentsError, match="not both"):
        resolve_marks(TOOLS["desktop"]["click"], {"mark": 3, "x": 1}, MARKS, "pc")


def test_actions_without_a_point_keep_their_arguments() -> None:
    tool = TOOLS["desktop"]["type_text"]
    assert resolve_marks(tool, {"text": "a", "mark": 3}, MARKS, "pc").args["mark"] == 3
    assert with_marks(tool, tool.parameters()) == tool.parameters()


def test_models_are_offered_marks_only_if_there_are_any() -> None:
    roles = {"pc": DESKTOP, "phone": PHONE}
    plain = {tool.name: tool.parameters for tool in ActionSpace(roles, TOOLS).model_tools()}
    space = ActionSpace(roles, TOOLS, has_marks=True)
    marked = {tool.name: tool.parameters for tool in space.model_tools()}
    assert "mark" not in plain["pc__click"]["properties"]
    assert plain["pc__click"]["required"] == ["x", "y"]
    assert {"mark", "x", "y"} <= marked["pc__click"]["properties"].keys()
    assert "required" not in marked["pc__click"]
    assert {"mark", "to_mark"} <= marked["phone__swipe"]["properties"].keys()
    assert marked["phone__swipe_direction"]["required"] == ["direction"]
    assert marked["pc__type_text"] == plain["pc__type_text"]


def test_resolved_mark_is_noted_for_the_log() -> None:
    space = ActionSpace({"pc": DESKTOP}, TOOLS, has_marks=True)
    action = space.resolve(Action("click", "pc", {"mark": 3}), MARKS)
    assert (action.args, action.notes) == ({"x": 20, "y": 30}, ("mark 3 as (20, 30)",))
