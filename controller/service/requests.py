"""What a run is asked for with, and the plan that follows from it; commands and queue share both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from appliance.base.errors import UnknownNameError, UsageError
from controller.agents.registry import AgentOptions, make_driver, specify_agent
from controller.planning import Plan, recipes_of
from controller.selection import choose_tasks, with_limits
from controller.store.agent_spec import AskingSpec, without_credentials
from controller.store.spec import BudgetSpec, KeepPolicy, LimitsSpec, Order
from controller.wiring import open_suite
from evaluators.model.suite import list_suites
from provisioning.recording.recorder import check_recording

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
    """A run that somebody asks for; holds no secrets where it is kept.

    Attributes:
        suite: name of a suite, or the absolute path of its folder.
        agent: name of an agent, or ``file.py:Class`` or ``module:Class``; empty for a command.
        command: of an agent without a name, that speaks JSON lines.
        folder: where a command starts and a class is looked for, absolute.
        script: absolute path of a file of actions, for the agent ``script``.
        solution: which of a task's reference solutions the agent ``oracle`` plays.
        model: name of the model, for the agent ``model``; the environment's own by default.
        base_url: of its endpoint, without credentials; the environment's own by default.
        extra_fields: further fields of each request to the model.
        image_scale: by which screenshots are made smaller for the model.
        tasks: ids, or patterns of ids; all by default.
        tags: of which a task must have one.
        limits: of every trial, instead of its task's own.
        budget: of all attempts together; what it does not allow is not begun.
        repeats: trials of each task.
        retries: further attempts at a trial whose machines or model failed.
        seed: everything random follows from it.
        order: in which trials are begun: as in the suite, or shuffled by the seed.
        keep_end_state: whose machines are kept as they were at the trial's end.
        trees: agents are shown accessibility trees too.
        feedback: what agents are told of how far they are.
        record_hz: frames a second of recordings; 0 records none.
        parallel: trials at a time, as memory allows.
        preflight: model, agent, disk and memory are checked before any machine is leased.
        fleet: ``fake`` lends machines in memory.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: _Path
    agent: str = Field(default="", max_length=_PATH_CHARS)
    command: _Path | None = None
    folder: _Path | None = None
    script: _Path | None = None
    solution: str = Field(default="", max_length=_NAME_CHARS)
    model: _Name | None = None
    base_url: _Path | None = None
    extra_fields: dict[str, JsonValue] | None = None
    image_scale: float | None = Field(default=None, ge=0.1, le=1)
    tasks: Annotated[tuple[_Name, ...], Field(max_length=_MAX_TASKS)] = ()
    tags: Annotated[tuple[_Name, ...], Field(max_length=_MAX_TASKS)] = ()
    limits: LimitsSpec = LimitsSpec()
    budget: BudgetSpec = BudgetSpec()
    repeats: int = Field(default=1, ge=1, le=1000)
    retries: int = Field(default=1, ge=0, le=20)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    order: Order = "suite"
    keep_end_state: KeepPolicy = "none"
    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"
    record_hz: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    parallel: int = Field(default=1, ge=1, le=1024)
    preflight: bool = True
    fleet: Literal["real", "fake"] = "real"

    @property
    def agent_label(self) -> str:
        """What people are told of the agent: its name or its command."""
        return self.agent or self.command or ""


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
        f"{'.'.join(str(part) for part in row['loc']) or 'request'}: "
        f"{row['msg'].replace('valid tuple', 'valid list')}"
        for row in rows
    )


def open_tasks(request: RunRequest) -> tuple[Suite, tuple[str, ...]]:
    """Return the suite of a request, with the request's limits, and the ids of its tasks.

    Raises:
        UsageError: there is no such suite, task or tag, or no task has both.
        SpecError: a file of the suite is wrong.
    """
    suite = with_limits(open_suite(request.suite, request.tasks), request.limits)
    return suite, choose_tasks(suite, request.tasks, request.tags)


def check_request(request: RunRequest) -> None:
    """Check what can be checked before a run is queued: suite, tasks, agent, recording.

    Raises:
        UsageError: something that it names does not exist, is relative, or holds a secret.
        SpecError: the suite or the script is wrong.
        RequirementError: the model is not known, or a package is missing.
    """
    for path in _paths(request):
        if not Path(path).is_absolute():
            raise UsageError(f"{path} must be an absolute path: the service has its own folder.")
    if request.command is not None and request.folder is None:
        raise UsageError("An agent's command needs the absolute folder that it starts in.")
    if request.base_url and request.base_url != without_credentials(request.base_url):
        raise UsageError(
            "The address of a queued run's model must hold no credentials or query.",
            resolution="Give the service the key in MESOCOSM_MODEL_API_KEY.",
        )
    _check_recording(request)
    _check_solution(request, *open_tasks(request))
    _specify(request)


def _paths(request: RunRequest) -> list[str]:
    """Return what a request names by path."""
    is_path = "/" in request.suite or Path(request.suite).exists()
    file, colon, _ = request.agent.rpartition(":")
    named = (
        request.suite if is_path and request.suite not in list_suites() else None,
        request.folder,
        request.script,
        file if colon and request.folder is None else None,
    )
    return [path for path in named if path is not None]


def require_shipped(request: RunRequest) -> None:
    """Check that a request brings no code: suites, scripts, classes and commands of one's own.

    Raises:
        UsageError: it does.
    """
    command = [] if request.command is None else [f"$ {request.command}"]
    if own := [*command, *_paths(request)]:
        raise UsageError(
            "Runs that are asked for over the network take shipped suites and agents alone.",
            details=f"Code is named: {', '.join(own)}",
            resolution="Queue it on the appliance's host, with `mesocosm queue add`.",
        )


def require_present(request: RunRequest, settings: Settings) -> None:
    """Check that a worker in a container has the files that a request names.

    It sees the state folder, which holds registered suites and agents, and nothing else of the host.

    Raises:
        UsageError: it lacks some; with how the run can be had.
    """
    command = [] if request.command is None else [f"$ {request.command}"]
    paths = [path for path in _paths(request) if not _is_kept(path, settings)]
    if own := [*command, *paths]:
        raise UsageError(
            "This run needs files of the host, which the worker's container does not have.",
            details=f"Named are: {', '.join(own)}",
            resolution="Register them (`mesocosm suite add`, `mesocosm agent add`), or let a worker of "
            "the host take the run: `mesocosm service stop`, then `mesocosm work` in a terminal.",
        )


def _is_kept(path: str, settings: Settings) -> bool:
    return Path(path).resolve().is_relative_to(settings.state_dir.resolve())


def agent_options(request: RunRequest) -> AgentOptions:
    """Return the options of a request's agent."""
    return AgentOptions(
        script=None if request.script is None else Path(request.script),
        model=request.model,
        base_url=request.base_url,
        command=request.command,
        extra=request.extra_fields,
        image_scale=request.image_scale,
        solution=request.solution,
        folder=None if request.folder is None else Path(request.folder),
    )


def make_plan(request: RunRequest, settings: Settings) -> Plan:
    """Return the plan of a new run.

    Raises:
        UsageError: something that it names does not exist, or cannot be recorded at that rate.
        SpecError: a file of the suite is wrong, or the script cannot be read.
        RequirementError: the model is not known, or a package is missing.
    """
    _check_recording(request)
    suite, tasks = open_tasks(request)
    _check_solution(request, suite, tasks)
    agent = _specify(request)
    return Plan(
        suite=suite,
        agent=agent,
        driver=make_driver(agent, agent_options(request)),
        tasks=tasks,
        repeats=request.repeats,
        retries=request.retries,
        seed=request.seed,
        with_trees=request.trees,
        feedback=request.feedback,
        video_hz=request.record_hz,
        images=_recipes(suite, settings) if request.fleet == "real" else None,
        limits=request.limits,
        order=request.order,
        budget=request.budget,
        keep_end_state=request.keep_end_state,
        fleet=request.fleet,
    )


def _check_solution(request: RunRequest, suite: Suite, tasks: tuple[str, ...]) -> None:
    """Check that a task has the solution that is to be played; the others play their first.

    Raises:
        UnknownNameError: none has.
    """
    chosen = [task for task in suite.tasks if not tasks or task.id in tasks]
    known = {name for task in chosen for name in task.solutions}
    if request.solution and request.solution not in known:
        raise UnknownNameError.of("solution", request.solution, known)


def _specify(request: RunRequest) -> AgentSpec:
    """Return the agent that a request names.

    Raises:
        UsageError: there is none, an option is missing, or money is limited that nobody counts.
        SpecError: its script or module cannot be read.
        RequirementError: its model is not known.
    """
    agent = specify_agent(request.agent, agent_options(request))
    limits_money = request.budget.usd is not None or request.limits.usd is not None
    if limits_money and isinstance(agent, AskingSpec) and not agent.has_prices:
        raise UsageError(
            "Money is limited, but the model has no prices: nothing would count.",
            resolution="Set MESOCOSM_MODEL_USD_PER_MTOK_PROMPT and "
            "MESOCOSM_MODEL_USD_PER_MTOK_COMPLETION, or limit tokens.",
        )
    return agent


def _check_recording(request: RunRequest) -> None:
    if request.record_hz:
        check_recording(request.record_hz)


def _recipes(suite: Suite, settings: Settings) -> dict[str, str]:
    return recipes_of(settings, {kind for task in suite.tasks for kind in task.roles.values()})
