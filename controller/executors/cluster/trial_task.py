"""The task of one trial on a host: it starts the trial's process there, and passes on its reports.

The process is that of `mesocosm run --isolate`. It ends with the task, whatever ends that; the kernel
then releases its lease. While it runs, the task asks the service regularly whether the attempt is
still wanted, and ends it if not, or if nobody answers: then others may execute it.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from typing import TYPE_CHECKING

from controller.executors.cluster.fitness import HostUnfitError
from controller.executors.cluster.host_pool import appliance_id
from controller.executors.cluster.messages import ClusterOrder, Declined, Died, Placed
from controller.executors.cluster.records import ClusterFiles
from controller.executors.messages import Ended, Forked, Refused, ServiceAddress, Stepped
from controller.executors.process import JobProcess
from controller.store.received import AttemptOverError
from controller.store.recorder import Recorder
from controller.store.service_sink import attempt_path
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from controller.executors.messages import TrialOrder
    from controller.specification.agent import Record
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

JOB_COMMAND = (sys.executable, "-P", "-m", "controller.job_process")
BEAT_S = 3.0
"""Pause between two questions whether an attempt is still wanted."""
TTL_S = 150.0
"""How long an attempt lives although its service does not answer; longer than a restart takes."""


def run_trial_task(
    order_json: str,
    settings: Settings,
    *,
    refill: Callable[[ResourceSpec], object] = lambda _: None,
    command: Sequence[str] = JOB_COMMAND,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[str]:
    """Execute a job on this host; yield reports as JSON (`controller.executors.cluster.messages`).

    Args:
        order_json: a `ClusterOrder`.
        settings: of this host's appliance.
        refill: called with the kind of each standby fork that the trial leased.
        command: program and arguments of the job's process.
        clock: measures.
    """
    order = ClusterOrder.model_validate_json(order_json)
    if ClusterFiles(settings).is_drained.exists():
        yield Declined(reason=f"The host {order.host} is drained.").model_dump_json()
        return
    yield Placed(host=order.host, appliance=appliance_id(settings)).model_dump_json()
    environment = {"MESOCOSM_STATE_DIR": str(settings.state_dir.resolve())}
    reports: queue.Queue[Record | None] = queue.Queue()
    with JobProcess(command, environment) as process:
        process.send(order.order)
        follower = threading.Thread(
            target=_follow, args=(process, reports, refill), name="reports", daemon=True
        )
        follower.start()
        with _Beats(order.order, process, clock):
            while (report := reports.get()) is not None:
                yield report.model_dump_json()
        follower.join()


def _follow(
    process: JobProcess,
    reports: queue.Queue[Record | None],
    refill: Callable[[ResourceSpec], object],
) -> None:
    """Pass on the reports of a process until it has ended, and how it ended."""

    def forked(spec: ResourceSpec) -> None:
        reports.put(Forked.of(spec))
        refill(spec)

    try:
        result = process.follow(lambda steps: reports.put(Stepped(steps=steps)), forked)
        if result is not None:
            reports.put(Ended(result=result))
        else:
            reports.put(Died(exit_code=process.exit_code, has_acted=process.has_acted))
    except HostUnfitError as exc:
        why = f"{exc.brief} {exc.resolution}".strip()
        reports.put(Declined(reason=why, is_lasting=True))
    except MesocosmError as exc:
        reports.put(
            Refused(code=exc.code, brief=exc.brief, details=exc.details, resolution=exc.resolution)
        )
    finally:
        reports.put(None)


class _Beats:
    """Asks the service, as long as a block lasts, whether the attempt is still wanted."""

    def __init__(self, order: TrialOrder, process: JobProcess, clock: Clock) -> None:
        self._order = order
        self._process = process
        self._clock = clock
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="beats", daemon=True)

    def __enter__(self) -> None:
        if isinstance(self._order.access.sink, ServiceAddress):
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        address = self._order.access.sink
        assert isinstance(address, ServiceAddress)  # noqa: S101 - see `__enter__`
        path = f"{attempt_path(self._order.job)}/beat"
        answered_s = self._clock.monotonic_s()
        with Recorder(address.url, address.run, address.key, patience_s=0.0) as recorder:
            while not self._clock.wait(self._stopped, BEAT_S):
                try:
                    reason = recorder.post(path, writer=address.writer)["cancel"]
                    answered_s = self._clock.monotonic_s()
                except AttemptOverError as exc:
                    self._end(f"the attempt is over: {exc.brief}")
                    return
                except MesocosmError as exc:
                    if self._clock.monotonic_s() - answered_s > TTL_S:
                        self._end(f"its service has not answered for {TTL_S:g} s: {exc.brief}")
                        return
                    continue
                if reason:
                    self._process.cancel(reason)

    def _end(self, why: str) -> None:
        """End the process: nobody waits for its result any more."""
        if not self._stopped.is_set():
            _log.warning("the trial is ended: %s", why)
            self._process.end()
