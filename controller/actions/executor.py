"""Validate and execute actions on the machines and the session of one trial."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.actions.arguments import check
from controller.observation.results import ActionResult, bounded
from evaluators.coordinates import coordinates_in
from evaluators.strict import SESSION
from foundation.errors import OffScreenError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.actions.session import SessionState
    from controller.actions.space import Action, ActionSpace
    from evaluators.coordinates import Coordinate
    from provisioning.protocols import Machine


class ActionExecutor:
    """Executes the actions of one trial.

    Args:
        space: the available actions.
        machines: machines by role.
        state: session state that session actions modify.
    """

    def __init__(
        self, space: ActionSpace, machines: Mapping[str, Machine], state: SessionState
    ) -> None:
        self._space = space
        self._machines = machines
        self._state = state

    def execute(self, action: Action) -> ActionResult | None:
        """Validate and execute an action.

        Returns:
            What it returns to the agent besides the next screenshots; None for most actions.

        Raises:
            InvalidActionError: unknown role, action, key or application, or invalid arguments; the
                class says which.
            ActionError: the action failed on the machine.
            LinkError: communication with the machine failed.
        """
        action = self._space.understand(action)
        tool = self._space.find(action)
        args = check(tool, action.args)
        role = action.on or SESSION
        if role == SESSION:
            result = tool.mark.function(self._state, **args)
        elif role not in self._machines:  # a tool server
            result = tool.mark.function(**args)
        else:
            machine = self._machines[role]
            if any(True for _ in coordinates_in(tool, args)):
                require_on_screen(coordinates_in(tool, args), machine.screen.size())
            result = tool.mark.function(machine, **args)
        if not isinstance(result, ActionResult):
            return None
        return replace(result, text=bounded(result.text), call=f"{role}.{tool.name}")


def require_on_screen(coordinates: Iterable[Coordinate], size_px: tuple[int, int]) -> None:
    """Verify that coordinates are on a screen.

    Args:
        coordinates: those of an action; see `evaluators.coordinates.coordinates_in`.
        size_px: width and height of the screen, or of the picture that the coordinates refer to.

    Raises:
        OffScreenError: a coordinate is outside.
    """
    for name, value, axis in coordinates:
        if value >= size_px[axis]:
            raise OffScreenError(
                f"{name} = {value} is outside the screen.",
                details=f"The screen has {size_px[0]} x {size_px[1]} px, counted from 0.",
            )
