"""Check before any machine is leased that a run can go on: its model, its agent, disk and memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError, RequirementError
from controller.agents.custom.command import require_starting
from controller.models.preflight import require_answering, require_usable
from controller.models.specification import read_settings, settings_of, settings_of_registered
from controller.store.agent_spec import AskingSpec, CommandSpec, RegisteredSpec
from provisioning.fleet.allocation import memory_mib
from provisioning.fleet.memory_guard import LOW_MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from appliance.base.settings import Settings
    from controller.agents.registry import AgentOptions
    from controller.planning import Plan
    from provisioning.protocols import Json

_MIB = 1 << 20
_MIN_DISK_MIB = 1024
_TRIAL_MIB = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check came to.

    Attributes:
        name: what was checked.
        detail: what is known of it, for people.
        error: why the run must not begin; None where it may.
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
    plan: Plan,
    options: AgentOptions,
    settings: Settings,
    machines: Callable[[], None] | None = None,
) -> Iterator[Finding]:
    """Check one thing after the other; errors are in the findings.

    Args:
        plan: of the run; its suite is valid.
        options: that its agent was specified with.
        settings: where runs are.
        machines: raises where machines of its kinds could not be had; None with machines in memory.
    """
    trials = len(plan.tasks or plan.suite.tasks) * plan.repeats
    yield Finding("suite", f"{plan.suite.name} {plan.suite.version}, {trials} trials")
    checks: dict[str, Callable[[], str]] = {"disk": partial(_check_disk, settings, trials)}
    if machines is not None:
        checks |= {"machines": partial(_check_machines, machines), "memory": _check_memory}
    match plan.agent:
        case AskingSpec() as spec:
            checks["model"] = partial(_check_model, spec, options)
        case CommandSpec() as command:
            checks["agent"] = partial(require_starting, command)
        case RegisteredSpec() as registered if registered.model:
            checks["model"] = partial(_check_model_of_registered, registered, options)
        case _:
            pass
    for name, check in checks.items():
        try:
            yield Finding(name, check())
        except MesocosmError as exc:
            yield Finding(name, str(exc), exc)


def require_ready(
    plan: Plan,
    options: AgentOptions,
    settings: Settings,
    machines: Callable[[], None] | None = None,
) -> None:
    """Make sure that a run can go on; see `examine`.

    Raises:
        MesocosmError: the only thing that is wrong.
        RequirementError: several things are; details and resolution name each.
    """
    errors = {
        finding.name: finding.error
        for finding in examine(plan, options, settings, machines)
        if finding.error is not None
    }
    if len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        raise RequirementError(
            f"The run cannot begin: {', '.join(errors)}.",
            details="\n".join(
                f"{name}: {error.brief} {error.details}".strip() for name, error in errors.items()
            ),
            resolution="\n".join(error.resolution for error in errors.values() if error.resolution),
        )


def _check_machines(require: Callable[[], None]) -> str:
    require()
    return "images are current, their host answers"


def _check_disk(settings: Settings, trials: int) -> str:
    """Return how much room there is for logs and pictures.

    Raises:
        RequirementError: too little for the run.
    """
    folder = settings.runs_dir
    while not folder.exists():
        folder = folder.parent
    free_mib = shutil.disk_usage(folder).free // _MIB
    needed_mib = _MIN_DISK_MIB + trials * _TRIAL_MIB
    text = f"{free_mib} MiB free, {needed_mib} MiB needed"
    if free_mib < needed_mib:
        raise RequirementError(
            "The disk has no room for this run.",
            details=f"{settings.runs_dir}: {text}",
            resolution="Free some space (`mesocosm results prune`), or run fewer trials.",
        )
    return text


def _check_memory() -> str:
    """Return how much memory is left; machines wait for more, and some may run already.

    Raises:
        RequirementError: the host is about to run out.
    """
    total_mib, available_mib = memory_mib()
    text = f"{available_mib} of {total_mib} MiB available"
    if available_mib < LOW_MIB:
        raise RequirementError(
            "This host is about to run out of memory.",
            details=text,
            resolution=f"Free some: {LOW_MIB} MiB are needed before a machine is leased.",
        )
    return text


def _check_model(spec: AskingSpec, options: AgentOptions) -> str:
    chosen = read_settings(**options.model_settings)
    return require_usable(settings_of(spec, chosen))


def _check_model_of_registered(spec: RegisteredSpec, options: AgentOptions) -> str:
    chosen = read_settings(**options.model_settings)
    return require_answering(settings_of_registered(spec, chosen))
