"""Registry of agents: create a specification from options, and a driver from a specification."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver, named_steps
from controller.agents.random_agent import RandomAgent
from controller.spec.agent import (
    CommandSpec,
    CustomSpec,
    ModelSpec,
    NoopSpec,
    OracleSpec,
    PythonSpec,
    RandomSpec,
    RegisteredSpec,
    ScriptSpec,
)
from foundation.errors import SpecError, UnknownNameError, UsageError
from foundation.files import digest_file
from foundation.settings import get_settings

if TYPE_CHECKING:
    from pydantic import JsonValue

    from controller.episode.trial import Driver
    from controller.protocol import MakeAgent
    from controller.spec.agent import AgentSpec

AGENTS = ("model", "noop", "oracle", "random", "script")
"""Names of built-in agents. A class of the user is named ``module:Class``, a command has no name,
and registered agents have their registered names."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """A user's options for an agent; defaults come from the environment.

    Attributes:
        script: file of actions, for ``script``.
        model: name of the model, for ``model``; MESOCOSM_MODEL_NAME by default.
        base_url: URL of its endpoint; MESOCOSM_MODEL_BASE_URL by default.
        command: command of an agent without a name.
        extra: further fields of each request to the model.
        image_scale: factor that screenshots are scaled down by for the model.
        solution: name of the reference solution that ``oracle`` plays.
        folder: working directory of a command and search folder of a class; the current one by
            default.
    """

    script: Path | None = None
    model: str | None = None
    base_url: str | None = None
    command: str | None = None
    extra: dict[str, JsonValue] | None = None
    image_scale: float | None = None
    solution: str = ""
    folder: Path | None = None

    @property
    def model_settings(self) -> dict[str, object]:
        """The options for a model, by the names of its settings; None for unset ones."""
        return {
            "name": self.model or None,
            "base_url": self.base_url or None,
            "extra": self.extra,
            "image_scale": self.image_scale,
        }


def specify_agent(name: str, options: AgentOptions | None = None) -> AgentSpec:
    """Return the specification of an agent, without secrets.

    Args:
        name: name of the agent, or a class of the user; empty for a command.
        options: further options.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: an option is missing, or there is no such class or program.
        SpecError: the script or the module of the class cannot be read.
        RequirementError: the settings of the model are incomplete.
    """
    options = options or AgentOptions()
    if options.command is not None:
        return _specify_command(name, options.command, options.folder)
    if ":" in name:
        from controller.agents.custom.python_class import specify_class  # noqa: PLC0415

        return specify_class(name, options.folder)
    match name:
        case "oracle":
            return OracleSpec(solution=options.solution)
        case "noop" | "random":
            return NoopSpec() if name == "noop" else RandomSpec()
        case "script":
            return _specify_script(options)
        case "model":
            return _specify_model(options)
        case _:
            return _specify_registered(name, options)


def make_driver(spec: AgentSpec, options: AgentOptions | None = None) -> Driver:
    """Return the driver of an agent's trials; files and secrets are read now.

    Args:
        spec: the agent's specification.
        options: the options that it was specified with, or those of the user who resumes its run.

    Raises:
        UsageError: only the program that passed the agent can create it, or its script, prompts or
            model have changed.
        SpecError: the script cannot be read.
        RequirementError: the model's package is missing.
    """
    match spec:
        case OracleSpec(solution=name):
            return OracleDriver(named_steps(name))
        case NoopSpec():
            return AgentDriver(NoopAgent)
        case RandomSpec():
            return AgentDriver(RandomAgent)
        case ScriptSpec():
            return _script_driver(spec)
        case ModelSpec():
            return _model_driver(spec, options or AgentOptions())
        case PythonSpec() | CommandSpec():
            return AgentDriver(_own_agent(spec))
        case RegisteredSpec():
            make_agent = _registered_agent(spec, options or AgentOptions())
            return AgentDriver(make_agent, measures_outage=bool(spec.model))
        case CustomSpec():
            raise UsageError(
                f"The agent {spec.name!r} was passed as an object by a program.",
                resolution="Resume the run with that program, or start a new run.",
            )


def _specify_command(name: str, command: str, folder: Path | None) -> CommandSpec:
    from controller.agents.custom.command import specify_command  # noqa: PLC0415

    if name:
        raise UsageError(
            f"Both the agent {name!r} and a command were specified.",
            resolution="Pass either --agent or --agent-command.",
        )
    return specify_command(command, folder)


def _specify_registered(name: str, options: AgentOptions) -> RegisteredSpec:
    if not name:
        raise UsageError("No agent was specified.", resolution="Pass --agent or --agent-command.")
    from controller.agents.custom.container import specify_container  # noqa: PLC0415
    from controller.models.specification import read_settings  # noqa: PLC0415
    from controller.registered.agents import agent_copies  # noqa: PLC0415

    copies = agent_copies(get_settings())
    entry = copies.find(name)
    if entry is None:
        raise UnknownNameError.of("agent", name, [*AGENTS, *copies.names()])
    return specify_container(entry, get_settings(), read_settings(**options.model_settings))


def _registered_agent(spec: RegisteredSpec, options: AgentOptions) -> MakeAgent:
    from controller.agents.custom.container import make_container_agent  # noqa: PLC0415
    from controller.models.specification import read_settings  # noqa: PLC0415

    return make_container_agent(spec, get_settings(), read_settings(**options.model_settings))


def _own_agent(spec: PythonSpec | CommandSpec) -> MakeAgent:
    from controller.agents.custom import command, python_class  # noqa: PLC0415

    if isinstance(spec, CommandSpec):
        return command.make_command_agent(spec)
    return python_class.make_class_agent(spec)


def _specify_script(options: AgentOptions) -> ScriptSpec:
    if options.script is None:
        raise UsageError("The script agent needs a file of actions.", resolution="Pass --script.")
    return ScriptSpec(path=str(options.script), digest=_script_digest(options.script))


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


def _specify_model(options: AgentOptions) -> ModelSpec:
    from controller.agents.model.agent import prompt_digest  # noqa: PLC0415
    from controller.models.adapters import require_model  # noqa: PLC0415
    from controller.models.specification import read_settings, specify_model  # noqa: PLC0415

    settings = require_model(read_settings(**options.model_settings))
    return specify_model(settings, prompt_digest(settings.adapter))


def _model_driver(spec: ModelSpec, options: AgentOptions) -> Driver:
    from controller.agents.model.agent import ModelAgent, prompt_digest  # noqa: PLC0415
    from controller.models.adapters import find_adapter, require_model  # noqa: PLC0415
    from controller.models.specification import read_settings, specified_settings  # noqa: PLC0415

    if spec.prompt_digest and spec.prompt_digest != prompt_digest(spec.adapter):
        raise UsageError(
            "The model agent's prompts have changed since the run started.",
            resolution="Start a new run, or resume it with the version of Mesocosm that started it.",
        )
    chosen = read_settings(**options.model_settings)
    settings = require_model(specified_settings(spec, chosen))
    find_adapter(settings.adapter).load()
    return AgentDriver(
        lambda context: ModelAgent(context, settings),
        allowance_s=settings.outage_s + settings.timeout_s,
        measures_outage=True,
    )
