"""A minimal custom agent: a class with one method, without imports from Mesocosm."""

from __future__ import annotations

from typing import Any

LINE = "echo hello > note.txt\n"


class Typist:
    """Opens a terminal on the desktop and types a line into it, whatever the task is."""

    def __init__(self, context: Any) -> None:  # noqa: ANN401 - an AgentContext
        self.turns = [
            {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
            {"on": "desktop", "do": "type_text", "with": {"text": LINE}},
            {"do": "complete"},
        ]
        context.diary.write("plan", task=context.instruction, turns=len(self.turns))

    def act(self, observation: Any) -> Any:  # noqa: ANN401 - an Observation; an action
        """Look at the screen and return the next action."""
        frame = observation.shots["desktop"].frame  # uint8 array (height, width, 3), RGB
        assert frame.ndim == 3  # noqa: S101, PLR2004
        return self.turns.pop(0)
