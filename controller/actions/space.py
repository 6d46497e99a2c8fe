"""The action space of one trial: the available actions by role, as data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from controller.actions.arguments import understand
from controller.models.messages import Tool as ModelTool
from evaluators.coordinates import axes_of, points_in
from evaluators.strict import SESSION
from foundation.errors import InvalidActionError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Tools
    from evaluators.schema import Tool
    from provisioning.protocols import Json

_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of an agent, as data.

    Attributes:
        do: the action's name.
        on: the target role; None for actions on the session.
        args: its arguments.
        notes: which of its arguments the agent wrote differently, for the log.
    """

    do: str
    on: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Json]:
        """Return the action as JSON, for logs and scripts."""
        return {"on": self.on, "do": self.do, "with": dict(self.args)}


class ActionSpace:
    """The actions that the machines of one environment and its session offer.

    It only describes actions; `ActionExecutor` executes them.

    Args:
        roles: kind of each role.
        tools: all known actions, by place and name.

    Attributes:
        tools: the actions of this trial, by role (``session`` for the session) and name.
    """

    def __init__(self, roles: Mapping[str, str], tools: Tools) -> None:
        self.tools: dict[str, Mapping[str, Tool]] = {
            **{role: tools[kind] for role, kind in roles.items() if kind in tools},
            SESSION: tools[SESSION],
        }

    @classmethod
    def of_tools(cls, tools: Mapping[str, Mapping[str, Tool]]) -> ActionSpace:
        """Return a space of given tools, by role and name: a part of another one, for a member of a team."""
        space = cls.__new__(cls)
        space.tools = dict(tools)
        return space

    def find(self, action: Action) -> Tool:
        """Return the tool of an action.

        Raises:
            InvalidActionError: unknown role or action.
        """
        role = action.on or SESSION
        try:
            if role not in self.tools:
                raise UnknownNameError.of("role", role, self.tools)
            if action.do not in self.tools[role]:
                raise UnknownNameError.of(f"action on {role}", action.do, self.tools[role])
        except UnknownNameError as exc:
            raise InvalidActionError(exc.brief, exc.details, exc.resolution) from exc
        return self.tools[role][action.do]

    def understand(self, action: Action) -> Action:
        """Return an action with its arguments as the schema writes them; see `understand`."""
        try:
            args, notes = understand(self.find(action), action.args)
        except InvalidActionError:
            return action
        return replace(action, args=args, notes=(*action.notes, *notes)) if notes else action

    def axes(self, action: Action) -> Mapping[str, int]:
        """Return the axis of each coordinate of an action; empty if the action is unknown."""
        tool = self._known(action)
        return {} if tool is None else axes_of(tool)

    def log_fields(self, action: Action | None) -> dict[str, Json]:
        """Return an action, and the points on the screen that it names, for the event log."""
        if action is None:
            return {"action": None}
        tool = self._known(action)
        points = [] if tool is None else points_in(tool, action.args)
        return {"action": action.to_dict(), **({"points": points} if points else {})}

    def _known(self, action: Action) -> Tool | None:
        return self.tools.get(action.on or SESSION, {}).get(action.do)

    def model_tools(self) -> tuple[ModelTool, ...]:
        """Return all actions as tools of a model, named ``role__action``."""
        return tuple(
            ModelTool(f"{role}{_SEPARATOR}{name}", tool.description, tool.parameters())
            for role, tools in self.tools.items()
            for name, tool in tools.items()
        )

    def action_of_tool(self, name: str, args: Mapping[str, Json]) -> Action:
        """Return the action for a tool's name; for unknown names, an action that `find` rejects."""
        role, separator, do = name.partition(_SEPARATOR)
        if not separator:
            role, do = SESSION, name
        return self.understand(Action(do, None if role == SESSION else role, args))
