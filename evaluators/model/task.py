"""A task as data: what a task file holds, once it was read and validated."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, JsonValue, field_validator, model_validator
from pydantic_core import PydanticCustomError

from appliance.base.errors import SpecError
from evaluators.model.base import SESSION, Name, Strict, is_empty
from evaluators.model.node import Mode, Node
from evaluators.model.oracle import OracleStep  # noqa: TC001  (pydantic reads it)
from provisioning.egress.policy import read_destinations
from provisioning.protocols import Kind  # noqa: TC001  (pydantic reads it)


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


class Task(Strict):
    """One task: an instruction, the machines it needs, setup, graph, limits, reference solution.

    Attributes:
        id: its name in the suite.
        instruction: what the agent is told.
        roles: kind of each machine.
        egress: what machines may reach, by role; nothing where nothing is said. Each entry as
            `provisioning.egress.policy.read_destinations` reads it.
        setup: done before the agent sees anything.
        graph: of evaluators.
        limits: when a trial is cut off.
        oracle: the reference solution.
    """

    id: Name
    instruction: str = Field(min_length=1)
    roles: dict[str, Annotated[Kind, Field(strict=False)]] = Field(min_length=1)
    egress: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, exclude_if=is_empty
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

    @property
    def credit_nodes(self) -> tuple[Node, ...]:
        """The nodes that earn credit: all but the keep nodes."""
        return tuple(node for node in self.graph if node.mode is not Mode.KEEP)

    def place_of(self, role: str | None) -> str | None:
        """Return the place behind a role: ``desktop``, ``phone``, ``session``; None if unknown."""
        if role is None or role == SESSION:
            return SESSION
        kind = self.roles.get(role)
        return None if kind is None else kind.value
