"""Coordinates in a model's tool calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from controller.actions.space import ActionSpace
from controller.agents.model.calls import CallReader
from controller.agents.random_agent import RandomAgent
from controller.models.messages import Message, Reply, Role, ToolCall
from controller.observation.observer import Observation, Screenshot
from controller.observation.pictures import Picture
from controller.protocol import AgentContext
from evaluators.schema import describe
from provisioning.resource import DESKTOP
from tests.unit.evaluators.test_coordinates import lasso

if TYPE_CHECKING:
    from controller.agents.model.calls import Calls

SHOT = Screenshot(np.zeros((200, 320, 3), np.uint8), b"", "")
SCREEN = Picture(SHOT.frame).scaled(0.5)
SPACE = ActionSpace({"pc": DESKTOP}, {"desktop": {"lasso": describe(lasso)}, "session": {}})


def read(name: str, **args: int) -> Calls:
    message = Message(Role.MODEL, calls=(ToolCall("a", name, json.dumps(args)),))
    return CallReader(SPACE).read(Reply(message), {"pc": SCREEN})


def test_coordinates_are_converted_by_type() -> None:
    (action,) = read("pc__lasso", left=10, top=20, x=30, right=40).actions
    assert action.args == {"left": 21, "top": 41, "x": 30, "right": 81}


def test_coordinates_are_checked_against_the_scaled_screenshot() -> None:
    calls = read("pc__lasso", left=10, top=100, x=300, right=159)
    assert calls.actions == ()
    assert "top = 100 is outside the screen. The screen has 160 x 100 px" in calls.fault.replace(
        "\n", " "
    )


def test_random_agent_chooses_points_by_type() -> None:
    observation = Observation(0, {"pc": SHOT})
    agent = RandomAgent(AgentContext("Do it.", SPACE, seed=1))
    actions = [action for _ in range(200) for action in agent.act(observation).actions]
    drawn: list[Any] = [action.args for action in actions if action.do == "lasso"]
    assert max(args["right"] for args in drawn) in range(200, 320)
    assert max(args["bottom"] for args in drawn) in range(150, 200)
    assert max(args["x"] for args in drawn) > 320


def test_unknown_action_is_left_to_the_executor() -> None:
    (action,) = read("pc__laso", x=30, y=1).actions
    assert (action.do, action.args) == ("laso", {"x": 30, "y": 1})


def test_arguments_that_are_nested_too_deep_are_refused() -> None:
    def fault(depth: int) -> str:
        deep = "[" * depth + "1" + "]" * depth
        call = ToolCall("a", "pc__lasso", f'{{"left": {deep}}}')
        calls = CallReader(SPACE).read(Reply(Message(Role.MODEL, calls=(call,))), {"pc": SCREEN})
        assert (calls.actions == ()) == bool(calls.fault)
        # What is remembered of it can be sent, and stored.
        assert len(calls.arguments[0]) < 100
        return calls.fault

    assert "nested more than 32 deep" in fault(32)
    assert "nested more than 32 deep" in fault(400)
    assert "Wrong arguments for lasso" in fault(4)
