"""Execute a job in a process that knows only the job and how to get at its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.agents.registry import make_run_driver
from controller.executors.cluster.fitness import require_fit
from controller.executors.messages import (
    AgentActs,
    FolderAddress,
    Forked,
    ServiceAddress,
    Stepped,
)
from controller.planning import suite_for
from controller.store.recorder import Recorder
from controller.store.runs import RunFolder
from controller.store.service_sink import ServiceSink
from controller.wiring import open_fleet, open_suite_of, open_trials
from foundation.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.episode import Episode
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.executors.messages import Report, SinkAddress, TrialOrder
    from controller.observation.observer import Observation
    from controller.scheduling.sink import TrialSink
    from foundation.cancel import CancelToken
    from foundation.settings import Settings


def execute_order(
    order: TrialOrder, settings: Settings, *, cancel: CancelToken, report: Callable[[Report], None]
) -> TrialResult:
    """Open the run of a job, lease the trial's machines here, and execute the job.

    Any process can call this that reaches the run's sink, suite and agent, on whichever host it
    runs: it leases the machines of the fleet in `settings`.

    Args:
        order: the job, and how to get at its run.
        settings: locate the machines.
        cancel: ends the job as cancelled.
        report: receives what happens meanwhile; not the result.

    Raises:
        HostUnfitError: this host cannot execute it, another one may.
        MesocosmError: the job cannot be executed: its specification, suite or agent is not the one
            that it was made for, or the sink cannot be written.
    """
    job, access = order.job, order.access
    sink = open_sink(access.sink)
    if sink.spec.digest != job.spec:
        raise StoreError(f"The specification of {sink.spec.run} is not that of the job.")
    tasks = tuple(task for task in sink.spec.tasks if task.id == job.task)
    spec = sink.spec.model_copy(update={"tasks": tasks})
    suite = suite_for(spec, open_suite_of(spec, access.suite))
    if isinstance(access.sink, ServiceAddress):
        require_fit(spec, suite, settings, with_machines=access.fleet == "real")
    driver = _Reported(make_run_driver(spec, access.model), report)
    fleet = open_fleet(access.fleet, settings, refill=lambda need: report(Forked.of(need)))
    return open_trials(spec, suite, driver, fleet, settings).run_job(
        job, sink, cancel=cancel, on_step=lambda steps: report(Stepped(steps=steps))
    )


def open_sink(address: SinkAddress) -> TrialSink:
    """Return the sink at an address.

    Raises:
        StoreError: there is no run, or its service does not answer.
    """
    match address:
        case FolderAddress(path=path):
            return RunFolder(path)
        case ServiceAddress(url=url, run=run, key=key, writer=writer):
            return ServiceSink(Recorder(url, run, key), writer)


@dataclass(frozen=True, slots=True)
class _Reported:
    """A driver that reports when it begins."""

    driver: Driver
    report: Callable[[Report], None]

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Report that the agent acts, and let it."""
        self.report(AgentActs())
        self.driver.drive(episode, observation)
