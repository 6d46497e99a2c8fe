"""An agent that does nothing: its score shows the credit that tasks give for no work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.space import Action
from controller.protocol import Turn

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext


class NoopAgent:
    """Waits a second, so that changes without an agent can occur, and declares the task done."""

    def __init__(self, context: AgentContext) -> None:
        del context

    def act(self, observation: Observation) -> Turn:
        """Wait, then complete."""
        if observation.step == 0:
            return Turn((Action("wait", args={"seconds": 1.0}),))
        return Turn((Action("complete"),))
