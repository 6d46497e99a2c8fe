"""Requests of programs that drive episodes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, JsonValue

from controller.actions.space import Action
from controller.models.usage import MAX_TOKENS, Usage
from controller.protocol import Turn
from controller.specification.observation import ObservationSpec
from foundation.files import digest_json

MAX_DEADLINE_S = 3600.0
_MAX_ACTIONS = 100

Id = Annotated[str, Field(min_length=1, max_length=200)]
Deadline = Annotated[float, Field(gt=0, le=MAX_DEADLINE_S, allow_inf_nan=False)]
Ttl = Annotated[float, Field(ge=1, le=24 * 3600, allow_inf_nan=False)]


class Order(BaseModel):
    """Base of requests; unknown fields are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class EpisodeRequest(Order):
    """A request for an episode that a program drives.

    Attributes:
        suite: name of a suite.
        task: id of one of its tasks.
        seed: seed of the task's parameters, also passed to the agent.
        ttl_s: how long the episode is kept open without requests about it.
        key: idempotency key: a second request with the same key returns the first one's episode.
        observation: what observations include; see `ObservationSpec`.
        trees: whether observations include accessibility trees, in addition to `observation`.
        feedback: feedback on progress in observations; ``none`` for that of `observation`.
        fleet: ``fake`` leases in-memory machines.
        commands: whether its caller may run commands on the machines, outside the action space:
            as the agent's user, or as any user. Other callers' results are not comparable with its.
    """

    suite: Id
    task: Id
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    ttl_s: Ttl = 900.0
    key: Id | None = None
    observation: ObservationSpec = ObservationSpec()
    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"
    fleet: Literal["real", "fake"] = "real"
    commands: Literal["none", "agent", "root"] = "none"


class ActionOrder(Order):
    """One action.

    Attributes:
        do: its name.
        on: role of the machine; null for actions on the session.
        args: its arguments, ``with`` in JSON.
    """

    do: Id
    on: Id | None = None
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with", max_length=100)


class UsageOrder(Order):
    """Usage of the caller's model in a turn; counts toward the task's token and money limits."""

    prompt_tokens: int = Field(default=0, ge=0, le=MAX_TOKENS)
    completion_tokens: int = Field(default=0, ge=0, le=MAX_TOKENS)
    usd: float = Field(default=0.0, ge=0, le=1e6, allow_inf_nan=False)


class CommandOrder(Order):
    """A command on a machine of an episode that was opened with `commands`.

    Attributes:
        on: role of the machine.
        argv: program and arguments, without a shell.
        user: user to run it as; null for the agent's.
        input: its standard input.
        cwd: its working directory; null for the user's home folder.
        env: variables to add to its environment.
        timeout_s: after this time, the program is killed.
    """

    on: Id
    argv: tuple[str, ...] = Field(min_length=1, max_length=10_000)
    user: Id | None = None
    input: Base64Bytes = b""
    cwd: str | None = Field(default=None, max_length=4096)
    env: dict[str, str] = Field(default_factory=dict, max_length=1000)
    timeout_s: Deadline = 60.0


class StepOrder(Order):
    """One turn.

    Attributes:
        actions: in order; if one is refused, the rest is dropped.
        usage: usage of the caller's model in this turn.
    """

    actions: tuple[ActionOrder, ...] = Field(max_length=_MAX_ACTIONS)
    usage: UsageOrder = UsageOrder()

    @property
    def digest(self) -> str:
        """SHA-256 of the request."""
        return digest_json(self.model_dump(mode="json"))

    def turn(self) -> Turn:
        """Convert the request to the episode's `Turn`."""
        actions = tuple(Action(action.do, action.on, action.args) for action in self.actions)
        cost = self.usage
        return Turn(actions, Usage(cost.prompt_tokens, cost.completion_tokens, cost.usd))
