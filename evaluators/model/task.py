"""A task as data: what a task file holds, once it was read and validated."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator
from pydantic_core import PydanticCustomError

from appliance.base.errors import SpecError
from evaluators.model.base import SESSION, Name, Strict, is_empty
from evaluators.model.node import Mode, Node
from evaluators.model.oracle import OracleStep
from evaluators.parameters.declaration import (  # noqa: TC001  (pydantic reads it)
    Parameter,
    ParameterName,
)
from provisioning.egress.policy import read_destinations
from provisioning.protocols import Kind  # noqa: TC001  (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


Difficulty = Literal["easy", "medium", "hard"]
INFEASIBLE_CHECK = "declared_infeasible"
"""The evaluator that is met when the agent said that the task cannot be done."""


ORACLE = "oracle"
"""What the solution without a name of its own is called."""
Cheat = Literal["write-paths", "copy-reference", "overwrite-both", "guess-answers", "give-up"]
"""Standard ways to pass without doing the task; see `controller.validation.cheats`."""
Solution = Annotated[tuple[OracleStep, ...], Field(min_length=1, strict=False)]
"""Steps that are played one after the other."""


class SetupStep(Strict):
    """One setup operation, done before the agent sees anything."""

    on: str
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


class Limits(Strict):
    """When a trial is cut off.

    Attributes:
        steps: actions executed.
        seconds: time of the agent and of the answered calls of its model; what the machines take
            is not charged.
        repetitions: the same action with the same arguments, in a row.
        invalid_actions: unknown actions or wrong arguments, in a row.
        tokens: of the model, in both directions; None is no limit.
        usd: price of the model's tokens, US dollars; None is no limit.
        wall_seconds: wall time from the first observation on, whatever took it; None allows
            ten times `seconds`, half an hour at least.
    """

    steps: int = Field(default=15, ge=1)
    seconds: float = Field(default=300.0, gt=0)
    repetitions: int = Field(default=5, ge=2)
    invalid_actions: int = Field(default=3, ge=1)
    tokens: int | None = Field(default=None, ge=1, exclude_if=is_empty)
    usd: float | None = Field(default=None, gt=0, exclude_if=is_empty)
    wall_seconds: float | None = Field(default=None, gt=0, exclude_if=is_empty)


class Part(Strict):
    """A subtask of a compiled task: which nodes it is made of, and where it is done.

    Attributes:
        id: its name in the task; no free node's id.
        subtask: id of the subtask that was used.
        app: the application worked in.
        nodes: ids of its nodes, each of the graph and of no other part.
    """

    id: Name
    subtask: Name
    app: str
    nodes: tuple[str, ...] = Field(min_length=1, strict=False)


class MayChange(Strict):
    """What a trial may change on one machine; anything else is a side effect.

    Patterns are those of `fnmatch`; a pattern of a folder covers all that is in it.

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
        instruction: what the agent is told.
        parameters: values drawn from the trial's seed; ``${name}`` stands for one in the texts of
            `instruction`, `setup`, `graph`, `may_change` and the solutions.
        roles: kind of each machine.
        egress: what machines may reach, by role; nothing where nothing is said. Each entry as
            `provisioning.egress.policy.read_destinations` reads it.
        setup: done before the agent sees anything.
        graph: of evaluators.
        limits: when a trial is cut off.
        oracle: the reference solution.
        oracles: further reference solutions, or all of them, by name; each passes by itself.
        must_fail: attempts that look like solutions and must not pass, by name.
        legitimate: cheats of `mesocosm suite validate` that are honest ways to do this task.
        parts: the subtasks that the task was compiled from; none for a task written as a graph.
        may_change: what a trial may change, by role, beside what the graph's checks name.
        infeasible: why the task cannot be done, for its readers; the agent must say so. Empty for
            tasks that can be done.
        tags: for choosing tasks; like `difficulty` and `source` they change no score.
        difficulty: as the author sees it.
        source: where the task comes from: a paper, a ticket, an address.
    """

    id: Name
    instruction: str = Field(min_length=1)
    parameters: dict[ParameterName, Parameter] = Field(default_factory=dict, exclude_if=is_empty)
    roles: dict[str, Annotated[Kind, Field(strict=False)]] = Field(min_length=1)
    egress: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, exclude_if=is_empty
    )
    setup: tuple[SetupStep, ...] = Field(default=(), strict=False)
    graph: tuple[Node, ...] = Field(min_length=1, strict=False)
    limits: Limits = Limits()
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
    def _keep_session_free(cls, roles: dict[str, Kind]) -> dict[str, Kind]:
        if SESSION in roles:
            raise PydanticCustomError("role", "'session' is no machine and cannot be a role.")
        return roles

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        owned = [name for part in self.parts for name in part.nodes]
        names = [part.id for part in self.parts]
        free = {node.id for node in self.graph}.difference(owned)
        unknown = set(owned).difference(node.id for node in self.graph)
        for problem, faulty in (
            ("Parts share the node {name}.", _twice(owned)),
            ("Two parts are called {name}, or a free node is.", _twice([*names, *free])),
            ("A part has the node {name}, which the graph has not.", sorted(unknown)),
        ):
            if faulty:
                raise PydanticCustomError("parts", problem, {"name": repr(faulty[0])})
        return self

    @model_validator(mode="after")
    def _know_roles_that_change(self) -> Self:
        for role in self.may_change:
            if role not in self.roles:
                known = ", ".join(sorted(self.roles))
                message = "There is no role {role} that may change. Known: {known}."
                raise PydanticCustomError(
                    "may_change", message, {"role": repr(role), "known": known}
                )
        return self

    @model_validator(mode="after")
    def _read_egress(self) -> Self:
        for role, entries in self.egress.items():
            if role not in self.roles:
                known = ", ".join(sorted(self.roles))
                message = "There is no role {role} to let out. Known: {known}."
                raise PydanticCustomError("egress", message, {"role": repr(role), "known": known})
            try:
                read_destinations(entries)
            except SpecError as exc:
                raise PydanticCustomError("egress", "{why}", {"why": str(exc)}) from exc
        return self

    @model_validator(mode="after")
    def _require_a_solution(self) -> Self:
        if not self.oracle and not self.oracles:
            raise PydanticCustomError("oracle", "A task needs `oracle`, or `oracles` by name.")
        if self.oracle and ORACLE in self.oracles:
            raise PydanticCustomError("oracle", "Two solutions are called 'oracle'.")
        return self

    @property
    def solutions(self) -> dict[str, tuple[OracleStep, ...]]:
        """The reference solutions by name, the one that is played by default first."""
        return {**({ORACLE: self.oracle} if self.oracle else {}), **self.oracles}

    @property
    def credit_nodes(self) -> tuple[Node, ...]:
        """The nodes that earn credit: all but the keep nodes."""
        return tuple(node for node in self.graph if node.mode is not Mode.KEEP)

    def place_of(self, role: str | None) -> str | None:
        """Return the place behind a role: ``desktop``, ``phone``, ``session``; None if unknown."""
        return place_of(self.roles, role)


def place_of(roles: Mapping[str, Kind], role: str | None) -> str | None:
    """Return the place behind a role: ``desktop``, ``phone``, ``session``; None if unknown."""
    if role is None or role == SESSION:
        return SESSION
    kind = roles.get(role)
    return None if kind is None else kind.value


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
