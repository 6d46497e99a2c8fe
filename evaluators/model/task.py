"""Data model of a task: the validated content of a task file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from evaluators.model.node import Mode, Node
from evaluators.model.oracle import OracleStep, SetupEntry
from evaluators.model.parameter import (  # noqa: TC001  (pydantic reads it)
    Parameter,
    ParameterName,
)
from evaluators.model.pressing import Press  # noqa: TC001  (pydantic reads it)
from evaluators.model.roles import Role, kinds_of, place_of
from evaluators.strict import SESSION
from foundation.errors import SpecError
from foundation.strict import Name, Strict, is_empty
from provisioning.egress.policy import read_destinations
from provisioning.registry import registry
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Sequence


Difficulty = Literal["easy", "medium", "hard"]
INFEASIBLE_CHECK = "declared_infeasible"
"""The evaluator that is met if the agent declared that the task cannot be done."""


ORACLE = "oracle"
"""Name of the solution in the key `oracle`."""
SUDO_PASSWORD = "mesocosm"  # noqa: S105 - public: the instruction states it
"""Password of the agent's user in tasks with `sudo`."""
_SUDO_NOTE = f'You may use sudo; your password is "{SUDO_PASSWORD}".'
Cheat = Literal["write-paths", "copy-reference", "overwrite-both", "guess-answers", "give-up"]
"""Standard attempts to pass without doing the task; see `controller.validation.cheats`."""
Solution = Annotated[tuple[OracleStep, ...], Field(min_length=1, strict=False)]
"""Steps that run one after the other."""


class Limits(Strict):
    """Limits of a trial.

    Attributes:
        steps: executed actions.
        turns: replies of agents, each of which may have several actions; None means no limit.
        seconds: time of the agent and of the completed calls to its model; time spent by the
            machines does not count.
        repetitions: the same action with the same arguments, in a row.
        invalid_actions: unknown actions or wrong arguments, in a row.
        stalled_steps: executed actions since a subtask was last completed, or a node met where the
            task has no subtasks; None means no limit.
        tokens: input and output tokens of the model; None means no limit.
        usd: price of the model's tokens in US dollars; None means no limit.
        wall_seconds: wall-clock time since the first observation; None means ten times `seconds`,
            at least half an hour.
    """

    steps: int = Field(default=15, ge=1)
    seconds: float = Field(default=300.0, gt=0)
    repetitions: int = Field(default=5, ge=2)
    invalid_actions: int = Field(default=3, ge=1)
    stalled_steps: int | None = Field(default=None, ge=1, exclude_if=is_empty)
    tokens: int | None = Field(default=None, ge=1, exclude_if=is_empty)
    usd: float | None = Field(default=None, gt=0, exclude_if=is_empty)
    wall_seconds: float | None = Field(default=None, gt=0, exclude_if=is_empty)
    turns: int | None = Field(default=None, ge=1, exclude_if=is_empty)


class ToolServer(Strict):
    """An MCP server that a task offers to agents beside the screen.

    Attributes:
        on: role of the machine that it runs on, as the agent's user.
        command: program and arguments; it speaks the protocol on its standard streams.
        distractor: whether its tools do not help with the task.
    """

    on: str
    command: tuple[str, ...] = Field(min_length=1, strict=False)
    distractor: bool = False


class Part(Strict):
    """A subtask of a compiled task: its nodes and its application.

    Attributes:
        id: its name in the task; differs from the ids of nodes outside parts.
        subtask: id of the subtask.
        app: the application used.
        nodes: ids of its nodes, which are in the graph and in no other part.
    """

    id: Name
    subtask: Name
    app: str
    nodes: tuple[str, ...] = Field(min_length=1, strict=False)


class MayChange(Strict):
    """What a trial may change on one machine; anything else is a side effect.

    Patterns are those of `fnmatch`; a pattern that matches a folder covers its contents.

    Attributes:
        files: paths, absolute or starting with ~/.
        settings: dconf paths such as ``/org/gnome/desktop/interface/*``, or schemas such as
            ``org.gnome.desktop.interface``; on phones ``system/screen_brightness``.
        processes: names of programs.
        records: addresses of content providers, such as ``com.android.contacts/*``.
    """

    files: tuple[str, ...] = Field(default=(), strict=False)
    settings: tuple[str, ...] = Field(default=(), strict=False)
    processes: tuple[str, ...] = Field(default=(), strict=False)
    records: tuple[str, ...] = Field(default=(), strict=False)


class Task(Strict):
    """One task: an instruction, the machines it needs, setup, graph, limits, reference solution.

    Attributes:
        id: its name in the suite.
        instruction: the instruction for the agent.
        parameters: values drawn from the trial's seed; ``${name}`` is replaced in the texts of
            `instruction`, `setup`, `graph`, `may_change` and the solutions.
        roles: kind of each machine.
        egress: destinations that machines may reach, by role; none by default. For the format, see
            `provisioning.egress.policy.read_destinations`.
        sudo: whether the agent's user has a password and may use sudo on the task's desktops; the
            instruction that the agent receives then names the password.
        code: whether agents may run code on the task's desktops, even if the run offers none.
        setup: operations, and conditions to wait for, before the agent's first observation.
        graph: the graph of evaluators.
        press_before_judging: keys that are pressed for the agent when the trial is over and not passed,
            such as Ctrl+S; results list them.
        limits: limits of a trial.
        tools: MCP servers that agents are offered beside the screen, by name.
        oracle: the reference solution.
        oracles: further reference solutions, or all of them, by name; each must pass on its own.
        must_fail: attempts that look like solutions and must not pass, by name.
        legitimate: cheats of `mesocosm suite validate` that are legitimate ways to do this task.
        parts: the subtasks that the task was compiled from; empty for a task written as a graph.
        may_change: what a trial may change, by role, in addition to what the graph's checks name.
        infeasible: why the task cannot be done, for human readers; the agent must declare it
            infeasible. Empty for feasible tasks.
        tags: labels for selecting tasks; like `difficulty` and `source`, they do not affect scores.
        difficulty: the author's estimate.
        source: origin of the task: a paper, a ticket, a URL.
    """

    id: Name
    instruction: str = Field(min_length=1)
    parameters: dict[ParameterName, Parameter] = Field(default_factory=dict, exclude_if=is_empty)
    roles: dict[str, Role] = Field(min_length=1)
    egress: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, exclude_if=is_empty
    )
    sudo: bool = Field(default=False, exclude_if=is_empty)
    code: bool = Field(default=False, exclude_if=is_empty)
    setup: tuple[SetupEntry, ...] = Field(default=(), strict=False)
    graph: tuple[Node, ...] = Field(min_length=1, strict=False)
    press_before_judging: tuple[Press, ...] = Field(default=(), strict=False, exclude_if=is_empty)
    limits: Limits = Limits()
    tools: dict[Name, ToolServer] = Field(default_factory=dict, exclude_if=is_empty)
    oracle: tuple[OracleStep, ...] = Field(default=(), strict=False)
    oracles: dict[Name, Solution] = Field(default_factory=dict, exclude_if=is_empty)
    must_fail: dict[Name, Solution] = Field(default_factory=dict, exclude_if=is_empty)
    legitimate: tuple[Cheat, ...] = Field(default=(), strict=False, exclude_if=is_empty)
    parts: tuple[Part, ...] = Field(default=(), strict=False, exclude_if=is_empty)
    may_change: dict[str, MayChange] = Field(default_factory=dict, exclude_if=is_empty)
    infeasible: str = Field(default="", exclude_if=is_empty)
    tags: tuple[Name, ...] = Field(default=(), strict=False, exclude_if=is_empty)
    difficulty: Difficulty | None = Field(default=None, exclude_if=is_empty)
    source: str = Field(default="", exclude_if=is_empty)

    @field_validator("roles")
    @classmethod
    def _keep_session_free(cls, roles: dict[str, Role]) -> dict[str, Role]:
        if SESSION in roles:
            raise PydanticCustomError("role", "'session' is not a machine and cannot be a role.")
        return roles

    @model_validator(mode="after")
    def _check_tools(self) -> Self:
        for name, server in self.tools.items():
            role = self.roles.get(server.on)
            if role is not None and role.kind != DESKTOP:
                message = "The tool server {name} is on {role}: only desktops run tool servers."
                raise PydanticCustomError(
                    "tools", message, {"name": repr(name), "role": repr(server.on)}
                )
            if name in {*self.roles, SESSION} or "__" in name:
                message = "The tool server {name} needs a name of its own, without '__'."
                raise PydanticCustomError("tools", message, {"name": repr(name)})
            if server.on not in self.roles:
                known = ", ".join(sorted(self.roles))
                message = "The tool server {name} is on the unknown role {role}. Known: {known}."
                raise PydanticCustomError(
                    "tools", message, {"name": repr(name), "role": repr(server.on), "known": known}
                )
        return self

    @model_validator(mode="after")
    def _check_pressing(self) -> Self:
        for press in self.press_before_judging:
            role = self.roles.get(press.on)
            if role is not None and role.kind != DESKTOP:
                message = "Keys are pressed before judging on desktops only, and {role} is none."
                raise PydanticCustomError("press", message, {"role": repr(press.on)})
        return self

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        owned = [name for part in self.parts for name in part.nodes]
        names = [part.id for part in self.parts]
        free = {node.id for node in self.graph}.difference(owned)
        unknown = set(owned).difference(node.id for node in self.graph)
        for problem, faulty in (
            ("Several parts have the node {name}.", _twice(owned)),
            (
                "Two parts, or a part and a node outside parts, have the id {name}.",
                _twice([*names, *free]),
            ),
            ("A part has the node {name}, which is not in the graph.", sorted(unknown)),
        ):
            if faulty:
                raise PydanticCustomError("parts", problem, {"name": repr(faulty[0])})
        return self

    @model_validator(mode="after")
    def _know_roles_that_change(self) -> Self:
        for role in self.may_change:
            if role not in self.roles:
                known = ", ".join(sorted(self.roles))
                message = "`may_change` names the unknown role {role}. Known: {known}."
                raise PydanticCustomError(
                    "may_change", message, {"role": repr(role), "known": known}
                )
        return self

    @model_validator(mode="after")
    def _read_egress(self) -> Self:
        for role, entries in self.egress.items():
            if role not in self.roles:
                known = ", ".join(sorted(self.roles))
                message = "`egress` names the unknown role {role}. Known: {known}."
                raise PydanticCustomError("egress", message, {"role": repr(role), "known": known})
            try:
                read_destinations(entries)
            except SpecError as exc:
                raise PydanticCustomError("egress", "{why}", {"why": str(exc)}) from exc
        return self

    @model_validator(mode="after")
    def _require_a_desktop_for_sudo(self) -> Self:
        kinds = registry().kinds
        if self.sudo and not any(kinds[spec.kind].has_sudo for spec in self.roles.values()):
            raise PydanticCustomError("sudo", "`sudo` is for desktops, and no role is one.")
        return self

    @model_validator(mode="after")
    def _require_a_solution(self) -> Self:
        if not self.oracle and not self.oracles:
            raise PydanticCustomError("oracle", "A task needs `oracle` or `oracles`.")
        if self.oracle and ORACLE in self.oracles:
            raise PydanticCustomError("oracle", "Two solutions have the name 'oracle'.")
        return self

    @property
    def full_instruction(self) -> str:
        """The instruction with what the agent must know to use the rights that it has."""
        return f"{self.instruction}\n\n{_SUDO_NOTE}" if self.sudo else self.instruction

    @property
    def solutions(self) -> dict[str, tuple[OracleStep, ...]]:
        """Reference solutions by name, with the default one first."""
        return {**({ORACLE: self.oracle} if self.oracle else {}), **self.oracles}

    @property
    def credit_nodes(self) -> tuple[Node, ...]:
        """Nodes that earn credit: all except keep nodes."""
        return tuple(node for node in self.graph if node.mode is not Mode.KEEP)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each role."""
        return kinds_of(self.roles)

    def place_of(self, role: str | None) -> str | None:
        """Return the place of a role: its kind, or ``session``; None if it is unknown."""
        return place_of(self.roles, role)


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
