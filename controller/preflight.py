"""Check a run's model, agent, disk and memory before any machine is leased."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from controller.agents.custom.command import require_starting
from controller.agents.custom.http_endpoint import require_endpoint
from controller.agents.registry import choice_of
from controller.models.checking.format_check import FormatCheck
from controller.models.checking.preflight import (
    require_answering,
    require_listening,
    require_usable,
)
from controller.models.specification import read_settings, registered_settings, specified_settings
from controller.specification.agent import (
    TOOLS,
    CommandSpec,
    HttpSpec,
    ModelClientSpec,
    RegisteredSpec,
)
from foundation.errors import MesocosmError, RequirementError, named_error
from provisioning.fleet.allocation import memory_mib
from provisioning.fleet.memory_guard import LOW_MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.models.settings import ModelSettings
    from controller.specification.agent import AgentSpec, Member
    from controller.specification.model_choice import ModelChoice
    from controller.specification.run import RunSpec
    from controller.specification.team import Calls
    from foundation.settings import Settings
    from provisioning.protocols import Json

_MIB = 1 << 20
_MIN_DISK_MIB = 1024
_TRIAL_MIB = 4
_OF_MEMBER = "model of "


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check.

    Attributes:
        name: the subject of the check.
        detail: human-readable result.
        error: why the run must not start; None if it may.
    """

    name: str
    detail: str
    error: MesocosmError | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {"name": self.name, "ok": self.error is None, "detail": self.detail}

    def __str__(self) -> str:
        return f"{self.name}: {'ok' if self.error is None else 'NOT OK'}, {self.detail}"


def examine(
    spec: RunSpec,
    model: ModelChoice,
    settings: Settings,
    machines: Callable[[], None] | None = None,
) -> Iterator[Finding]:
    """Run the checks in sequence; findings contain the errors.

    Args:
        spec: the run's specification; its suite is valid.
        model: the user's choice of the model.
        settings: the location of runs.
        machines: raises if machines of the required kinds are unavailable; None for fake machines.
    """
    trials = len(spec.planned)
    yield Finding("suite", f"{spec.suite.name} {spec.suite.version}, {trials} trials")
    checks: dict[str, Callable[[], str]] = {"disk": partial(_check_disk, settings, trials)}
    if machines is not None:
        checks |= {"machines": partial(_check_machines, machines), "memory": _check_memory}
    if not spec.team.is_single:
        checks |= {
            f"{_OF_MEMBER}{row.name}": partial(_check_member, row, spec.team.calls, model)
            for row in spec.agents
        }
    else:
        checks |= _agent_checks(spec.only_agent, choice_of(spec, model))
    for name, check in checks.items():
        try:
            yield Finding(name, check())
        except MesocosmError as exc:
            yield Finding(name, str(exc), exc)


def _agent_checks(agent: AgentSpec, model: ModelChoice) -> dict[str, Callable[[], str]]:
    match agent:
        case ModelClientSpec() as client:
            return {"model": partial(_check_model, client, model)}
        case CommandSpec() as command:
            return {"agent": partial(require_starting, command)}
        case HttpSpec() as endpoint:
            return {"agent": partial(require_endpoint, endpoint)}
        case RegisteredSpec() as registered if registered.model:
            return {"model": partial(_check_model_of_registered, registered, model)}
        case _:
            return {}


def require_ready(
    spec: RunSpec,
    model: ModelChoice,
    settings: Settings,
    machines: Callable[[], None] | None = None,
) -> None:
    """Verify that a run can start; see `examine`.

    Raises:
        MesocosmError: the only failed check; that of a member's model names the member.
        RequirementError: several checks failed; details and resolution list each.
    """
    errors = {
        finding.name: finding.error
        for finding in examine(spec, model, settings, machines)
        if finding.error is not None
    }
    if len(errors) == 1:
        ((name, error),) = errors.items()
        if name.startswith(_OF_MEMBER):
            raise named_error(f"M{name[1:]}", error) from error
        raise error
    if errors:
        raise RequirementError(
            f"The run cannot start: {', '.join(errors)}.",
            details="\n".join(
                f"{name}: {error.brief} {error.details}".strip() for name, error in errors.items()
            ),
            resolution="\n".join(error.resolution for error in errors.values() if error.resolution),
        )


def _check_machines(require: Callable[[], None]) -> str:
    require()
    return "images are current, their host responds"


def _check_disk(settings: Settings, trials: int) -> str:
    """Return how much disk space is free for logs and screenshots.

    Raises:
        RequirementError: not enough for the run.
    """
    folder = settings.runs_dir
    while not folder.exists():
        folder = folder.parent
    free_mib = shutil.disk_usage(folder).free // _MIB
    needed_mib = _MIN_DISK_MIB + trials * _TRIAL_MIB
    text = f"{free_mib} MiB free, {needed_mib} MiB needed"
    if free_mib < needed_mib:
        raise RequirementError(
            "Not enough disk space for this run.",
            details=f"{settings.runs_dir}: {text}",
            resolution="Free disk space (`mesocosm results prune`), or run fewer trials.",
        )
    return text


def _check_memory() -> str:
    """Return how much memory is available; machines wait for more, and some may already run.

    Raises:
        RequirementError: the host is about to run out of memory.
    """
    total_mib, available_mib = memory_mib()
    text = f"{available_mib} of {total_mib} MiB available"
    if available_mib < LOW_MIB:
        raise RequirementError(
            "This host is about to run out of memory.",
            details=text,
            resolution=f"Free memory: leasing a machine requires {LOW_MIB} MiB.",
        )
    return text


def _check_member(member: Member, calls: Calls, model: ModelChoice) -> str:
    from controller.agents.team.specifying import member_settings  # noqa: PLC0415 - only of teams

    return _check_settings(member_settings(member, model), calls)


def _check_model(spec: ModelClientSpec, model: ModelChoice) -> str:
    settings = specified_settings(spec, read_settings(**model.model_dump()))
    return _check_settings(settings, "functions")


def _check_settings(settings: ModelSettings, calls: Calls) -> str:
    if settings.family == TOOLS:
        return require_usable(settings, calls=calls)
    require_listening(settings)
    return FormatCheck(settings).require_format()


def _check_model_of_registered(spec: RegisteredSpec, model: ModelChoice) -> str:
    chosen = read_settings(**model.model_dump())
    return require_answering(registered_settings(spec, chosen))
