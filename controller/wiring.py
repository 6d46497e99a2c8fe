"""Composition root: connect commands to fleets, suites and executors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from controller.actions.vocabulary import vocabulary
from controller.episode.baselines import Baselines
from controller.episode.conclusion import measure_result
from controller.episode.context import RunContext
from controller.episode.end_state import EndStateKeeper
from controller.executors.local import LocalTrials
from controller.executors.messages import FolderAddress, RunAccess
from controller.executors.process import ProcessExecutor
from controller.planning import code_version, needs_of
from controller.registered.suites import locate_suite
from controller.specification.agent import agent_name, model_name
from controller.specification.episode import EpisodeSpec, TeamMember
from controller.specification.model_choice import ModelChoice
from evaluators.loading.suite import load_suite
from evaluators.loading.suite_reader import INDEX
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import UnknownNameError, UnsupportedError
from foundation.logging import is_verbose
from foundation.measures import record
from foundation.settings import get_settings
from provisioning.end_state import EndStateFleet
from provisioning.lease import StandbyFleet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from controller.episode.context import Record
    from controller.episode.trial import Driver
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.lease import Fleet
    from provisioning.resource import ResourceSpec

FLEETS = ("real", "fake")

# -P: a user's own modules in the working folder must not replace ours.
_JOB_COMMAND = (sys.executable, "-P", "-m", "controller.job_process")


def open_suite(reference: str, wanted: Collection[str] = ()) -> Suite:
    """Read a suite and verify everything that its tasks name.

    Args:
        reference: name of a built-in or registered suite, or its folder.
        wanted: ids or patterns of tasks; other tasks whose files are invalid are omitted.

    Raises:
        UnknownNameError: there is no such suite.
        SpecError: one of its files is invalid.
    """
    return load_suite(locate_suite(reference, get_settings()), vocabulary(), wanted)


def open_suite_of(spec: RunSpec, reference: str = "") -> Suite:
    """Reread the suite of a run; invalid tasks that are not part of the run are omitted.

    Args:
        spec: the run's specification.
        reference: the suite; by default its original folder, or else the suite with its name.

    Raises:
        UnknownNameError: there is no such suite.
        SpecError: one of its files is invalid.
    """
    folder = Path(spec.suite.folder) if spec.suite.folder else None
    if not reference and folder is not None and (folder / INDEX).is_file():
        reference = str(folder)
    try:
        return open_suite(reference or spec.suite.name, [task.id for task in spec.tasks])
    except UnknownNameError as exc:
        if reference:
            raise
        place = f"It was read from {folder}." if folder else ""
        raise UnknownNameError(exc.brief, place, "Pass its folder: --suite PATH.") from exc


def open_fleet(
    name: str,
    settings: Settings,
    say: Callable[[str], None] = lambda _: None,
    *,
    refill: Callable[[ResourceSpec], object] | None = None,
) -> Fleet:
    """Return the fleet of this appliance (``real``), or an in-memory fleet (``fake``).

    Args:
        name: ``real`` or ``fake``.
        settings: the location of machines.
        say: receives a progress line for each slow operation.
        refill: starts the next standby fork; by default, this process does.

    Raises:
        UnknownNameError: there is no such fleet.
    """
    if name not in FLEETS:
        raise UnknownNameError.of("fleet", name, FLEETS)
    if name == "fake":
        from provisioning.fake import FakeFleet  # noqa: PLC0415 - not needed with real machines

        return FakeFleet()
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker

    return LocalFleet(settings, say=say, refill=refill)


def make_context(
    spec: RunSpec,
    suite: Suite,
    fleet: Fleet,
    *,
    clock: Clock = SYSTEM_CLOCK,
    take: Record = record,
    baselines_dir: Path | None = None,
    keeper: EndStateKeeper | None = None,
) -> RunContext:
    """Create the context that the trials of a run share.

    Args:
        spec: the run's specification.
        suite: its suite.
        fleet: leases the machines.
        clock: measures and waits.
        take: records metrics.
        baselines_dir: where changes made by no-op trials are stored; None does not store them.
        keeper: keeps end states; see `make_keeper`.
    """
    members = {
        member.name: TeamMember(agent_name(member.agent), model_name(member.agent))
        for member in spec.agents
    }
    return RunContext(
        fleet,
        EpisodeSpec(
            suite=spec.suite.name,
            members=members,
            code=str(code_version()),
            observation=spec.observation,
            actions=spec.actions,
            recording_hz=spec.recording_hz,
        ),
        vocabulary=suite.vocabulary,
        record=take,
        clock=clock,
        baselines=None if baselines_dir is None else Baselines(baselines_dir),
        keeper=keeper,
    )


def open_trials(
    spec: RunSpec,
    suite: Suite,
    driver: Driver,
    fleet: Fleet,
    settings: Settings,
) -> LocalTrials:
    """Return what this process needs to execute the trials of a run.

    Args:
        spec: the run's specification.
        suite: its suite, with the run's limits.
        driver: chooses the actions.
        fleet: leases the machines.
        settings: the location of runs.

    Raises:
        UnsupportedError: end states are to be kept of machines that cannot be saved.
    """
    keeper = make_keeper(spec, suite, fleet, settings)
    context = make_context(spec, suite, fleet, baselines_dir=settings.baselines_dir, keeper=keeper)
    return LocalTrials(suite, context, driver)


def isolated_executor(
    trials: LocalTrials,
    folder: RunFolder,
    settings: Settings,
    fleet: str,
    *,
    parallel: int = 1,
    suite: str = "",
    model: ModelChoice | None = None,
) -> ProcessExecutor:
    """Return an executor that runs each trial in a process of its own.

    Args:
        trials: of the run, as opened in this process, which prepares machines for the others.
        folder: of the run.
        settings: the location of machines.
        fleet: ``real`` or ``fake``.
        parallel: number of simultaneous trials.
        suite: the suite; by default, the one that the run's specification names.
        model: the user's choice of the model.
    """
    context = trials.context
    machines = context.fleet
    return ProcessExecutor(
        RunAccess(
            sink=FolderAddress(path=folder.path.resolve()),
            suite=suite,
            fleet=fleet,
            model=model or ModelChoice(),
            is_verbose=is_verbose(),
        ),
        _JOB_COMMAND,
        parallel,
        environment={"MESOCOSM_STATE_DIR": str(settings.state_dir.resolve())},
        refill=machines.fill if isinstance(machines, StandbyFleet) else lambda _kind: None,
        measure=lambda result: measure_result(result, context),
    )


def make_keeper(
    spec: RunSpec, suite: Suite, fleet: Fleet, settings: Settings, *, clock: Clock = SYSTEM_CLOCK
) -> EndStateKeeper | None:
    """Return the keeper of the end states that a run requests; None if it requests none.

    Args:
        spec: the run's specification.
        suite: its suite.
        fleet: leases the machines.
        settings: the location of runs, and the space limit for end states.
        clock: measures.

    Raises:
        UnsupportedError: machines of the run's tasks cannot be saved; the details list them.
    """
    if spec.keep_end_state == "none":
        return None
    needs = sorted(needs_of(spec, suite), key=str)
    reasons = {need: _why_unkept(fleet, need) for need in needs}
    if lines := [f"{need}: {why}" for need, why in reasons.items() if why]:
        raise UnsupportedError(
            "The end states of this run cannot be kept.",
            details="\n".join(lines),
            resolution="Omit --keep-end-state, or use desktop VMs and the reference phone.",
        )
    settings.runs_dir.mkdir(parents=True, exist_ok=True)
    return EndStateKeeper(spec.keep_end_state, settings.runs_dir, settings.end_states_mib, clock)


def _why_unkept(fleet: Fleet, spec: ResourceSpec) -> str:
    if isinstance(fleet, EndStateFleet):
        return fleet.unkeepable_reason(spec)
    return "this fleet cannot keep end states"
