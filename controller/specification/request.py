"""A request for a run, in the words of its user: from a command, the API, a page or a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from controller.specification.observation import Feedback, ObservationSpec
from controller.specification.run import (
    ActionSetName,
    BudgetSpec,
    Interface,
    KeepPolicy,
    LimitsSpec,
    Order,
)
from controller.specification.team import Calls  # noqa: TC001 - read by pydantic
from evaluators.model.platforms import Platform  # noqa: TC001 - read by pydantic
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME_CHARS = 200
_PATH_CHARS = 4096
_MAX_TASKS = 10_000

_Name = Annotated[str, Field(min_length=1, max_length=_NAME_CHARS)]
_Path = Annotated[str, Field(min_length=1, max_length=_PATH_CHARS)]


class RunRequest(BaseModel):
    """A request for a run; stored requests hold no secrets.

    Attributes:
        suite: name of a suite, or the absolute path of its folder.
        agent: name of an agent, or ``file.py:Class`` or ``module:Class``; empty with ``command``.
        command: command line of an agent that speaks JSON lines.
        folder: absolute working folder of the command, and search path of the class.
        script: absolute path of an action file, for the agent ``script``.
        solution: which of a task's reference solutions the agent ``oracle`` plays.
        adapter: adapter of the model's API, for the agent ``model``; from the environment by default.
        family: format in which the model acts: ``tools``, a family of models, or ``auto``.
        replay: the run whose recorded actions the agent ``replay`` plays.
        model: name of the model, for the agent ``model``; from the environment by default.
        base_url: URL of the model's endpoint, without credentials; from the environment by default.
        key: environment variable with the model's key; by default that of all models.
        extra_fields: additional fields of each request to the model.
        image_scale: factor by which screenshots are scaled down for the model.
        history: number of past turns that each request to the model includes.
        pictures: number of these turns that include their screenshots.
        team: structure of a team of models, or the absolute path of its file; empty for one agent.
        calls: how models call actions; by default as the team's file says, or by functions.
        tasks: task ids or patterns of ids; all tasks by default.
        tags: a task must have at least one of these.
        platforms: a task must need machines of one of these: desktops, phones, both, or neither.
        subset: name of a subset of the suite.
        limits: limits of every trial; override those of its task.
        budget: budget of all attempts together; trials that exceed it do not start.
        repeats: trials of each task.
        retries: additional attempts at a trial whose machines or model failed.
        seed: seed of all random choices.
        order: order in which trials start: as in the suite, or shuffled by the seed.
        keep_end_state: trials whose machines are kept in their final state.
        interface: what agents act with: the screen, the tools that tasks offer, or both.
        code: whether agents may run code on desktops.
        confirm: whether a person confirms each action.
        action_set: which actions agents have: Mesocosm's own, or CRAB's; the oracle and other agents that
            play Mesocosm's own actions keep these.
        observation: what agents receive before they act.
        trees: whether observations include accessibility trees, in addition to `observation`.
        feedback: feedback on progress that agents receive; ``none`` for that of `observation`.
        recording_hz: frames per second of recordings; 0 disables recording.
        parallel: maximum number of concurrent trials, as memory allows.
        isolate: whether each trial runs in a process of its own.
        preflight: whether model, agent, disk and memory are checked before any machine is leased.
        fleet: ``fake`` leases in-memory machines.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: _Path
    agent: str = Field(default="", max_length=_PATH_CHARS)
    command: _Path | None = None
    folder: _Path | None = None
    script: _Path | None = None
    solution: str = Field(default="", max_length=_NAME_CHARS)
    adapter: _Name | None = None
    family: _Name | None = None
    replay: str = Field(default="", max_length=_NAME_CHARS)
    model: _Name | None = None
    base_url: _Path | None = None
    key: str = Field(default="", max_length=_NAME_CHARS, pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    extra_fields: dict[str, JsonValue] | None = None
    image_scale: float | None = Field(default=None, ge=0.1, le=1)
    history: int | None = Field(default=None, ge=1, le=1000)
    pictures: int | None = Field(default=None, ge=1, le=1000)
    team: str = Field(default="", max_length=_PATH_CHARS)
    calls: Calls | None = None
    tasks: Annotated[tuple[_Name, ...], Field(max_length=_MAX_TASKS)] = ()
    tags: Annotated[tuple[_Name, ...], Field(max_length=_MAX_TASKS)] = ()
    platforms: Annotated[tuple[Platform, ...], Field(max_length=4)] = ()
    subset: str = Field(default="", max_length=_NAME_CHARS)
    limits: LimitsSpec = LimitsSpec()
    budget: BudgetSpec = BudgetSpec()
    repeats: int = Field(default=1, ge=1, le=1000)
    retries: int = Field(default=1, ge=0, le=20)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    order: Order = "suite"
    keep_end_state: KeepPolicy = "none"
    interface: Interface = "both"
    code: bool = False
    confirm: bool = False
    action_set: ActionSetName = "own"
    observation: ObservationSpec = ObservationSpec()
    trees: bool = False
    feedback: Feedback = "none"
    recording_hz: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    parallel: int = Field(default=1, ge=1, le=1024)
    isolate: bool = False
    preflight: bool = True
    fleet: Literal["real", "fake"] = "real"

    @property
    def whole_observation(self) -> ObservationSpec:
        """What agents receive, with `trees` and `feedback`."""
        return self.observation.with_parts(trees=self.trees, feedback=self.feedback)

    @property
    def agent_label(self) -> str:
        """Name or command of the agent, for display."""
        return self.agent or self.command or ""


def parse_request(values: Mapping[str, object]) -> RunRequest:
    """Parse a request from the values a user gave.

    Raises:
        UsageError: a value is invalid; lists every invalid value.
    """
    try:
        return RunRequest.model_validate(values)
    except ValidationError as exc:
        raise UsageError("The run request is invalid.", details=describe_errors(exc)) from exc


def describe_errors(error: ValidationError) -> str:
    """Describe validation errors, one line per field, without the values."""
    rows = error.errors(include_url=False, include_input=False)
    return "\n".join(
        f"{'.'.join(str(part) for part in row['loc']) or 'request'}: "
        f"{row['msg'].replace('valid tuple', 'valid list')}"
        for row in rows
    )
