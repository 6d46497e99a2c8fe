"""Which agent a run is of, as data: everything about it that can change a score, without secrets."""

from __future__ import annotations

from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator


class Record(BaseModel):
    """Base of all records here: frozen and exact about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class OracleSpec(Record):
    """The agent that plays the tasks' reference solutions.

    Attributes:
        solution: name of the one that is played, where a task has it; the first otherwise.
    """

    kind: Literal["oracle"] = "oracle"
    solution: str = ""


class NoopSpec(Record):
    """The agent that does nothing."""

    kind: Literal["noop"] = "noop"


class RandomSpec(Record):
    """The agent that acts by chance, from the trial's seed."""

    kind: Literal["random"] = "random"


class ScriptSpec(Record):
    """The agent that plays a file of actions.

    Attributes:
        path: of the file, as it was given.
        digest: SHA-256 of its content; empty in runs of schema 1.
    """

    kind: Literal["script"] = "script"
    path: str
    digest: str = ""


class CustomSpec(Record):
    """An agent that a program handed in; nobody else can make it again.

    Attributes:
        name: what results call it.
    """

    kind: Literal["custom"] = "custom"
    name: str


class Sampling(Record):
    """How a model's reply is drawn; None leaves it to the endpoint.

    Attributes:
        temperature: 0 or more.
        top_p: probability mass, above 0, at most 1.
        max_tokens: length of a reply at most.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


class AskingSpec(Record):
    """What every agent of ours says that asks a model at an endpoint; each has a kind of its own.

    Attributes:
        model: its name.
        endpoint: address of its API, without credentials and query.
        sampling: how replies are drawn.
        history: how many past turns the model is reminded of.
        pictures: in how many of these the screenshots are still there.
        timeout_s: of one request.
        retries: of a request whose replies are no chat completion.
        outage_s: how long one trial waits in all for an endpoint that does not answer.
        usd_per_mtok_prompt: price of a million tokens sent, US dollars; limits of money count it.
        usd_per_mtok_completion: price of a million tokens received, US dollars.
        extra: further fields of each request.
        image_scale: by which screenshots are made smaller; coordinates are converted back.
        send_seed: whether the trial's seed is sent with each request.
        prompt_digest: SHA-256 of the agent's prompt templates; empty in runs of schema 1.
    """

    kind: str
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
    extra: dict[str, JsonValue] | None = None
    image_scale: float | None = None
    send_seed: bool | None = None
    prompt_digest: str = ""

    @property
    def has_prices(self) -> bool:
        """Whether tokens cost anything that is known."""
        return bool(self.usd_per_mtok_prompt or self.usd_per_mtok_completion)

    @field_validator("endpoint")
    @classmethod
    def _remove_credentials(cls, value: str) -> str:
        return without_credentials(value)


class ModelSpec(AskingSpec):
    """The agent that asks a model which of the actions to do, by tool calls."""

    kind: Literal["model"] = "model"


class PythonSpec(Record):
    """An agent that is a Python class of the user.

    Attributes:
        reference: ``module:Class`` or ``file.py:Class``.
        folder: that it was named in.
        digest: SHA-256 over its module and those beside it that it imports.
    """

    kind: Literal["python"] = "python"
    reference: str
    folder: str
    digest: str


class CommandSpec(Record):
    """An agent that is a command of the user.

    Attributes:
        command: program and arguments.
        folder: that it starts in.
        digest: SHA-256 over the files of that folder which it names.
    """

    kind: Literal["command"] = "command"
    command: str
    folder: str
    digest: str


class RegisteredSpec(Record):
    """An agent of a user's own that is registered; it runs in a container of its own.

    Attributes:
        name: that it is registered under.
        digest: SHA-256 over all its files.
        image: digest of the image of its container, as Docker names it.
        model: name of the only model that it can ask; empty where it asks none.
        endpoint: address of that model's API, without credentials and query.
    """

    kind: Literal["registered"] = "registered"
    name: str
    digest: str
    image: str = ""
    model: str = ""
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
    | ModelSpec
    | PythonSpec
    | CommandSpec
    | RegisteredSpec
    | CustomSpec
)
AgentSpec = Annotated[_Any, Field(discriminator="kind")]
"""Which agent, told apart by ``kind``; holds no secrets."""

KINDS = frozenset(str(spec.model_fields["kind"].default) for spec in get_args(_Any))
"""The kinds of agents."""


def agent_name(agent: AgentSpec) -> str:
    """Return what results call an agent; a model's name is part of it, as ``model:NAME``."""
    match agent:
        case CustomSpec() | RegisteredSpec():
            return agent.name
        case AskingSpec():
            return f"{agent.kind}:{agent.model}"
        case PythonSpec():
            return agent.reference
        case CommandSpec():
            return agent.command
        case _:
            return agent.kind


def model_name(agent: AgentSpec) -> str:
    """Return the name of the model that an agent asks; empty where nobody knows one."""
    return agent.model if isinstance(agent, AskingSpec | RegisteredSpec) else ""


def without_credentials(address: str) -> str:
    """Return an address without user, password, query and fragment, where secrets may be."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
