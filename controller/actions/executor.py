"""Validate and execute actions on the machines and the session of one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.arguments import check
from evaluators.coordinates import axes_of
from evaluators.strict import SESSION
from foundation.errors import InvalidActionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.session import SessionState
    from controller.actions.space import Action, ActionSpace
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

    def execute(self, action: Action) -> None:
        """Validate and execute an action.

        Raises:
            InvalidActionError: unknown role, action, key or application, or invalid arguments.
            ActionError: the action failed on the machine.
            LinkError: communication with the machine failed.
        """
        action = self._space.understand(action)
        tool = self._space.find(action)
        args = check(tool, action.args)
        role = action.on or SESSION
        if role == SESSION:
            tool.mark.function(self._state, **args)
            return
        machine = self._machines[role]
        if axes := axes_of(tool):
            require_on_screen(args, axes, machine.screen.size())
        tool.mark.function(machine, **args)


def require_on_screen(
    args: Mapping[str, object], axes: Mapping[str, int], size_px: tuple[int, int]
) -> None:
    """Verify that coordinates are on a screen.

    Args:
        args: arguments of an action; others than coordinates are ignored.
        axes: axis of each coordinate; see `evaluators.coordinates.axes_of`.
        size_px: width and height of the screen, or of the picture that the coordinates refer to.

    Raises:
        InvalidActionError: a coordinate is outside.
    """
    for name, axis in axes.items():
        value = args.get(name)
        if isinstance(value, int) and value >= size_px[axis]:
            raise InvalidActionError(
                f"{name} = {value} is outside the screen.",
                details=f"The screen has {size_px[0]} x {size_px[1]} px, counted from 0.",
            )
