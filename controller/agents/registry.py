"""Registry of agents: create a specification from options, and a driver from a specification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from controller.agents.custom.http_endpoint import is_endpoint, make_http_agent, specify_endpoint
from controller.agents.driver import AgentDriver
from controller.agents.heuristic import HeuristicAgent
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver, named_steps
from controller.agents.random_agent import RandomAgent
from controller.agents.replay import ReplayDriver, require_run
from controller.specification.agent import (
    CommandSpec,
    CustomSpec,
    HeuristicSpec,
    HttpSpec,
    ModelSpec,
    NoopSpec,
    OracleSpec,
    PythonSpec,
    RandomSpec,
    RegisteredSpec,
    ReplaySpec,
    ScriptSpec,
)
from controller.specification.model_choice import ModelChoice
from foundation.errors import SpecError, UnknownNameError, UsageError
from foundation.files import digest_file
from foundation.settings import get_settings

if TYPE_CHECKING:
    from controller.episode.trial import Driver
    from controller.protocol import MakeAgent
    from controller.specification.agent import AgentSpec
    from controller.specification.run import RunSpec

AGENTS = ("heuristic", "model", "noop", "oracle", "random", "replay", "script")
"""Names of built-in agents. A class of the user is named ``module:Class``, a command has no name,
and registered agents have their registered names."""


_PLAIN_SPECS: dict[str, type[NoopSpec | RandomSpec | HeuristicSpec]] = {
    "noop": NoopSpec,
    "random": RandomSpec,
    "heuristic": HeuristicSpec,
}
_PLAIN_AGENTS: dict[str, MakeAgent] = {
    "noop": NoopAgent,
    "random": RandomAgent,
    "heuristic": HeuristicAgent,
}
"""Agents without options, by name."""


def specify_agent(
    name: str = "",
    *,
    command: str | None = None,
    folder: Path | None = None,
    script: Path | None = None,
    solution: str = "",
    replay: str = "",
    model: ModelChoice | None = None,
) -> AgentSpec:
    """Return the specification of an agent, without secrets.

    Args:
        name: name of the agent, a class of the user, or the address of an endpoint; empty for a command.
        command: command of an agent without a name.
        folder: working directory of a command and search folder of a class; the current one by
            default.
        script: file of actions, for ``script``.
        solution: name of the reference solution that ``oracle`` plays.
        replay: the run whose actions ``replay`` plays.
        model: the model of ``model`` or of a registered agent; defaults come from the environment.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: an option is missing, or there is no such class or program.
        SpecError: the script or the module of the class cannot be read.
        RequirementError: the settings of the model are incomplete.
    """
    if command is not None:
        return _specify_command(name, command, folder)
    if ":" in name:
        return _specify_own(name, folder)
    if name in _PLAIN_SPECS:
        return _PLAIN_SPECS[name]()
    match name:
        case "oracle":
            return OracleSpec(solution=solution)
        case "replay" | "script":
            return _specify_script(script) if name == "script" else _specify_replay(replay)
        case "model":
            return _specify_model(model or ModelChoice())
        case _:
            return _specify_registered(name, model or ModelChoice())


def make_driver(spec: AgentSpec, model: ModelChoice | None = None) -> Driver:
    """Return the driver of an agent's trials; files and secrets are read now.

    Args:
        spec: the agent's specification.
        model: the choice that it was specified with, or that of the user who resumes its run.

    Raises:
        UsageError: only the program that passed the agent can create it, or its script, prompts or
            model have changed.
        SpecError: the script cannot be read.
        RequirementError: the model's package is missing.
    """
    match spec:
        case OracleSpec(solution=name):
            return OracleDriver(named_steps(name))
        case NoopSpec() | RandomSpec() | HeuristicSpec():
            return AgentDriver(_PLAIN_AGENTS[spec.kind])
        case ReplaySpec(run=run):
            return ReplayDriver(run)
        case ScriptSpec():
            return _script_driver(spec)
        case ModelSpec():
            return _model_driver(spec, model or ModelChoice())
        case PythonSpec() | CommandSpec() | HttpSpec():
            return AgentDriver(_own_agent(spec))
        case RegisteredSpec():
            make_agent = _registered_agent(spec, model or ModelChoice())
            return AgentDriver(make_agent, measures_outage=bool(spec.model))
        case CustomSpec():
            raise UsageError(
                f"The agent {spec.name!r} was passed as an object by a program.",
                resolution="Resume the run with that program, or start a new run.",
            )


def make_run_driver(spec: RunSpec, model: ModelChoice | None = None) -> Driver:
    """Return the driver of a run's trials: of its only agent, or of its team.

    Raises:
        MesocosmError: as for `make_driver` and `make_team_driver`.
    """
    if spec.team.is_single:
        return make_driver(spec.only_agent, choice_of(spec, model or ModelChoice()))
    from controller.agents.team.specifying import make_team_driver  # noqa: PLC0415

    return make_team_driver(spec, model or ModelChoice())


def choice_of(spec: RunSpec, model: ModelChoice) -> ModelChoice:
    """Return a user's choice of the model of a run's only agent, with the key that the run names."""
    key = spec.agents[0].key
    return model.model_copy(update={"key": key}) if key else model


def _specify_command(name: str, command: str, folder: Path | None) -> CommandSpec:
    from controller.agents.custom.command import specify_command  # noqa: PLC0415

    if name:
        raise UsageError(
            f"Both the agent {name!r} and a command were specified.",
            resolution="Pass either --agent or --agent-command.",
        )
    return specify_command(command, folder)


def _specify_registered(name: str, model: ModelChoice) -> RegisteredSpec:
    if not name:
        raise UsageError("No agent was specified.", resolution="Pass --agent or --agent-command.")
    from controller.agents.custom.container import specify_container  # noqa: PLC0415
    from controller.models.specification import read_settings  # noqa: PLC0415
    from controller.registered.agents import agent_copies  # noqa: PLC0415

    copies = agent_copies(get_settings())
    entry = copies.find(name)
    if entry is None:
        raise UnknownNameError.of("agent", name, [*AGENTS, *copies.names()])
    return specify_container(entry, get_settings(), read_settings(**model.model_dump()))


def _registered_agent(spec: RegisteredSpec, model: ModelChoice) -> MakeAgent:
    from controller.agents.custom.container import make_container_agent  # noqa: PLC0415
    from controller.models.specification import read_settings  # noqa: PLC0415

    return make_container_agent(spec, get_settings(), read_settings(**model.model_dump()))


def _specify_own(name: str, folder: Path | None) -> PythonSpec | HttpSpec:
    if is_endpoint(name):
        return specify_endpoint(name)
    from controller.agents.custom.python_class import specify_class  # noqa: PLC0415

    return specify_class(name, folder)


def _own_agent(spec: PythonSpec | CommandSpec | HttpSpec) -> MakeAgent:
    from controller.agents.custom import command, python_class  # noqa: PLC0415

    if isinstance(spec, HttpSpec):
        return make_http_agent(spec)
    if isinstance(spec, CommandSpec):
        return command.make_command_agent(spec)
    return python_class.make_class_agent(spec)


def _specify_replay(replay: str) -> ReplaySpec:
    if not replay:
        raise UsageError("The agent replay needs a recorded run.", resolution="Pass --replay RUN.")
    return ReplaySpec(run=require_run(replay))


def _specify_script(script: Path | None) -> ScriptSpec:
    if script is None:
        raise UsageError("The script agent needs a file of actions.", resolution="Pass --script.")
    return ScriptSpec(path=str(script), digest=_script_digest(script))


def _script_digest(path: Path) -> str:
    try:
        return digest_file(path)
    except OSError as exc:
        raise SpecError(f"The script {path} cannot be read.", details=str(exc)) from exc


def _script_driver(spec: ScriptSpec) -> Driver:
    from controller.agents.script import ScriptAgent, read_script  # noqa: PLC0415

    path = Path(spec.path)
    if spec.digest and _script_digest(path) != spec.digest:
        raise UsageError(
            f"The script {path} has changed since the run started.",
            resolution="Start a new run, or restore the script.",
        )
    actions = read_script(path)
    return AgentDriver(lambda context: ScriptAgent(context, actions))


def _specify_model(model: ModelChoice) -> ModelSpec:
    from controller.agents.model.screen_agent import family_prompt_digest  # noqa: PLC0415
    from controller.models.adapters import require_model  # noqa: PLC0415
    from controller.models.families.table import require_acting  # noqa: PLC0415
    from controller.models.specification import read_settings, specify_model  # noqa: PLC0415

    settings = require_model(read_settings(**model.model_dump()))
    require_acting(settings.family)
    return specify_model(settings, family_prompt_digest(settings.adapter, settings.family))


def _model_driver(spec: ModelSpec, model: ModelChoice) -> Driver:
    from controller.agents.model.screen_agent import (  # noqa: PLC0415
        family_prompt_digest,
        make_model_agent,
    )
    from controller.models.adapters import find_adapter, require_model  # noqa: PLC0415
    from controller.models.specification import read_settings, specified_settings  # noqa: PLC0415

    if spec.prompt_digest and spec.prompt_digest != family_prompt_digest(spec.adapter, spec.family):
        raise UsageError(
            "The model agent's prompts have changed since the run started.",
            resolution="Start a new run, or resume it with the version of Mesocosm that started it.",
        )
    chosen = read_settings(**model.model_dump())
    settings = require_model(specified_settings(spec, chosen))
    find_adapter(settings.adapter).load()
    return AgentDriver(
        lambda context: make_model_agent(context, settings),
        allowance_s=settings.outage_s + settings.timeout_s,
        measures_outage=True,
    )
