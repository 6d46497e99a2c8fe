"""Check requests for runs and specify the runs; shared by the commands and the queue."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from controller.agents.custom.http_endpoint import is_endpoint
from controller.agents.registry import specify_agent
from controller.agents.team.specifying import read_team, specify_team
from controller.models.families.table import find_family
from controller.observation.requirements import require_observation
from controller.planning import recipes_of, specify_run
from controller.selection import choose_tasks, with_limits
from controller.specification.agent import (
    TOOLS,
    HeuristicSpec,
    Member,
    ModelClientSpec,
    OracleSpec,
    RandomSpec,
    ReplaySpec,
    without_credentials,
)
from controller.specification.model_choice import ModelChoice
from controller.specification.run import ActionSpec
from controller.specification.team import SINGLE, STRUCTURES
from controller.wiring import open_suite
from evaluators.loading.suite import list_suites
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError, UnknownNameError, UsageError
from provisioning.recording.recorder import check_recording

if TYPE_CHECKING:
    from controller.specification.agent import AgentSpec
    from controller.specification.request import RunRequest
    from controller.specification.run import RunSpec
    from controller.specification.team import TeamSpec
    from evaluators.loading.suite import Suite
    from foundation.clock import Clock
    from foundation.settings import Settings

_MOST_NAMED = 5
_PLAYERS_OF_OWN_ACTIONS = (OracleSpec, RandomSpec, HeuristicSpec, ReplaySpec)


def open_tasks(request: RunRequest) -> tuple[Suite, tuple[str, ...]]:
    """Return the suite of a request, with the request's limits, and the ids of the selected tasks.

    Raises:
        UsageError: the suite, a task, a tag or a subset does not exist, or no task matches all.
        SpecError: a file of the suite is invalid.
    """
    suite = with_limits(open_suite(request.suite, request.tasks), request.limits)
    chosen = choose_tasks(
        suite, request.tasks, request.tags, platforms=request.platforms, subset=request.subset
    )
    return suite, chosen


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
    _specify_players(request, *open_tasks(request))


def _paths(request: RunRequest) -> list[str]:
    """Return the paths that a request names."""
    is_path = "/" in request.suite or Path(request.suite).exists()
    file, colon, _ = ("", "", "") if is_endpoint(request.agent) else request.agent.rpartition(":")
    named = (
        request.suite if is_path and request.suite not in list_suites() else None,
        request.folder,
        request.script,
        file if colon and request.folder is None else None,
        request.team if request.team and request.team not in STRUCTURES else None,
    )
    return [path for path in named if path is not None]


def require_shipped(request: RunRequest) -> None:
    """Check that a request names no user code, no endpoint, and no variable of the host's environment.

    Raises:
        UsageError: it names a suite, script, class, command, or the variable of a key.
    """
    if request.key:
        raise UsageError(
            "Runs requested over the network cannot name a variable with a key.",
            details="Its value would be sent to the model's address.",
            resolution="Omit `key`: the service has the key of all models.",
        )
    command = [] if request.command is None else [f"$ {request.command}"]
    endpoint = [request.agent] if is_endpoint(request.agent) else []
    if own := [*command, *endpoint, *_paths(request)]:
        raise UsageError(
            "Runs requested over the network can only use shipped suites and agents.",
            details=f"The request names code: {', '.join(own)}",
            resolution="Queue the run on the appliance's host, with `mesocosm queue add`.",
        )


def require_present(request: RunRequest, settings: Settings) -> None:
    """Check that a worker in a container has the files that a request names.

    Of the host, it sees only the state folder, which holds registered suites and agents.

    Raises:
        UsageError: files are missing, or the run needs Ray, which the container does not have.
    """
    if request.executor == "ray" or (not request.executor and settings.executor == "ray"):
        raise UsageError(
            "The worker's container has no Ray, which this run needs.",
            resolution="Run a worker on the host: `mesocosm service stop`, then `mesocosm work` in a "
            "terminal; or choose another executor: --executor local.",
        )
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


def model_choice(request: RunRequest) -> ModelChoice:
    """Return the model that a request chooses."""
    return ModelChoice(
        adapter=request.adapter or None,
        family=request.family or None,
        name=request.model or None,
        base_url=request.base_url or None,
        extra=request.extra_fields,
        image_scale=request.image_scale,
        history=request.history,
        pictures=request.pictures,
        key=request.key or None,
    )


def specify_request(
    request: RunRequest, settings: Settings, *, clock: Clock = SYSTEM_CLOCK, run: str = ""
) -> tuple[RunSpec, Suite]:
    """Return the specification of the run that is requested, and its suite with the run's limits.

    Args:
        request: the request.
        settings: of the appliance.
        clock: provides the timestamp.
        run: the run's id; a new one by default.

    Raises:
        UnknownNameError: the suite lacks a function that the observation names.
        UsageError: something it names does not exist, or the recording rate is not supported.
        SpecError: a file of the suite is invalid, or the script cannot be read.
        RequirementError: the model is unknown, or a package is missing.
    """
    _check_recording(request)
    suite, tasks = open_tasks(request)
    _check_solution(request, suite, tasks)
    _check_tools(request, suite, tasks)
    team, players = _specify_players(request, suite, tasks)
    if not isinstance(players, tuple):
        _check_family(players, suite, tasks)
    require_observation(request.whole_observation, suite.vocabulary)
    spec = specify_run(
        suite,
        _with_key(players, request.key),
        team=team,
        tasks=tasks,
        repeats=request.repeats,
        retries=request.retries,
        seed=request.seed,
        order=request.order,
        observation=request.whole_observation.with_parts(
            trees=isinstance(players, HeuristicSpec), feedback="none"
        ),
        actions=_specify_actions(request, team, players),
        limits=request.limits,
        budget=request.budget,
        recording_hz=request.recording_hz,
        images=_recipes(suite, settings) if request.fleet == "real" else None,
        keep_end_state=request.keep_end_state,
        fleet=request.fleet,
        clock=clock,
        run=run,
    )
    return spec, suite


def _specify_actions(
    request: RunRequest, team: TeamSpec, agent: AgentSpec | tuple[Member, ...]
) -> ActionSpec:
    """Return how agents act.

    Raises:
        UsageError: CRAB's actions are chosen, and the agents cannot use them.
    """
    name = "own" if isinstance(agent, _PLAYERS_OF_OWN_ACTIONS) else request.action_set
    seen = request.whole_observation
    if name == "crab":
        if seen.marks is None and not seen.visual_prompt:
            raise UsageError(
                "CRAB's actions name elements by marks, but the run shows none.",
                resolution="Use --profile crab, or add --observe marks.",
            )
        family = agent.family if isinstance(agent, ModelClientSpec) else TOOLS
        if family != TOOLS or team.structure == "planner-grounder":
            raise UsageError(
                "CRAB's actions name elements by marks: neither a grounder nor a family of models, which "
                "name places, can use them.",
                resolution="Use --action-set own.",
            )
    return ActionSpec(
        interface=request.interface, code=request.code, confirm=request.confirm, action_set=name
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


def _check_tools(request: RunRequest, suite: Suite, tasks: tuple[str, ...]) -> None:
    """Check that agents have something to act with, and the host what tool servers need.

    Raises:
        UsageError: agents are to act with tools only, and a task offers none.
        RequirementError: the package for tool servers is missing.
    """
    chosen = [task for task in suite.tasks if not tasks or task.id in tasks]
    if request.interface == "tools" and not request.code:
        lacking = [task.id for task in chosen if not task.tools]
        if lacking:
            raise UsageError(
                "These tasks offer no tools, so that agents could do nothing: "
                f"{', '.join(lacking[:_MOST_NAMED])}.",
                resolution="Choose others with --task, or use --interface both.",
            )
    is_needed = request.interface != "gui" and any(task.tools for task in chosen)
    if is_needed and importlib.util.find_spec("mcp") is None:
        raise RequirementError(
            "The tasks offer tools, but the package mcp is not installed.",
            resolution="pip install --editable .[tools], or use --interface gui.",
        )


def _specify_players(
    request: RunRequest, suite: Suite, tasks: tuple[str, ...]
) -> tuple[TeamSpec, AgentSpec | tuple[Member, ...]]:
    """Return the team that a request names, and its members, or the only agent.

    Raises:
        MesocosmError: as for `_specify_agent` and `specify_team`.
        UsageError: a team is not of models.
    """
    if not request.team and request.calls in {None, "functions"}:
        return SINGLE, _specify_agent(request)
    if request.agent not in {"", "model"} or request.command is not None:
        raise UsageError(
            f"The members of a team are models, not {request.agent_label!r}.",
            resolution="Omit --agent, or use --agent model.",
        )
    choice = read_team(request.team, request.calls)
    chosen = [task for task in suite.tasks if not tasks or task.id in tasks]
    roles = sorted({role for task in chosen for role in task.kinds})
    team, members = specify_team(choice, roles, model_choice(request))
    for member in members:
        _require_prices(request, member.agent)
    return team, members


def _with_key(players: AgentSpec | tuple[Member, ...], key: str) -> AgentSpec | tuple[Member, ...]:
    """Return players whose models use the key in an environment variable, unless they name one.

    Raises:
        UsageError: a key is named for an agent that does not ask a model itself.
    """
    if not key:
        return players
    members = players if isinstance(players, tuple) else (Member(agent=players),)
    if not all(isinstance(member.agent, ModelClientSpec) for member in members):
        raise UsageError(
            f"The agent {members[0].agent.kind} asks no model, so that it needs no key.",
            resolution="Omit `key`.",
        )
    return tuple(
        member if member.key else member.model_copy(update={"key": key}) for member in members
    )


def _specify_agent(request: RunRequest) -> AgentSpec:
    """Return the agent that a request names.

    Raises:
        UsageError: the agent does not exist, an option is missing, or money is limited but the
            model has no prices.
        SpecError: its script or module cannot be read.
        RequirementError: its model is unknown.
    """
    agent = specify_agent(
        request.agent,
        command=request.command,
        folder=None if request.folder is None else Path(request.folder),
        script=None if request.script is None else Path(request.script),
        solution=request.solution,
        replay=request.replay,
        model=model_choice(request),
    )
    return _require_prices(request, agent)


def _require_prices(request: RunRequest, agent: AgentSpec) -> AgentSpec:
    """Return an agent if its cost is known or does not matter.

    Raises:
        UsageError: the request limits money, but the agent's model has no prices.
    """
    limits_money = request.budget.usd is not None or request.limits.usd is not None
    if limits_money and isinstance(agent, ModelClientSpec) and not agent.has_prices:
        raise UsageError(
            "The run limits money, but the model has no prices.",
            resolution="Set MESOCOSM_MODEL_USD_PER_MTOK_PROMPT and "
            "MESOCOSM_MODEL_USD_PER_MTOK_COMPLETION, or limit tokens.",
        )
    return agent


def _check_family(agent: AgentSpec, suite: Suite, tasks: tuple[str, ...]) -> None:
    """Check that the format in which a model acts reaches all machines of the tasks.

    Raises:
        UsageError: it reaches one machine only, and a task has several.
    """
    if not isinstance(agent, ModelClientSpec) or agent.family == TOOLS:
        return
    chosen = [task for task in suite.tasks if not tasks or task.id in tasks]
    several = [task.id for task in chosen if len(task.roles) > 1]
    if several and not find_family(agent.family).has_tools:
        raise UsageError(
            f"Models of the family {agent.family!r} act on one machine.",
            details=f"These tasks have several: {', '.join(several)}",
            resolution="Choose tasks with one machine (--task), or another --model-family.",
        )


def _check_recording(request: RunRequest) -> None:
    if request.recording_hz:
        check_recording(request.recording_hz)


def _recipes(suite: Suite, settings: Settings) -> dict[str, str]:
    return recipes_of(settings, {spec for task in suite.tasks for spec in task.roles.values()})
