"""Which agents there are: specify one from options, and make it from its specification."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.errors import SpecError, UnknownNameError, UsageError
from appliance.base.files import digest_file
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.agents.random_agent import RandomAgent
from controller.store.spec import (
    CustomSpec,
    ModelSpec,
    NoopSpec,
    OracleSpec,
    RandomSpec,
    Sampling,
    ScriptSpec,
    without_credentials,
)

if TYPE_CHECKING:
    from controller.episode.trial import Driver
    from controller.models.settings import ModelSettings
    from controller.store.spec import AgentSpec

_SETTINGS = (
    "history",
    "pictures",
    "timeout_s",
    "retries",
    "outage_s",
    "usd_per_mtok_prompt",
    "usd_per_mtok_completion",
)
"""Settings of a model that are part of its specification under the same name."""

AGENTS = ("model", "noop", "oracle", "random", "script")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What a user may say about an agent; what is not said comes from the environment.

    Attributes:
        script: file of actions, for ``script``.
        model: name of the model, for ``model``; MESOCOSM_MODEL_NAME by default.
        base_url: of its endpoint; MESOCOSM_MODEL_BASE_URL by default.
    """

    script: Path | None = None
    model: str | None = None
    base_url: str | None = None


def specify_agent(name: str, options: AgentOptions | None = None) -> AgentSpec:
    """Return the specification of an agent, without secrets.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: an option is missing.
        SpecError: the script cannot be read.
        RequirementError: the model is not known.
    """
    options = options or AgentOptions()
    match name:
        case "oracle":
            return OracleSpec()
        case "noop":
            return NoopSpec()
        case "random":
            return RandomSpec()
        case "script":
            return _specify_script(options)
        case "model":
            return _specify_model(options)
        case _:
            raise UnknownNameError.of("agent", name, AGENTS)


def make_driver(spec: AgentSpec, base_url: str | None = None) -> Driver:
    """Return what drives the trials of an agent; files and settings are read now.

    Args:
        spec: of the agent.
        base_url: of the model's endpoint, credentials included, where the specification was made
            from one; else the environment's.

    Raises:
        UsageError: the agent can be made only by the program that handed it in, or its script or
            prompts are not as they were specified.
        SpecError: the script cannot be read.
        RequirementError: the model's package is missing.
    """
    match spec:
        case OracleSpec():
            return OracleDriver()
        case NoopSpec():
            return AgentDriver(NoopAgent)
        case RandomSpec():
            return AgentDriver(RandomAgent)
        case ScriptSpec():
            return _script_driver(spec)
        case ModelSpec():
            return _model_driver(spec, base_url)
        case CustomSpec():
            raise UsageError(f"The agent {spec.name!r} was handed in by a program.")


def _specify_script(options: AgentOptions) -> ScriptSpec:
    if options.script is None:
        raise UsageError("The script agent needs a file of actions.", resolution="Give --script.")
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
        raise UsageError(f"The script {path} is not as it was when the run began.")
    actions = read_script(path)
    return AgentDriver(lambda context: ScriptAgent(context, actions))


def _specify_model(options: AgentOptions) -> ModelSpec:
    from controller.agents.model import prompt_digest  # noqa: PLC0415
    from controller.models.settings import ModelSettings  # noqa: PLC0415

    chosen = {"name": options.model, "base_url": options.base_url}
    update = {key: value for key, value in chosen.items() if value}
    settings = ModelSettings().model_copy(update=update).require()
    return ModelSpec(
        model=settings.name,
        endpoint=settings.base_url,
        sampling=Sampling.model_validate(settings.sampling()),
        **{name: getattr(settings, name) for name in _SETTINGS},
        prompt_digest=prompt_digest(),
    )


def _model_driver(spec: ModelSpec, base_url: str | None) -> Driver:
    from controller.agents.model import ModelAgent, prompt_digest  # noqa: PLC0415

    if spec.prompt_digest and spec.prompt_digest != prompt_digest():
        raise UsageError("The model agent's prompts are not as they were when the run began.")
    settings = _model_settings(spec, base_url)
    return AgentDriver(
        lambda context: ModelAgent(context, settings),
        allowance_s=settings.outage_s + settings.timeout_s,
    )


def _model_settings(spec: ModelSpec, base_url: str | None) -> ModelSettings:
    """Return the settings of a specified model; secrets come from the environment."""
    from controller.models.settings import ModelSettings  # noqa: PLC0415

    settings = ModelSettings()
    address = base_url or settings.base_url
    if without_credentials(address) != spec.endpoint:
        address = spec.endpoint
    specified = {name: getattr(spec, name) for name in _SETTINGS} | spec.sampling.model_dump()
    update = {key: value for key, value in specified.items() if value is not None}
    return settings.model_copy(update={"name": spec.model, "base_url": address, **update}).require()
