"""The action space of one trial: the available actions by role, as data."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from controller.actions.arguments import understand
from controller.actions.marked import MARKS, mark_arguments, resolve_marks, with_marks
from controller.models.messages import Tool as ModelTool
from evaluators.coordinates import points_in
from evaluators.strict import SESSION
from foundation.errors import InvalidActionError, UnknownActionError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from controller.actions.marked import MarkNaming
    from controller.observation.marks import Mark
    from evaluators.catalogue import Tools
    from evaluators.schema import Tool
    from provisioning.protocols import Json

DEFAULT_GROUPS = ("gui",)
_SEPARATOR = "__"
_SHOWN_CHARS = 80


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
        has_marks: whether the agent is shown marks, so that actions may name them.
        groups: groups of actions on machines that are offered (`evaluators.decorators.GROUPS`).
        naming: how actions name marks.

    Attributes:
        tools: the actions of this trial, by role (``session`` for the session) and name.
        has_marks: whether actions may name marks in place of coordinates.
    """

    def __init__(
        self,
        roles: Mapping[str, str],
        tools: Tools,
        *,
        has_marks: bool = False,
        groups: Collection[str] = DEFAULT_GROUPS,
        naming: MarkNaming = MARKS,
    ) -> None:
        self.has_marks = has_marks
        self._naming = naming
        offered = {
            role: {name: tool for name, tool in tools[kind].items() if tool.mark.group in groups}
            for role, kind in roles.items()
            if kind in tools
        }
        self.tools: dict[str, Mapping[str, Tool]] = {
            **{role: named for role, named in offered.items() if named},
            SESSION: tools[SESSION],
        }

    def with_tools(self, tools: Mapping[str, Mapping[str, Tool]]) -> ActionSpace:
        """Return a space of other tools, by role and name: a part of this one, for a member of a team."""
        space = copy(self)
        space.tools = dict(tools)
        return space

    def add(self, servers: Mapping[str, Mapping[str, Tool]]) -> None:
        """Offer the tools of servers, too, by the server's name."""
        session = self.tools.pop(SESSION)
        self.tools |= servers
        self.tools[SESSION] = session

    def find(self, action: Action) -> Tool:
        """Return the tool of an action.

        Raises:
            UnknownActionError: unknown role or action.
        """
        role = action.on or SESSION
        try:
            if role not in self.tools:
                raise UnknownNameError.of("role", _shown(role), self.tools)
            if action.do not in self.tools[role]:
                raise UnknownNameError.of(f"action on {role}", _shown(action.do), self.tools[role])
        except UnknownNameError as exc:
            raise UnknownActionError(exc.brief, exc.details, exc.resolution) from exc
        return self.tools[role][action.do]

    def understand(self, action: Action) -> Action:
        """Return an action with its arguments as the schema writes them; see `understand`."""
        try:
            args, notes = understand(self.find(action), action.args)
        except InvalidActionError:
            return action
        return replace(action, args=args, notes=(*action.notes, *notes)) if notes else action

    def resolve(self, action: Action, marks: Sequence[Mark]) -> Action:
        """Return an action with coordinates in place of marks.

        Args:
            action: the action.
            marks: the marks of its machine that the agent was shown.

        Raises:
            InvalidActionError: unknown role, action or mark.
        """
        tool, role = self.find(action), action.on or SESSION
        resolved = resolve_marks(tool, action.args, marks, role, self._naming)
        if not resolved.notes:
            return action
        return replace(action, args=resolved.args, notes=(*action.notes, *resolved.notes))

    def log_fields(self, action: Action | None) -> dict[str, Json]:
        """Return an action, and the points on the screen that it names, for the event log."""
        if action is None:
            return {"action": None}
        tool = self.get(action)
        points = [] if tool is None else points_in(tool, action.args)
        return {"action": action.to_dict(), **({"points": points} if points else {})}

    def get(self, action: Action) -> Tool | None:
        """Return the tool of an action; None if the action is unknown."""
        return self.tools.get(action.on or SESSION, {}).get(action.do)

    def model_tools(self) -> tuple[ModelTool, ...]:
        """Return all actions as tools of a model, named ``role__action``."""
        return tuple(
            ModelTool(f"{role}{_SEPARATOR}{name}", tool.description, self.parameters(tool))
            for role, tools in self.tools.items()
            for name, tool in tools.items()
        )

    def parameters(self, tool: Tool) -> dict[str, Any]:
        """Return the JSON schema of an action's arguments, with marks if the agent is shown any."""
        schema = tool.parameters()
        return with_marks(tool, schema, self._naming) if self.has_marks else schema

    def mark_arguments(self, tool: Tool) -> Collection[str]:
        """Return the names of an action's arguments that are numbers of marks."""
        return mark_arguments(tool, self._naming).keys()

    def action_of_tool(self, name: str, args: Mapping[str, Json]) -> Action:
        """Return the action for a tool's name; for unknown names, an action that `find` rejects."""
        role, separator, do = name.partition(_SEPARATOR)
        if not separator:
            role, do = SESSION, name
        return self.understand(Action(do, None if role == SESSION else role, args))


def _shown(name: str) -> str:
    """Return a name for a message; models also send texts of any length as names."""
    return name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}..."
