"""Requests for runs, and the plans made from them; shared by the commands and the queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from controller.agents.registry import AgentOptions, make_driver, specify_agent
from controller.planning import Plan, recipes_of
from controller.selection import choose_tasks, with_limits
from controller.spec.agent import ModelClientSpec, without_credentials
from controller.spec.run import BudgetSpec, KeepPolicy, LimitsSpec, Order
from controller.wiring import open_suite
from evaluators.loading.suite import list_suites
from foundation.errors import UnknownNameError, UsageError
from provisioning.recording.recorder import check_recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.spec.agent import AgentSpec
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings

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
        model: name of the model, for the agent ``model``; from the environment by default.
        base_url: URL of the model's endpoint, without credentials; from the environment by default.
        extra_fields: additional fields of each request to the model.
        image_scale: factor by which screenshots are scaled down for the model.
        tasks: task ids or patterns of ids; all tasks by default.
        tags: a task must have at least one of these.
        limits: limits of every trial; override those of its task.
        budget: budget of all attempts together; trials that exceed it do not start.
        repeats: trials of each task.
        retries: additional attempts at a trial whose machines or model failed.
        seed: seed of all random choices.
        order: order in which trials start: as in the suite, or shuffled by the seed.
        keep_end_state: trials whose machines are kept in their final state.
        trees: whether observations include accessibility trees.
        feedback: feedback on progress that agents receive.
        record_hz: frames per second of recordings; 0 disables recording.
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
    isolate: bool = False
    preflight: bool = True
    fleet: Literal["real", "fake"] = "real"

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


def open_tasks(request: RunRequest) -> tuple[Suite, tuple[str, ...]]:
    """Return the suite of a request, with the request's limits, and the ids of the selected tasks.

    Raises:
        UsageError: the suite, a task or a tag does not exist, or no task matches both.
        SpecError: a file of the suite is invalid.
    """
    suite = with_limits(open_suite(request.suite, request.tasks), request.limits)
    return suite, choose_tasks(suite, request.tasks, request.tags)


def check_request(request: RunRequest) -> None:
    """Check suite, tasks, agent and recording before a run is queued.

    Raises:
        UsageError: something it names does not exist, is a relative path, or contains a secret.
        SpecError: the suite or the script is invalid.
        RequirementError: the model is unknown, or a package is missing.
    """
    for path in _paths(request):
        if not Path(path).is_absolute():
            raise UsageError(
                f"{path} must be an absolute path: the service has its own working folder."
            )
    if request.command is not None and request.folder is None:
        raise UsageError("An agent's command needs an absolute working folder.")
    if request.base_url and request.base_url != without_credentials(request.base_url):
        raise UsageError(
            "The model URL of a queued run must not contain credentials or a query.",
            resolution="Set MESOCOSM_MODEL_API_KEY for the service.",
        )
    _check_recording(request)
    _check_solution(request, *open_tasks(request))
    _specify(request)


def _paths(request: RunRequest) -> list[str]:
    """Return the paths that a request names."""
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
    """Check that a request names no user code: suites, scripts, classes or commands.

    Raises:
        UsageError: it does.
    """
    command = [] if request.command is None else [f"$ {request.command}"]
    if own := [*command, *_paths(request)]:
        raise UsageError(
            "Runs requested over the network can only use shipped suites and agents.",
            details=f"The request names code: {', '.join(own)}",
            resolution="Queue the run on the appliance's host, with `mesocosm queue add`.",
        )


def require_present(request: RunRequest, settings: Settings) -> None:
    """Check that a worker in a container has the files that a request names.

    Of the host, it sees only the state folder, which holds registered suites and agents.

    Raises:
        UsageError: files are missing.
    """
    command = [] if request.command is None else [f"$ {request.command}"]
    paths = [path for path in _paths(request) if not _is_kept(path, settings)]
    if own := [*command, *paths]:
        raise UsageError(
            "This run needs host files that the worker's container cannot see.",
            details=f"The request names: {', '.join(own)}",
            resolution="Register them (`mesocosm suite add`, `mesocosm agent add`), or run a worker on "
            "the host: `mesocosm service stop`, then `mesocosm work` in a terminal.",
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
        UsageError: something it names does not exist, or the recording rate is not supported.
        SpecError: a file of the suite is invalid, or the script cannot be read.
        RequirementError: the model is unknown, or a package is missing.
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
    """Check that at least one task has the requested solution; the others play their first.

    Raises:
        UnknownNameError: no task has it.
    """
    chosen = [task for task in suite.tasks if not tasks or task.id in tasks]
    known = {name for task in chosen for name in task.solutions}
    if request.solution and request.solution not in known:
        raise UnknownNameError.of("solution", request.solution, known)


def _specify(request: RunRequest) -> AgentSpec:
    """Return the agent that a request names.

    Raises:
        UsageError: the agent does not exist, an option is missing, or money is limited but the
            model has no prices.
        SpecError: its script or module cannot be read.
        RequirementError: its model is unknown.
    """
    agent = specify_agent(request.agent, agent_options(request))
    limits_money = request.budget.usd is not None or request.limits.usd is not None
    if limits_money and isinstance(agent, ModelClientSpec) and not agent.has_prices:
        raise UsageError(
            "The run limits money, but the model has no prices.",
            resolution="Set MESOCOSM_MODEL_USD_PER_MTOK_PROMPT and "
            "MESOCOSM_MODEL_USD_PER_MTOK_COMPLETION, or limit tokens.",
        )
    return agent


def _check_recording(request: RunRequest) -> None:
    if request.record_hz:
        check_recording(request.record_hz)


def _recipes(suite: Suite, settings: Settings) -> dict[str, str]:
    return recipes_of(settings, {kind for task in suite.tasks for kind in task.roles.values()})
