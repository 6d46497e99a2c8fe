"""What a run is asked for with, and the plan that follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.base.errors import UsageError
from controller.agents.registry import AgentOptions, make_driver, specify_agent
from controller.planning import Plan, recipes_of
from controller.store.agent_spec import without_credentials
from controller.wiring import open_suite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.settings import Settings
    from controller.store.agent_spec import AgentSpec
    from evaluators.model.suite import Suite

_NAME_CHARS = 200
_PATH_CHARS = 4096
_MAX_TASKS = 10_000

_Name = Annotated[str, Field(min_length=1, max_length=_NAME_CHARS)]
_Path = Annotated[str, Field(min_length=1, max_length=_PATH_CHARS)]


class RunRequest(BaseModel):
    """A run that somebody asks for; holds no secrets.

    Attributes:
        suite: name of a suite, or the absolute path of its folder.
        agent: name of an agent, or ``/folder/file.py:Class`` for a class of the user.
        script: absolute path of a file of actions, for the agent ``script``.
        model: name of the model, for the agent ``model``; the service's own by default.
        base_url: of its endpoint, without credentials; the service's own by default.
        tasks: ids; all by default.
        repeats: trials of each task.
        retries: further attempts at a trial whose machines or model failed.
        seed: everything random follows from it.
        trees: agents are shown accessibility trees too.
        feedback: what agents are told of how far they are.
        record_hz: frames a second of recordings; 0 records none.
        parallel: trials at a time, as memory allows.
        fleet: ``fake`` lends machines in memory.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: _Path
    agent: _Name
    script: _Path | None = None
    model: _Name | None = None
    base_url: _Path | None = None
    tasks: Annotated[tuple[_Name, ...], Field(max_length=_MAX_TASKS)] = ()
    repeats: int = Field(default=1, ge=1, le=1000)
    retries: int = Field(default=1, ge=0, le=20)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"
    record_hz: float = Field(default=0.0, ge=0, le=60, allow_inf_nan=False)
    parallel: int = Field(default=1, ge=1, le=256)
    fleet: Literal["real", "fake"] = "real"


def parse_request(values: Mapping[str, object]) -> RunRequest:
    """Return a request from what a user gave.

    Raises:
        UsageError: a value is wrong; names each.
    """
    try:
        return RunRequest.model_validate(values)
    except ValidationError as exc:
        raise UsageError("This run cannot be asked for.", details=describe_errors(exc)) from exc


def describe_errors(error: ValidationError) -> str:
    """Return what is wrong with values, one line a field, without the values."""
    rows = error.errors(include_url=False, include_input=False)
    return "\n".join(
        f"{'.'.join(str(part) for part in row['loc']) or 'request'}: {row['msg']}" for row in rows
    )


def check_request(request: RunRequest) -> None:
    """Check what can be checked before a run is queued: suite, tasks, agent.

    Raises:
        UsageError: something that it names does not exist, is relative, or holds a secret.
        SpecError: the suite or the script is wrong.
        RequirementError: the model is not known.
    """
    for path in _paths(request):
        if not Path(path).is_absolute():
            raise UsageError(f"{path} must be an absolute path: the service has its own folder.")
    if request.base_url and request.base_url != without_credentials(request.base_url):
        raise UsageError(
            "The address of a queued run's model must hold no credentials or query.",
            resolution="Give the service the key in MESOCOSM_MODEL_API_KEY.",
        )
    suite = open_suite(request.suite)
    for name in request.tasks:
        suite.task(name)
    specify(request)


def _paths(request: RunRequest) -> list[str]:
    """Return what a request names by path."""
    file, colon, _ = request.agent.rpartition(":")
    named = (
        request.suite if "/" in request.suite else None,
        request.script,
        file if colon else None,
    )
    return [path for path in named if path is not None]


def require_shipped(request: RunRequest) -> None:
    """Check that a request names nothing by path: such suites, scripts and agents are code.

    Raises:
        UsageError: it does.
    """
    if paths := _paths(request):
        raise UsageError(
            "Runs that are asked for over the network take shipped suites and agents alone.",
            details=f"A path is named: {', '.join(paths)}",
            resolution="Queue it on the appliance's host, with `mesocosm queue add`.",
        )


def specify(request: RunRequest) -> AgentSpec:
    """Return the agent that a request names.

    Raises:
        UsageError: there is none, or an option is missing.
        SpecError: its script cannot be read.
        RequirementError: its model is not known.
    """
    return specify_agent(request.agent, agent_options(request))


def agent_options(request: RunRequest) -> AgentOptions:
    """Return the options of a request's agent."""
    script = None if request.script is None else Path(request.script)
    return AgentOptions(script, request.model, request.base_url)


def make_plan(request: RunRequest, settings: Settings) -> Plan:
    """Return the plan of a new run.

    Raises:
        UsageError: something that it names does not exist.
        SpecError: a file of the suite is wrong, or the script cannot be read.
        RequirementError: the model is not known, or a package is missing.
    """
    suite = open_suite(request.suite)
    agent = specify(request)
    return Plan(
        suite=suite,
        agent=agent,
        driver=make_driver(agent, agent_options(request)),
        tasks=request.tasks,
        repeats=request.repeats,
        retries=request.retries,
        seed=request.seed,
        with_trees=request.trees,
        feedback=request.feedback,
        video_hz=request.record_hz,
        images=_recipes(suite, settings) if request.fleet == "real" else None,
    )


def _recipes(suite: Suite, settings: Settings) -> dict[str, str]:
    return recipes_of(settings, {kind for task in suite.tasks for kind in task.roles.values()})
