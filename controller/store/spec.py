"""What a run was asked to do: everything that can change its scores, as data with a digest."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from appliance.base.files import digest_json

SCHEMA_VERSION: Final = 2
"""Version of ``run.json`` and of event logs that are written; version 1 can be read."""


class Record(BaseModel):
    """Base of all records here: frozen and exact about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class SuiteSpec(Record):
    """Which suite a run is of.

    Attributes:
        name: of the suite.
        version: as the suite's author counts.
        digest: SHA-256 over everything that the suite's files hold.
    """

    name: str
    version: str
    digest: str


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


class ModelSpec(Record):
    """The agent that asks a model.

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

    kind: Literal["model"] = "model"
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

    @field_validator("endpoint")
    @classmethod
    def _remove_credentials(cls, value: str) -> str:
        return without_credentials(value)


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


AgentSpec = Annotated[
    OracleSpec
    | NoopSpec
    | RandomSpec
    | ScriptSpec
    | ModelSpec
    | PythonSpec
    | CommandSpec
    | CustomSpec,
    Field(discriminator="kind"),
]
"""Which agent, told apart by ``kind``; holds no secrets."""


class TaskSpec(Record):
    """One task of a run, as digests of what makes it the same task.

    Attributes:
        id: its name in the suite.
        text: digest of the instruction.
        machines: digest of the roles, their kinds, and what they may reach.
        setup: digest of the setup steps and of the functions that they run.
        graph: digest of the nodes.
        limits: digest of the limits.
        evaluators: digest of each evaluator that the graph uses, by place and name.
    """

    id: str
    text: str = ""
    machines: str = ""
    setup: str = ""
    graph: str = ""
    limits: str = ""
    evaluators: dict[str, str] = {}

    @property
    def has_digests(self) -> bool:
        """Whether it says more than its name; runs of schema 1 do not."""
        return bool(self.graph)

    def differences(self, other: TaskSpec) -> tuple[str, ...]:
        """Name the parts in which two tasks differ; evaluators one by one."""
        parts = [
            part
            for part in ("text", "machines", "setup", "graph", "limits")
            if getattr(self, part) != getattr(other, part)
        ]
        names = sorted({*self.evaluators, *other.evaluators})
        changed = [
            f"evaluator {name}"
            for name in names
            if self.evaluators.get(name) != other.evaluators.get(name)
        ]
        return (*parts, *changed)


class ObservationSpec(Record):
    """What agents are shown beside screenshots.

    Attributes:
        trees: the machines' accessibility trees.
        feedback: how far the task is: nothing, hints of unmet nodes, or all nodes.
    """

    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"


class LimitsSpec(Record):
    """Limits of a run instead of its tasks' own; None leaves those.

    Attributes:
        steps: actions executed.
        seconds: the agent's time.
    """

    steps: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)


class CodeSpec(Record):
    """Which Mesocosm ran.

    Attributes:
        version: of the package.
        commit: of the source tree; empty where there is no repository.
        is_modified: the source tree differs from that commit.
    """

    version: str
    commit: str = ""
    is_modified: bool = False

    def __str__(self) -> str:
        commit = f" ({self.commit[:12]}{', modified' if self.is_modified else ''})"
        return self.version + (commit if self.commit else "")


class RunSpec(Record):
    """What a run was asked to do.

    Attributes:
        schema_version: of the file that it was read from.
        run: its id.
        started_s: seconds since the epoch.
        suite: what the tasks are of.
        agent: who tries them.
        tasks: in the order of running.
        repeats: trials of each task.
        retries: further attempts at a trial whose machines or model failed.
        seed: everything random follows from it.
        evaluators: digest of the sources of all evaluators.
        action_space: digest of the actions that agents are offered.
        observation: what agents are shown.
        limits: of every trial, instead of the tasks' own.
        images: digest of the recipe behind each kind of machine, where there is one.
        code: which Mesocosm ran.
        recording_hz: frames a second of recordings; 0 records none.
    """

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    run: str
    started_s: float
    suite: SuiteSpec
    agent: AgentSpec
    tasks: tuple[TaskSpec, ...]
    repeats: int = Field(ge=1)
    retries: int = Field(default=0, ge=0)
    seed: int = 0
    evaluators: str = ""
    action_space: str = ""
    observation: ObservationSpec = ObservationSpec()
    limits: LimitsSpec = LimitsSpec()
    images: dict[str, str] = {}
    code: CodeSpec
    recording_hz: float = 0.0

    @property
    def planned(self) -> list[tuple[str, int]]:
        """Every trial as task and repeat, in the order of running."""
        return [(task.id, repeat) for repeat in range(self.repeats) for task in self.tasks]

    @property
    def agent_name(self) -> str:
        """What results call the agent."""
        return agent_name(self.agent)

    @property
    def digest(self) -> str:
        """SHA-256 over everything that can change a score: not the id, the time, folders, recordings."""
        left_out: Any = {"run": True, "started_s": True, "recording_hz": True, "agent": {"folder"}}
        kept = self.model_dump(mode="json", exclude=left_out)
        return digest_json(kept)


def trial_seed(seed: int, task: str, repeat: int) -> int:
    """Return a trial's own seed, independent of which other tasks the run has."""
    text = f"{seed}/{task}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def agent_name(agent: AgentSpec) -> str:
    """Return what results call an agent; a model's name is part of it, as ``model:NAME``."""
    match agent:
        case CustomSpec():
            return agent.name
        case ModelSpec():
            return f"{agent.kind}:{agent.model}"
        case PythonSpec():
            return agent.reference
        case CommandSpec():
            return agent.command
        case _:
            return agent.kind


def without_credentials(address: str) -> str:
    """Return an address without user, password, query and fragment, where secrets may be."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
