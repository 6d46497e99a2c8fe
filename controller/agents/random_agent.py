"""Act at random, reproducibly."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from controller.actions.space import Action
from controller.protocol import Turn
from evaluators.coordinates import SCREEN_PATH, axes_of

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from evaluators.schema import Tool
    from provisioning.protocols import Json

_TEXTS = ("hello", "test", "42", "Grüße", "ls", "report", "\n")
_KEYS = ("Return", "Escape", "Tab", "Up", "Down", "Left", "Right", "BackSpace", "space", "a")
_APPS = ("Terminal", "Files", "Text Editor", "Settings", "Tasks", "Contacts")
_COMPLETE_RATIO = 0.02
_WAIT_S = (0.2, 1.0)
_PATH_POINTS = 3
_MAX_INTEGER = 1000
"""Highest value of integers without a maximum."""


class RandomAgent:
    """Chooses role, action and arguments uniformly; occasionally declares the task done.

    Args:
        context: context of the trial; its seed determines all choices.
    """

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._random = random.Random(context.seed)  # noqa: S311 - not used for secrets

    def act(self, observation: Observation) -> Turn:
        """Choose one action."""
        if self._random.random() < _COMPLETE_RATIO:
            return Turn((Action("complete"),))
        role = self._random.choice(sorted(observation.shots))
        tools = self._context.space.tools[role]
        name = self._random.choice(sorted([*tools, "wait"]))
        if name == "wait":
            return Turn((Action("wait", args={"seconds": self._random.uniform(*_WAIT_S)}),))
        height, width = observation.shots[role].frame.shape[:2]
        return Turn((Action(name, role, self._arguments(tools[name], (width, height))),))

    def _arguments(self, tool: Tool, size_px: tuple[int, int]) -> dict[str, Json]:
        axes, paths = axes_of(tool), tool.marked(SCREEN_PATH)
        args: dict[str, Json] = {}
        for key, schema in tool.parameters()["properties"].items():
            if key in axes:
                args[key] = self._random.randrange(size_px[axes[key]])
            elif key in paths:
                args[key] = [[*map(self._random.randrange, size_px)] for _ in range(_PATH_POINTS)]
            elif "default" not in schema or schema.get("type") == "integer":
                args[key] = self._value(key, schema)
        return args

    def _value(self, key: str, schema: dict[str, Any]) -> Json:
        if choices := schema.get("enum") or schema.get("examples"):
            return str(self._random.choice(choices))
        match schema.get("type"):
            case "integer":
                low = schema.get("minimum", 0)
                high = schema.get("maximum", _MAX_INTEGER)
                return self._random.randint(low, max(low, high))
            case "number":
                low = schema.get("minimum", 0.0)
                return self._random.uniform(low, schema.get("maximum", max(low, 1.0)))
            case "array":
                return [self._random.choice(_KEYS)]
            case _:
                return self._random.choice(_APPS if key == "name" else _TEXTS)
