"""Tasks and suites as data: what a task file says, once it has been read and found right."""

from __future__ import annotations

import difflib
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from appliance.base.errors import SpecError, UnknownNameError
from evaluators.outcome import SESSION
from provisioning.egress.proxy import read_destinations
from provisioning.protocols import Kind  # noqa: TC001  (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Element

Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
"""Lower-case words with hyphens: ids of tasks, nodes and suites."""


class Strict(BaseModel):
    """Base of all models here: frozen, strict, and exact about unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, data: Any) -> Any:  # noqa: ANN401
        if not isinstance(data, dict):
            return data
        names = {field.alias or name for name, field in cls.model_fields.items()}
        for key in data:
            if key not in names and key not in cls.model_fields:
                near = difflib.get_close_matches(str(key), sorted(names), n=1, cutoff=0.5)
                raise PydanticCustomError(
                    "unknown_key",
                    "There is no key {key} here.{hint} Known: {known}.",
                    {
                        "key": repr(key),
                        "raw_key": key,
                        "hint": f" Did you mean {near[0]!r}?" if near else "",
                        "known": ", ".join(sorted(names)),
                    },
                )
        return data


class Mode(StrEnum):
    """Whether a met node can lose its credit.

    ``once`` latches: something happened (an app was opened). ``hold`` is a state that must still
    be so when the trial ends.
    """

    ONCE = "once"
    HOLD = "hold"


class Check(Strict):
    """An evaluator, where it looks, and its arguments (written ``with`` in task files)."""

    on: str
    check: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


def _is_empty(value: object) -> bool:
    return not value


class Node(Check):
    """A node of a task's graph; active once all nodes of `after` are met.

    Attributes:
        id: its name in the graph.
        mode: whether it can lose its credit.
        after: ids of the nodes that must be met before it counts.
        alternatives: further checks (written ``or`` in task files), on any role; one of all is
            enough.
        app: the application worked in, for metrics about switching; the role when empty.
        hint: what an agent may be told while the node is unmet; must not give the answer away.
    """

    id: Name
    mode: Annotated[Mode, Field(strict=False)] = Mode.HOLD
    after: tuple[str, ...] = Field(default=(), strict=False)
    # Left out of dumps when not given: digests of suites from before these keys stay as they were.
    alternatives: tuple[Check, ...] = Field(
        default=(), alias="or", strict=False, exclude_if=_is_empty
    )
    app: str = Field(default="", exclude_if=_is_empty)
    hint: str = Field(default="", exclude_if=_is_empty)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of which one must be met; the node's own comes first."""
        return (self, *self.alternatives)


class SetupStep(Strict):
    """One setup operation, done before the agent sees anything."""

    on: str
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


class Target(Strict):
    """An element of the UI to act on, as a user would name it.

    Attributes:
        name: exact accessible name, text or description; None is any.
        role: exact role or Android class; None is any.
        resource_id: exact Android resource id, with or without its ``package:id/``; None is any.
        index: which of the elements that match, in document order, from 0.
    """

    name: str | None = None
    role: str | None = None
    resource_id: str | None = None
    index: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _say_something(self) -> Self:
        if self.name is None and self.role is None and self.resource_id is None:
            raise PydanticCustomError("empty_target", "Give a name, a role or a resource_id.")
        return self

    def pick(self, elements: Sequence[Element]) -> Element | None:
        """Give the element meant, or None when it is not there (yet)."""
        found = [element for element in elements if self._matches(element)]
        return found[self.index] if self.index < len(found) else None

    def _matches(self, element: Element) -> bool:
        wanted = self.resource_id
        return (
            (self.name is None or element.name == self.name)
            and (self.role is None or element.role == self.role)
            and (
                wanted is None
                or element.resource_id == wanted
                or element.resource_id.endswith(f":id/{wanted}")
            )
        )


class Act(Strict):
    """A step of the reference solution: one of the agent's own actions.

    Attributes:
        on: the role acted on; None for session actions (``complete``, ``submit``, ``wait``).
        do: name of the action.
        args: its arguments (``with``).
        at: the element whose centre gives the arguments ``x`` and ``y``.
        seconds: how long the player of the oracle asks the tree again until `at` is there; that
            takes no step of the limit. Not there in the end: an `AgentError`.
    """

    on: str | None = None
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")
    at: Target | None = None
    seconds: float = Field(default=20.0, gt=0, le=120)


class WaitFor(Strict):
    """A step of the reference solution that only waits: a slow app must come up first.

    It is no action and takes no step; its time counts. The player of the oracle runs the check
    through the trial's own runner every half second (``runners[wait_for.on].evaluate``) until it
    is met; not met in `seconds`: an `AgentError`. Agents other than the oracle have no such step.
    """

    wait_for: Check
    seconds: float = Field(default=30.0, gt=0, le=120)


def _which_step(data: Any) -> str:  # noqa: ANN401
    if isinstance(data, WaitFor) or (isinstance(data, dict) and "wait_for" in data):
        return "waits"
    return "acts"


OracleStep = Annotated[
    Annotated[Act, Tag("acts")] | Annotated[WaitFor, Tag("waits")], Discriminator(_which_step)
]
"""`Act` or `WaitFor`; tell them apart with ``match``."""


class Limits(Strict):
    """When a trial is cut off.

    Attributes:
        steps: actions executed.
        seconds: wall time from the first observation on.
        repetitions: the same action with the same arguments, in a row.
        invalid_actions: unknown actions or wrong arguments, in a row.
    """

    steps: int = Field(default=15, ge=1)
    seconds: float = Field(default=300.0, gt=0)
    repetitions: int = Field(default=5, ge=2)
    invalid_actions: int = Field(default=3, ge=1)


class Task(Strict):
    """One task: an instruction, the machines it needs, setup, graph, limits, reference solution.

    Attributes:
        id: its name in the suite.
        instruction: what the agent is told.
        roles: kind of each machine.
        egress: what machines may reach, by role; nothing where nothing is said. Each entry as
            `provisioning.egress.proxy.read_destinations` reads it.
        setup: done before the agent sees anything.
        graph: of evaluators.
        limits: when a trial is cut off.
        oracle: the reference solution.
    """

    id: Name
    instruction: str = Field(min_length=1)
    roles: dict[str, Annotated[Kind, Field(strict=False)]] = Field(min_length=1)
    egress: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, exclude_if=_is_empty
    )
    setup: tuple[SetupStep, ...] = Field(default=(), strict=False)
    graph: tuple[Node, ...] = Field(min_length=1, strict=False)
    limits: Limits = Limits()
    oracle: tuple[OracleStep, ...] = Field(min_length=1, strict=False)

    @field_validator("roles")
    @classmethod
    def _keep_session_free(cls, roles: dict[str, Kind]) -> dict[str, Kind]:
        if SESSION in roles:
            raise PydanticCustomError("role", "'session' is no machine and cannot be a role.")
        return roles

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

    def place_of(self, role: str | None) -> str | None:
        """Give what stands behind a role: ``desktop``, ``phone``, ``session``; None if unknown."""
        if role is None or role == SESSION:
            return SESSION
        kind = self.roles.get(role)
        return None if kind is None else kind.value


class Suite(Strict):
    """A versioned set of tasks.

    Attributes:
        digest: SHA-256 over everything the suite says; comments and layout do not count.
    """

    name: Name
    version: str
    description: str
    digest: str
    tasks: tuple[Task, ...]

    def task(self, task_id: str) -> Task:
        """Give the task of that id.

        Raises:
            UnknownNameError: there is none, with the nearest match.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise UnknownNameError.of("task", task_id, (task.id for task in self.tasks))
