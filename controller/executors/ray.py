"""Execute jobs on the hosts of a cluster: Ray's tasks, each with a process of its own on its host."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from controller.episode.result import Ending, Reason
from controller.executors.cluster.connection import connected
from controller.executors.cluster.messages import (
    TASK_REPORT,
    ClusterOrder,
    Declined,
    Died,
    Placed,
)
from controller.executors.cluster.needs import choose_host, could_execute
from controller.executors.cluster.task_errors import TaskLostError
from controller.executors.messages import Ended, Refused, Stepped, TrialOrder
from controller.executors.placing import place_all
from controller.executors.process import ending_of_dead, require_nameable
from controller.store.received import request_cancel
from controller.store.recording_key import recording_key
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError, StoreError, error_of_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from controller.episode.result import TrialResult
    from controller.executors.cluster.messages import TaskReport
    from controller.executors.cluster.needs import HostState
    from controller.executors.messages import RunAccess
    from controller.scheduling.scheduler import Scheduler
    from controller.scheduling.sink import TrialSink
    from controller.specification.job import TrialJob
    from controller.store.runs import RunFolder
    from foundation.cancel import CancelToken
    from foundation.clock import Clock

_log = logging.getLogger(__name__)

WAIT_S = 180.0
"""How long a job waits while no host of the cluster can execute it, whatever its load."""
_POLL_S = 0.5
_EXCLUDED_S = 15.0
"""How long a host that has declined or lost a job gets none."""
_UNFIT_S = 600.0
"""The same, if its code or images are others."""


class Task(Protocol):
    """One task of a cluster."""

    def next_report(self, timeout_s: float) -> str | None:
        """Return the next report as JSON; None if there is none within the time.

        Raises:
            StopIteration: the task has ended.
            TaskLostError: its worker, node or host is gone, or it was withdrawn.
        """
        ...

    def withdraw(self) -> None:
        """End it: its process ends too, without a result."""
        ...


class Cluster(Protocol):
    """Hosts that execute tasks."""

    def hosts(self) -> list[HostState]:
        """Return the hosts that answer.

        Raises:
            RequirementError: the cluster does not answer.
        """
        ...

    def submit(self, host: HostState, order: ClusterOrder, machines_mib: int) -> Task:
        """Send a job to a host; it waits there until its resources are free."""
        ...


@dataclass(frozen=True, slots=True)
class RunPlace:
    """What places on a cluster need to know of a run.

    Attributes:
        folder: the run, on this host.
        access: how a host gets at it; its sink is the service, without key and writer.
        machines_mib: what the machines of each task may use, MiB.
        appliance: id of the appliance whose metrics count the trials.
    """

    folder: RunFolder
    access: RunAccess
    machines_mib: Mapping[str, int]
    appliance: str


class RayExecutor:
    """A `controller.scheduling.executor.Executor` that executes each job on a host of a cluster.

    It sends a job to the host with the most free places, and waits if none has any. A job that has
    not begun when its host declines or disappears is sent to another one; an attempt that has begun
    is concluded as a fault of the environment, which is repeated. Whoever concludes it first, this
    process or the trial's own, decides: the run's folder accepts one result.

    Args:
        place: the run.
        connect: connects to the cluster for the duration of a block.
        parallel: number of simultaneous trials.
        measure: called with each result that another appliance has measured.
        clock: measures.

    Raises:
        ValueError: `parallel` is below 1.
    """

    def __init__(
        self,
        place: RunPlace,
        connect: Callable[[], AbstractContextManager[Cluster]],
        parallel: int = 1,
        *,
        measure: Callable[[TrialResult], None] = lambda _: None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, got {parallel}")
        self._place = place
        self._connect = connect
        self._parallel = parallel
        self._measure = measure
        self._clock = clock
        self._choosing = threading.Lock()
        self._pending: Counter[str] = Counter()
        self._excluded: dict[tuple[str, str], tuple[float, str]] = {}

    def run(self, scheduler: Scheduler) -> None:
        """Execute all jobs of a scheduler; see `controller.scheduling.executor.Executor`.

        Raises:
            UsageError: the run's agent cannot be created in another process.
            RequirementError: the cluster does not answer, or no host can execute a job.
        """
        for member in scheduler.sink.spec.agents:
            require_nameable(member.agent)
        with recording_key(self._place.folder) as key, self._connect() as cluster:

            def run_job(
                job: TrialJob,
                sink: TrialSink,
                *,
                cancel: CancelToken,
                on_step: Callable[[int], None],
            ) -> TrialResult:
                attempt = _Attempt(job, sink, cancel, on_step, key)
                return self._run_job(attempt, cluster)

            place_all(scheduler, run_job, self._parallel)

    def _run_job(self, attempt: _Attempt, cluster: Cluster) -> TrialResult:
        """Execute a job; Ctrl-C in this thread cancels it, and is passed on."""
        try:
            return self._execute(attempt, cluster)
        except KeyboardInterrupt:
            attempt.interrupt("Interrupted.")
            return self._execute(attempt, cluster)

    def _execute(self, attempt: _Attempt, cluster: Cluster) -> TrialResult:
        while True:
            if attempt.task is None and not self._submit(attempt, cluster):
                return self._conclude(attempt, Ending(Reason.CANCELLED, attempt.cancelled))
            try:
                result = self._follow(attempt)
            except TaskLostError as exc:
                attempt.task = None
                if attempt.cancelled:
                    return self._conclude(attempt, Ending(Reason.CANCELLED, attempt.cancelled))
                if attempt.is_placed:
                    why = f"The host {attempt.host} lost the trial: {exc}"
                    return self._conclude(attempt, Ending(Reason.ENVIRONMENT_ERROR, why))
                self._exclude(attempt, f"it lost the trial before its start: {exc}")
                continue
            if result is not None:
                return result
            attempt.task = None

    def _submit(self, attempt: _Attempt, cluster: Cluster) -> bool:
        """Send a job to a host as soon as one is free; return False if it was cancelled first.

        Raises:
            RequirementError: no host has been able to execute it for a while, whatever its load.
        """
        needed_mib = self._place.machines_mib.get(attempt.job.task, 0)
        while not attempt.cancelled:
            hosts = cluster.hosts()
            with self._choosing:
                host = choose_host(hosts, needed_mib, self._pending, self._unfit(attempt))
                if host is not None:
                    self._pending[host.name] += 1
            if host is not None:
                order = attempt.order(self._place.access)
                attempt.host, attempt.is_placed = host.name, False
                try:
                    attempt.task = cluster.submit(
                        host, ClusterOrder(order=order, host=host.name), needed_mib
                    )
                finally:
                    attempt.is_pending = True
                return True
            if self._is_hopeless(attempt, hosts, needed_mib):
                raise self._no_host(attempt, hosts, needed_mib)
            self._clock.wait(attempt.cancel.event, _POLL_S)
        return False

    def _is_hopeless(self, attempt: _Attempt, hosts: list[HostState], needed_mib: int) -> bool:
        """Return whether, for a while, all hosts that are large enough have declined a job."""
        now_s = self._clock.monotonic_s()
        if any(
            could_execute(host, needed_mib) and host.name not in attempt.declined for host in hosts
        ):
            attempt.hopeless_s = None
        elif attempt.hopeless_s is None:
            attempt.hopeless_s = now_s
        return attempt.hopeless_s is not None and now_s - attempt.hopeless_s > WAIT_S

    def _follow(self, attempt: _Attempt) -> TrialResult | None:
        """Follow a task to its end; return the result, or None if its host has declined the job.

        Raises:
            TaskLostError: its worker, node or host is gone.
            MesocosmError: the job cannot be executed anywhere.
        """
        assert attempt.task is not None  # noqa: S101 - it was submitted
        try:
            for report in self._reports(attempt, attempt.task):
                if isinstance(report, Declined):
                    attempt.declined.add(attempt.host)
                    seconds = _UNFIT_S if report.is_lasting else _EXCLUDED_S
                    self._exclude(attempt, report.reason, seconds)
                    return None
                self._take(attempt, report)
        finally:
            self._begun(attempt)
        if attempt.result is None:
            raise TaskLostError("its task ended without a result.")
        return attempt.result

    def _take(self, attempt: _Attempt, report: TaskReport) -> None:
        """Note what a task reports.

        Raises:
            MesocosmError: the job cannot be executed anywhere.
        """
        match report:
            case Placed(appliance=appliance):
                attempt.is_placed, attempt.appliance = True, appliance
                self._begun(attempt)
            case Stepped(steps=steps):
                attempt.on_step(steps)
            case Ended(result=result):
                if attempt.appliance != self._place.appliance:
                    self._measure(result)
                attempt.result = result
            case Died() as died:
                attempt.result = self._conclude_dead(attempt, died)
            case Refused() as refused:
                raise error_of_code(
                    refused.code, refused.brief, refused.details, refused.resolution
                )

    def _reports(self, attempt: _Attempt, task: Task) -> Iterator[TaskReport]:
        """Yield the reports of a task; pass on the request to cancel it meanwhile."""
        while True:
            if attempt.cancelled:
                if attempt.is_placed:
                    attempt.request_cancel(self._place.folder)
                else:
                    task.withdraw()
            try:
                text = task.next_report(_POLL_S)
            except StopIteration:
                return
            if text is not None:
                yield TASK_REPORT.validate_json(text)

    def _conclude_dead(self, attempt: _Attempt, died: Died) -> TrialResult:
        ending = ending_of_dead(
            died.exit_code,
            attempt.sink.spec.agents[0].agent,
            has_acted=died.has_acted,
            cancelled=attempt.cancelled,
        )
        return self._conclude(attempt, ending)

    def _conclude(self, attempt: _Attempt, ending: Ending) -> TrialResult:
        """Conclude an attempt, unless its own process has recorded a result."""
        job = attempt.job
        _log.warning("attempt %d is concluded here: %s", job.attempt, ending.detail)
        try:
            result = attempt.sink.conclude_attempt(job, ending, self._clock)
        except StoreError:
            known = attempt.sink.attempts(job.task, job.repeat)
            recorded = next((past.result for past in known if past.number == job.attempt), None)
            if recorded is None:
                raise
            result = recorded
        self._measure(result)
        return result

    def _begun(self, attempt: _Attempt) -> None:
        with self._choosing:
            if attempt.is_pending:
                attempt.is_pending = False
                self._pending[attempt.host] -= 1

    def _exclude(self, attempt: _Attempt, reason: str, seconds: float = _EXCLUDED_S) -> None:
        """Send no attempts at the same task to a host for a while; it may execute others."""
        _log.warning("%s gets no trials of this task for a while: %s", attempt.host, reason)
        until_s = self._clock.monotonic_s() + seconds
        with self._choosing:
            self._excluded[attempt.host, attempt.job.task] = until_s, reason

    def _unfit(self, attempt: _Attempt) -> frozenset[str]:
        now_s, task = self._clock.monotonic_s(), attempt.job.task
        rows = self._excluded.items()
        return frozenset(
            host for (host, name), (until_s, _) in rows if name == task and now_s < until_s
        )

    def _no_host(
        self, attempt: _Attempt, hosts: list[HostState], needed_mib: int
    ) -> RequirementError:
        task = attempt.job.task
        reasons = {host: why for (host, name), (_, why) in self._excluded.items() if name == task}
        lines = [f"{host}: {reason}" for host, reason in sorted(reasons.items())]
        lines += [
            f"{host.name}: it has fewer than {needed_mib} MiB for machines"
            for host in hosts
            if host.name not in reasons and not could_execute(host, needed_mib)
        ]
        return RequirementError(
            f"No host of the cluster can execute {attempt.job.task}.",
            details="\n".join(lines) or "No host answers.",
            resolution="See `mesocosm cluster status`; add a host with `mesocosm cluster add-host`.",
        )


class _Attempt:
    """The state of one attempt while its job is placed, perhaps several times.

    Args:
        job: the attempt.
        sink: records its end if its own process cannot.
        cancel: of the run.
        on_step: called after each turn.
        key: key of the run.
    """

    def __init__(
        self,
        job: TrialJob,
        sink: TrialSink,
        cancel: CancelToken,
        on_step: Callable[[int], None],
        key: str,
    ) -> None:
        self.job = job
        self.sink = sink
        self.cancel = cancel
        self.on_step = on_step
        self.task: Task | None = None
        self.host = ""
        self.appliance = ""
        self.is_placed = False
        self.is_pending = False
        self.declined: set[str] = set()
        self.hopeless_s: float | None = None
        self.result: TrialResult | None = None
        self._key = key
        self._interrupted = ""

    @property
    def cancelled(self) -> str:
        """Why it shall end as cancelled; empty if it shall not."""
        return self._interrupted or (self.cancel.reason if self.cancel.is_cancelled else "")

    def interrupt(self, reason: str) -> None:
        """Cancel this attempt alone."""
        self._interrupted = reason

    def order(self, access: RunAccess) -> TrialOrder:
        """Return the order for a host, whose process is the only one that may record the attempt."""
        update = {"key": self._key, "writer": secrets.token_hex(8)}
        sink = access.sink.model_copy(update=update)
        return TrialOrder(job=self.job, access=access.model_copy(update={"sink": sink}))

    def request_cancel(self, folder: RunFolder) -> None:
        """Ask the attempt's process to end it as cancelled."""
        job = self.job
        request_cancel(folder, job.task, job.repeat, job.attempt, self.cancelled)


@contextmanager
def connected_cluster(endpoint: str, token_path: Path) -> Iterator[Cluster]:
    """Connect to a cluster for the duration of a block.

    Raises:
        RequirementError: Ray is not installed, or the cluster does not answer.
    """
    from controller.executors.cluster.ray_cluster import RayCluster  # noqa: PLC0415

    with connected(endpoint, token_path) as ray:
        yield RayCluster(ray)
