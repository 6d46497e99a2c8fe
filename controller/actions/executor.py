"""Validate and execute actions on the machines and the session of one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import InvalidActionError
from evaluators.model.base import SESSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.session import SessionState
    from controller.actions.space import Action, ActionSpace
    from provisioning.protocols import Machine

_AXES = {"x": 0, "to_x": 0, "y": 1, "to_y": 1}


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
        tool = self._space.find(action)
        args = tool.check(action.args, error=InvalidActionError)
        role = action.on or SESSION
        if role == SESSION:
            tool.mark.function(self._state, **args)
            return
        machine = self._machines[role]
        _require_on_screen(machine, args)
        tool.mark.function(machine, **args)


def _require_on_screen(machine: Machine, args: Mapping[str, object]) -> None:
    places = {name: value for name, value in args.items() if name in _AXES}
    if not places:
        return
    size = machine.screen.size()
    for name, value in places.items():
        if isinstance(value, int) and value >= size[_AXES[name]]:
            raise InvalidActionError(
                f"{name} = {value} is outside the screen.",
                details=f"The screen has {size[0]} x {size[1]} px, counted from 0.",
            )
