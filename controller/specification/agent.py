"""Specification of a run's agent: everything about it that can affect a score, without secrets."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator


class Record(BaseModel):
    """Base class of all records in this package: frozen, rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class OracleSpec(Record):
    """The agent that plays the tasks' reference solutions.

    Attributes:
        solution: name of the solution to play; tasks without it use their first solution.
    """

    kind: Literal["oracle"] = "oracle"
    solution: str = ""


class NoopSpec(Record):
    """The agent that does nothing."""

    kind: Literal["noop"] = "noop"


class RandomSpec(Record):
    """The agent that chooses random actions, from the trial's seed."""

    kind: Literal["random"] = "random"


class ScriptSpec(Record):
    """The agent that plays a file of actions.

    Attributes:
        path: path of the file, as specified by the user.
        digest: SHA-256 of its content.
    """

    kind: Literal["script"] = "script"
    path: str
    digest: str = ""


class HeuristicSpec(Record):
    """The agent without a model that reads accessibility trees, which its observations include."""

    kind: Literal["heuristic"] = "heuristic"


class ReplaySpec(Record):
    """The agent that plays the recorded actions of another run's trials.

    Attributes:
        run: id of that run.
    """

    kind: Literal["replay"] = "replay"
    run: str


class CustomSpec(Record):
    """An agent that a program passed as an object; it cannot be recreated from the specification.

    Attributes:
        name: its name in results.
    """

    kind: Literal["custom"] = "custom"
    name: str


class Sampling(Record):
    """Sampling parameters of a model; None uses the endpoint's default.

    Attributes:
        temperature: 0 or more.
        top_p: probability mass, above 0, at most 1.
        max_tokens: maximum length of a reply.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


TOOLS = "tools"
"""Format in which any model acts: our actions as tools. Families of models have formats of their own."""


class ModelClientSpec(Record):
    """Common fields of built-in agents that query a model at an endpoint; each has its own kind.

    Attributes:
        adapter: adapter of the vendor's API.
        family: format in which the model acts, `TOOLS` or a family of models.
        model: name of the model.
        endpoint: address of its API, without credentials and query.
        sampling: sampling parameters.
        history: number of past turns that each request includes.
        pictures: number of these turns that include their screenshots.
        timeout_s: timeout of one request.
        retries: retries of a request whose replies are unusable.
        outage_s: total time that one trial waits for an endpoint that does not answer.
        usd_per_mtok_prompt: price of a million tokens sent, US dollars; used for limits on cost.
        usd_per_mtok_completion: price of a million tokens received, US dollars.
        usd_per_mtok_cached: price of a million cached tokens sent, US dollars; None if that of others.
        extra: further fields of each request.
        image_scale: factor that screenshots are scaled down by; coordinates are converted back.
        send_seed: whether the trial's seed is sent with each request.
        prompt_digest: SHA-256 of the agent's prompt templates.
    """

    kind: str
    adapter: str = "openai"
    family: str = TOOLS
    model: str
    endpoint: str
    sampling: Sampling = Sampling()
    history: int | None = None
    pictures: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    outage_s: float | None = None
    usd_per_mtok_prompt: float | None = None
    usd_per_mtok_completion: float | None = None
    usd_per_mtok_cached: float | None = None
    extra: dict[str, JsonValue] | None = None
    image_scale: float | None = None
    send_seed: bool | None = None
    prompt_digest: str = ""

    @property
    def prices(self) -> tuple[float, float, float | None]:
        """Prices of a million tokens sent, received and cached, US dollars."""
        sent, received = self.usd_per_mtok_prompt or 0.0, self.usd_per_mtok_completion or 0.0
        return sent, received, self.usd_per_mtok_cached

    @property
    def has_prices(self) -> bool:
        """Whether a price of tokens is known."""
        return bool(self.usd_per_mtok_prompt or self.usd_per_mtok_completion)

    @field_validator("endpoint")
    @classmethod
    def _remove_credentials(cls, value: str) -> str:
        return without_credentials(value)


class ModelSpec(ModelClientSpec):
    """The agent that lets a model choose actions by tool calls."""

    kind: Literal["model"] = "model"


class PythonSpec(Record):
    """An agent that is a Python class of the user.

    Attributes:
        reference: ``module:Class`` or ``file.py:Class``.
        folder: folder that the reference is relative to.
        digest: SHA-256 of its module and of the modules next to it that it imports.
    """

    kind: Literal["python"] = "python"
    reference: str
    folder: str
    digest: str


class CommandSpec(Record):
    """An agent that is a command of the user.

    Attributes:
        command: program and arguments.
        folder: its working directory.
        digest: SHA-256 of the files in that folder that the command names.
    """

    kind: Literal["command"] = "command"
    command: str
    folder: str
    digest: str


class HttpSpec(Record):
    """An agent that is an HTTP endpoint of the user; its code is unknown, so it has no digest.

    Attributes:
        url: address of the endpoint, without credentials and query.
    """

    kind: Literal["http"] = "http"
    url: str


class RegisteredSpec(Record):
    """A registered agent of a user; it runs in its own container.

    Attributes:
        name: its registered name.
        digest: SHA-256 of all its files.
        image: digest of its container's image, as Docker reports it.
        model: name of the only model that it can query; empty if it queries none.
        adapter: adapter of that model's API.
        endpoint: address of that model's API, without credentials and query.
    """

    kind: Literal["registered"] = "registered"
    name: str
    digest: str
    image: str = ""
    model: str = ""
    adapter: str = "openai"
    endpoint: str = ""

    @field_validator("endpoint")
    @classmethod
    def _remove_credentials(cls, value: str) -> str:
        return without_credentials(value)


_Any = (
    OracleSpec
    | NoopSpec
    | RandomSpec
    | ScriptSpec
    | HeuristicSpec
    | ReplaySpec
    | ModelSpec
    | PythonSpec
    | CommandSpec
    | HttpSpec
    | RegisteredSpec
    | CustomSpec
)
AgentSpec = Annotated[_Any, Field(discriminator="kind")]
"""Any agent's specification, discriminated by ``kind``; contains no secrets."""

KINDS = frozenset(str(spec.model_fields["kind"].default) for spec in get_args(_Any))
"""The kinds of agents."""


def agent_name(agent: AgentSpec) -> str:
    """Return an agent's name in results; it includes the name of a model, as ``model:NAME``."""
    match agent:
        case CustomSpec() | RegisteredSpec():
            return agent.name
        case ModelClientSpec():
            return f"{agent.kind}:{agent.model}"
        case PythonSpec():
            return agent.reference
        case CommandSpec():
            return agent.command
        case HttpSpec():
            return agent.url
        case _:
            return agent.kind


def model_name(agent: AgentSpec) -> str:
    """Return the name of the model that an agent queries; empty if there is none or unknown."""
    return agent.model if isinstance(agent, ModelClientSpec | RegisteredSpec) else ""


MEMBER = "agent"
"""Name of the member of a run that has only one."""


class Member(Record):
    """A member of the team that plays the trials of a run; a single agent is a team of one.

    Attributes:
        name: its name in events, usage and results, unique in the run.
        agent: its specification.
        key: environment variable with the key of its model; empty for that of all models.
    """

    name: str = Field(default=MEMBER, min_length=1, max_length=64)
    agent: AgentSpec
    key: str = Field(default="", exclude_if=lambda value: not value)


def require_unique(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Return the members if their names differ.

    Raises:
        ValueError: two have the same name.
    """
    counts = Counter(member.name for member in members)
    if names := sorted(name for name, count in counts.items() if count > 1):
        raise ValueError(f"several members are named {', '.join(names)}")
    return members


def without_credentials(address: str) -> str:
    """Return an address without user, password, query and fragment, which may contain secrets."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
