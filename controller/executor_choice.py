"""Choose where the trials of a run are executed: here, in processes, or on the hosts of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from controller.episode.conclusion import measure_result
from controller.executors.cluster.host_pool import appliance_id
from controller.executors.cluster.needs import machines_mib_of
from controller.executors.cluster.records import ClusterFiles
from controller.executors.local import LocalExecutor
from controller.executors.messages import RunAccess, ServiceAddress
from controller.executors.ray import RayExecutor, RunPlace, connected_cluster
from controller.store.recorder import Recorder
from controller.store.recording_key import recording_key
from controller.wiring import isolated_executor
from foundation.errors import MesocosmError, RequirementError, UsageError
from foundation.logging import is_verbose

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.executors.local import LocalTrials
    from controller.scheduling.executor import Executor
    from controller.specification.model_choice import ModelChoice
    from controller.specification.request import RunRequest
    from controller.store.runs import RunFolder
    from foundation.settings import Settings

ExecutorName = Literal["local", "process", "ray"]

_ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class ExecutorChoice:
    """Where and how the trials of a run are executed.

    Attributes:
        name: ``local``, ``process`` or ``ray``.
        fleet: ``real`` or ``fake``.
        parallel: number of simultaneous trials.
        suite: the suite; by default, the one that the run's specification names.
        model: the user's choice of the model.
    """

    name: ExecutorName
    fleet: str
    parallel: int
    suite: str
    model: ModelChoice


def executor_name(wanted: str, settings: Settings, *, isolate: bool = False) -> ExecutorName:
    """Return the executor that a request means.

    Args:
        wanted: its name; empty for that of `isolate`, or of the settings.
        settings: name the default.
        isolate: whether each trial is to have a process of its own.
    """
    if wanted == "process" or (isolate and wanted in {"", "local"}):
        return "process"
    if wanted == "ray" or (not wanted and settings.executor == "ray"):
        return "ray"
    return "local" if wanted else settings.executor


def is_elsewhere(request: RunRequest, settings: Settings) -> bool:
    """Return whether a request's machines are those of other hosts, which check them themselves."""
    return executor_name(request.executor, settings, isolate=request.isolate) == "ray"


def choice_of(
    request: RunRequest, settings: Settings, model: ModelChoice, *, suite: str = ""
) -> ExecutorChoice:
    """Return where and how the trials of a request are executed."""
    name = executor_name(request.executor, settings, isolate=request.isolate)
    return ExecutorChoice(name, request.fleet, request.parallel, suite, model)


def make_executor(
    choice: ExecutorChoice,
    trials: LocalTrials,
    folder: RunFolder,
    settings: Settings,
    *,
    local: Callable[[LocalTrials, int], Executor] = LocalExecutor,
) -> Executor:
    """Return the executor of a run.

    Args:
        choice: which one.
        trials: of the run, as opened in this process.
        folder: of the run.
        settings: the location of machines, and of the cluster.
        local: makes the executor of trials in this process.

    Raises:
        UsageError: the run needs something that other hosts do not offer.
        RequirementError: this appliance is no head of a cluster, or its service does not answer.
    """
    match choice.name:
        case "local":
            return local(trials, choice.parallel)
        case "process":
            return isolated_executor(
                trials,
                folder,
                settings,
                choice.fleet,
                parallel=choice.parallel,
                suite=choice.suite,
                model=choice.model,
            )
        case "ray":
            return ray_executor(choice, trials, folder, settings)


def ray_executor(
    choice: ExecutorChoice, trials: LocalTrials, folder: RunFolder, settings: Settings
) -> RayExecutor:
    """Return an executor that runs trials on the hosts of this appliance's cluster.

    Raises:
        UsageError: the run needs something that other hosts do not offer.
        RequirementError: this appliance is no head of a cluster, or its service does not answer.
    """
    spec = folder.spec
    if spec.keep_end_state != "none" or spec.actions.confirm:
        raise UsageError(
            "End states cannot be kept, and actions cannot be confirmed, on other hosts.",
            resolution="Omit --keep-end-state and --confirm, or use --executor local.",
        )
    files = ClusterFiles(settings)
    head = files.head()
    if head is None:
        raise RequirementError(
            "This appliance is not the head of a cluster.",
            resolution="Start one: mesocosm cluster up, then mesocosm cluster add-host "
            "(docs/cluster.md).",
        )
    _require_service(folder, head.service_url)
    tasks = {task.id for task in spec.tasks}
    is_real = choice.fleet == "real"
    mib = {
        name: machines_mib_of(trials.suite.task(name).roles.values(), settings) if is_real else 0
        for name in tasks
    }
    address = ServiceAddress(url=head.service_url, run=spec.run, key="", writer="")
    access = RunAccess(
        sink=address,
        suite=choice.suite,
        fleet=choice.fleet,
        model=choice.model,
        is_verbose=is_verbose(),
        is_bound=True,
    )
    return RayExecutor(
        RunPlace(folder, access, mib, appliance_id(settings)),
        partial(connected_cluster, head.endpoint, files.token),
        choice.parallel,
        measure=lambda result: measure_result(result, trials.context),
    )


def _require_service(folder: RunFolder, url: str) -> None:
    """Verify that the service records trials of a run.

    Raises:
        RequirementError: it does not.
    """
    try:
        with (
            recording_key(folder) as key,
            Recorder(url, folder.spec.run, key, patience_s=_ANSWER_S) as recorder,
        ):
            recorder.get("")
    except MesocosmError as exc:
        raise RequirementError(
            f"The service at {url} does not record this run's trials.",
            details=str(exc),
            resolution="Start the service of this appliance (mesocosm service start), or name its "
            "address: mesocosm cluster up --service-url URL.",
        ) from exc
