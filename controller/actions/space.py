"""The action space of one trial: what can be done where, checked and carried out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from appliance.base.errors import InvalidActionError, UnknownNameError
from controller.actions.vocabulary import action_tools
from evaluators.model.base import SESSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.session import SessionState
    from evaluators.schema import Tool
    from provisioning.protocols import Json, Machine

_AXES = {"x": 0, "to_x": 0, "y": 1, "to_y": 1}
_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of an agent, as data.

    Attributes:
        do: the action's name.
        on: the role acted on; None for actions on the session.
        args: its arguments.
    """

    do: str
    on: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Json]:
        """Give it as JSON, for logs and scripts."""
        return {"on": self.on, "do": self.do, "with": dict(self.args)}


class ActionSpace:
    """The actions that the machines of one environment and its session offer.

    Args:
        machines: by role.
        state: what actions on the session write to.

    Attributes:
        tools: every action, by role (``session`` for the session) and name.
    """

    def __init__(self, machines: Mapping[str, Machine], state: SessionState) -> None:
        self._machines = machines
        self._state = state
        known = action_tools()
        self.tools: dict[str, Mapping[str, Tool]] = {
            **{role: known[machine.info.kind.value] for role, machine in machines.items()},
            SESSION: known[SESSION],
        }

    def execute(self, action: Action) -> None:
        """Check an action and carry it out.

        Raises:
            InvalidActionError: unknown role, action, key or application, or wrong arguments.
            ActionError: the machine refused.
            LinkError: the talk with the machine failed.
        """
        role = action.on or SESSION
        tool = self._find(role, action.do)
        args = tool.check(action.args, error=InvalidActionError)
        if role != SESSION:
            _check_on_screen(self._machines[role], args)
        subject = self._state if role == SESSION else self._machines[role]
        tool.mark.function(subject, **args)

    def _find(self, role: str, name: str) -> Tool:
        try:
            if role not in self.tools:
                raise UnknownNameError.of("role", role, self.tools)
            if name not in self.tools[role]:
                raise UnknownNameError.of(f"action on {role}", name, self.tools[role])
        except UnknownNameError as exc:
            raise InvalidActionError(exc.brief, exc.details, exc.resolution) from exc
        return self.tools[role][name]

    def openai_tools(self) -> list[dict[str, Any]]:
        """Give all actions as tools of a chat completion, named ``role__action``."""
        return [
            tool.openai(f"{role}{_SEPARATOR}{name}")
            for role, tools in self.tools.items()
            for name, tool in tools.items()
        ]

    def action_of_tool(self, name: str, args: Mapping[str, Json]) -> Action:
        """Give the action behind a tool's name; unknown names give one that `execute` refuses."""
        role, separator, do = name.partition(_SEPARATOR)
        if not separator:
            role, do = SESSION, name
        return Action(do, None if role == SESSION else role, args)


def _check_on_screen(machine: Machine, args: Mapping[str, object]) -> None:
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
