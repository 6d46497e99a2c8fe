"""Measure the overhead of a trial without its machines, of a lease, and of the Fleet page."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.bench.fleet_page import bench_fleet_page
from appliance.bench.rows import Row
from controller.actions.space import Action
from controller.episode.trial import run_trial
from controller.executors.local import LocalExecutor
from controller.service.state.database import Database, state_path
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import Requester, State
from controller.service.worker.worker import Worker
from controller.specification.request import RunRequest
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MesocosmError
from foundation.settings import Settings
from provisioning.fake import FakeFleet
from provisioning.resource import PHONE, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from controller.episode.episode import Episode
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.observation.observer import Observation
    from controller.service.state.queued_run import QueuedRun
    from evaluators.model.task import Task

TARGET_S = 0.005
TARGET_MIB = 600
RUNS = 10
"""Number of concurrent queued runs, which share the trials and machines."""

_SUITE, _TASK, _AGENT = "smoke", "phone-tick-off", "noop"
_WINDOW = 50
_PATIENCE_S = 900.0
_KIB = 1024


class Meter:
    """Runs trials and measures the process' CPU time outside of them.

    Args:
        machines: the first trials wait until this many hold their machines at once.
        tick: called after each trial.

    Attributes:
        samples_s: CPU seconds of overhead per trial, one sample for every 50 trials.
        ended: trials so far.
        trials_s: CPU seconds of the trials themselves.
        most_held: maximum number of machines held at once.
    """

    def __init__(self, machines: int, tick: Callable[[str], None]) -> None:
        self._machines = machines
        self._tick = tick
        self._changed = threading.Condition()
        self._has_met = False
        self._held = 0
        self._last_s = time.process_time()
        self.samples_s: list[float] = []
        self.ended = 0
        self.trials_s = 0.0
        self.most_held = 0

    def play(self, episode: Episode, task: Task, driver: Driver, *, seed: int) -> TrialResult:
        """Run a trial whose agent immediately reports completion, and measure its cost."""
        start_s = time.thread_time()
        del driver
        result = run_trial(episode, task, _Holding(self), seed=seed)
        spent_s = time.thread_time() - start_s
        with self._changed:
            self.trials_s += spent_s
            self.ended += 1
            if self.ended % _WINDOW == 0:
                other_s = time.process_time() - self.trials_s
                self.samples_s.append((other_s - self._last_s) / _WINDOW)
                self._last_s = other_s
        self._tick("trials")
        return result

    def hold(self) -> None:
        """Record that machines are held, and wait until the target number is held at once."""
        with self._changed:
            self._held += 1
            self.most_held = max(self.most_held, self._held)
            self._has_met = self._has_met or self._held >= self._machines
            if self._has_met:
                self._changed.notify_all()
            elif not self._changed.wait_for(lambda: self._has_met, _PATIENCE_S):
                self._has_met = True

    def release(self) -> None:
        """Record that machines are released."""
        with self._changed:
            self._held -= 1


class _Holding:
    """A driver that counts its trial's machines as held."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Wait until enough machines are held, then declare the task done."""
        del observation
        self._meter.hold()
        try:
            episode.step((Action("complete"),))
        finally:
            self._meter.release()


def _peak_mib() -> float:
    """Return the peak memory of this program; `ru_maxrss` would include its parent's at the start."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / _KIB
    raise MesocosmError("The kernel does not report the peak memory of a process.")


def bench_schedule(
    machines: int, trials: int, folder: Path, tick: Callable[[str], None], *, runs: int = RUNS
) -> Generator[Row]:
    """Measure the overhead of a trial, and the cost of a lease and the Fleet page, in CPU seconds.

    Args:
        machines: in memory, held at once; a multiple of `runs`, and no more than `trials`.
        trials: in the queue, a multiple of `runs`.
        folder: an empty folder for the state.
        tick: called after each trial.
        runs: number of concurrent queued runs.

    Raises:
        MesocosmError: a run did not end, or trials could not be judged.
    """
    row = Row("schedule", f"CPU per trial: queue, threads, logs, results; {machines} machines held")
    yield row
    meter = Meter(machines, tick)
    settings = Settings(state_dir=folder)
    shares = [(machines // runs, trials // runs)] * runs
    row.failures = _work_through(settings, shares, meter)
    row.samples_s = meter.samples_s
    row.extra = {
        "mean_s": sum(meter.samples_s) / max(1, len(meter.samples_s)),
        "attempts": meter.ended,
        "machines_at_once": meter.most_held,
        "trial_itself_mean_s": meter.trials_s / max(1, meter.ended),
        "rss_peak_mib": _peak_mib(),
    }
    lease = Row("lease", f"CPU per lease of a fake machine while {machines - 1} others are leased")
    yield lease
    lease.samples_s = _lease(machines, min(trials, 1000))
    yield from bench_fleet_page(machines, folder / "page")


def _work_through(settings: Settings, shares: Sequence[tuple[int, int]], meter: Meter) -> int:
    """Run each share of machines and trials; return how many trials were not judged."""
    with contextlib.closing(Database(state_path(settings))) as database:
        ended = _finish_runs(database, settings, shares, meter)
    if bad := [queued_run for queued_run in ended if queued_run.state is not State.FINISHED]:
        raise MesocosmError(
            f"{len(bad)} of {len(ended)} runs did not finish.",
            details=f"{bad[0].state}: {bad[0].brief}",
        )
    return sum(queued_run.counts.inconclusive for queued_run in ended)


def _finish_runs(
    database: Database, settings: Settings, shares: Sequence[tuple[int, int]], meter: Meter
) -> list[QueuedRun]:
    """Queue a run of each share, work until all have ended, and return them."""
    queue, stop = RunQueue(database, SYSTEM_CLOCK), threading.Event()
    runs = [
        queue.add(_request(machines, trials), Requester("bench")).run for machines, trials in shares
    ]
    worker = Worker(
        database,
        settings,
        SYSTEM_CLOCK,
        preflight=lambda _kinds: None,
        runs_at_once=len(runs),
        executor=lambda trials, parallel: LocalExecutor(replace(trials, play=meter.play), parallel),
    )
    thread = threading.Thread(target=worker.run, args=(stop,), kwargs={"grace_s": 0.0})
    thread.start()
    try:
        wait_until(
            lambda: not thread.is_alive() or all(queue.get(run).state.is_over for run in runs),
            timeout_s=4 * _PATIENCE_S,
            every_s=0.5,
        )
    finally:
        stop.set()
        thread.join()
    return [queue.get(run) for run in runs]


def _request(machines: int, trials: int) -> RunRequest:
    return RunRequest(
        suite=_SUITE,
        agent=_AGENT,
        tasks=(_TASK,),
        repeats=trials,
        parallel=machines,
        fleet="fake",
        preflight=False,
    )


def _lease(machines: int, count: int) -> list[float]:
    """Return the CPU seconds of leases of one machine while all others are leased."""
    fleet, roles = FakeFleet(), {"phone": ResourceSpec(PHONE)}
    others = [fleet.acquire(roles) for _ in range(machines - 1)]
    samples = []
    for _ in range(count):
        start_s = time.thread_time()
        fleet.acquire(roles).release()
        samples.append(time.thread_time() - start_s)
    for lease in others:
        lease.release()
    return samples
