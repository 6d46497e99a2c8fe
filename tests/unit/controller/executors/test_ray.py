"""Trials on hosts that are processes here: whatever ends, each trial has one verdict."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Reason
from controller.executors.cluster.records import ClusterFiles
from controller.scheduling.events import AttemptLost, StepDone, TrialEnded
from controller.scheduling.execution import execute_run
from controller.specification.agent import OracleSpec
from evaluators.graph.outcome import Verdict
from foundation.cancel import CancelToken
from foundation.clock import FakeClock, wait_until
from foundation.errors import RequirementError, UsageError
from foundation.settings import Settings
from tests.unit.controller.executors.shop import WAITING, Shop, class_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.scheduling.events import TrialEvent
    from controller.store.runs import RunFolder

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tiny: Path, tmp_path: Path) -> Iterator[Shop]:
    opened = Shop("ray", tiny, tmp_path / "state")
    yield opened
    opened.close()


def ends(run: RunFolder, task: str, repeat: int = 0) -> list[int]:
    """Return how many results each attempt at a trial has."""
    return [
        [event["type"] for event in attempt.events].count("end")
        for attempt in run.attempts(task, repeat)
    ]


def jobs_of(run: RunFolder) -> list[int]:
    """Return the ids of the processes of a run's trials."""
    folder = str(run.path.parent.parent.parent / "hosts")
    pids = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_job = b"controller.job_process" in (path / "cmdline").read_bytes()
            if is_job and folder.encode() in (path / "environ").read_bytes():
                pids.append(int(path.name))
        except OSError:
            continue
    return pids


def test_trials_are_spread_over_the_hosts(shop: Shop) -> None:
    run = shop.begin(OracleSpec(), "answer", repeats=4)
    results = shop.go(run, parallel=4)
    assert [result.verdict for result in results] == [Verdict.PASS] * 4
    assert sorted(shop.cluster.placed) == ["a", "a", "b", "b"]
    # What other appliances have measured is counted here, too.
    assert sorted(shop.measured, key=lambda row: row.repeat) == run.results()
    assert not (run.path / "recording-key").exists()


def test_a_killed_worker_costs_one_attempt(shop: Shop, tmp_path: Path) -> None:
    """The trial's process ends with the worker, so that its lease ends; nothing is judged twice."""
    run = shop.begin(class_in(tmp_path, WAITING), "answer", retries=1)
    token, seen = CancelToken(), list[int]()

    def kill(event: TrialEvent) -> None:
        if isinstance(event, StepDone) and event.attempt == 1 and not seen:
            seen.extend(jobs_of(run))
            shop.cluster.tasks[0].kill()
        if isinstance(event, StepDone) and event.attempt == 2:
            token.cancel("Enough.")

    shop.go(run, cancel=token, then=kill)
    (lost,) = (event for event in shop.events if isinstance(event, AttemptLost))
    assert lost.result.reason is Reason.ENVIRONMENT_ERROR
    assert "lost the trial" in lost.result.detail
    assert lost.result.steps >= 1
    assert ends(run, "answer") == [1, 1]
    assert len(seen) == 1
    assert wait_until(lambda: not jobs_of(run), timeout_s=10)


def test_a_killed_process_of_a_trial_is_concluded_by_its_exit_code(
    shop: Shop, tmp_path: Path
) -> None:
    run = shop.begin(class_in(tmp_path, WAITING), "answer")

    def kill(event: TrialEvent) -> None:
        if isinstance(event, StepDone) and event.steps == 1:
            for pid in jobs_of(run):
                os.kill(pid, signal.SIGSEGV)

    (result,) = shop.go(run, then=kill)
    assert (result.reason, ends(run, "answer")) == (Reason.AGENT_ERROR, [1])
    assert "SIGSEGV" in result.detail


def test_a_drained_host_costs_no_attempt(shop: Shop) -> None:
    drained = ClusterFiles(Settings(state_dir=shop.cluster.states["a"]))
    drained.folder.mkdir(parents=True)
    drained.is_drained.touch()
    run = shop.begin(OracleSpec(), "answer", repeats=2)
    results = shop.go(run, parallel=2)
    assert [result.verdict for result in results] == [Verdict.PASS] * 2
    assert "a" in shop.cluster.placed
    assert not (shop.cluster.states["a"] / "logs").exists()  # no trial's process ran there
    assert [len(run.attempts("answer", repeat)) for repeat in (0, 1)] == [1, 1]


def test_a_host_with_other_code_is_not_used(shop: Shop) -> None:
    spec = shop.begin(OracleSpec(), "answer").spec
    other = spec.code.model_copy(update={"commit": "f" * 40})
    from controller.store.runs import Store

    run = Store(shop.settings.runs_dir).create(spec.model_copy(update={"run": "x", "code": other}))
    clock = FakeClock()
    with pytest.raises(RequirementError, match="No host of the cluster") as caught:
        execute_run(run, shop.ray_executor(run, clock=clock))
    assert "a: This host has Mesocosm" in caught.value.details
    assert "b: This host has Mesocosm" in caught.value.details
    assert run.attempts("answer", 0) == []


def test_without_hosts_a_run_ends_with_a_reason(shop: Shop) -> None:
    shop.cluster.states.clear()
    run = shop.begin(OracleSpec(), "answer")
    with pytest.raises(RequirementError) as caught:
        execute_run(run, shop.ray_executor(run, clock=FakeClock()))
    assert caught.value.details == "No host answers."


def test_a_busy_cluster_is_waited_for_and_a_cancelled_job_is_not(shop: Shop) -> None:
    shop.cluster.trials = 0
    for name in shop.cluster.states:
        assert name in {host.name for host in shop.cluster.hosts()}
    shop.cluster.trials = 1
    run = shop.begin(OracleSpec(), "answer", repeats=3)
    results = shop.go(run, parallel=3)
    assert [result.verdict for result in results] == [Verdict.PASS] * 3
    token = CancelToken()
    shop.cluster.mib = -1  # no trial fits now
    run = shop.begin(OracleSpec(), "answer")
    threading.Timer(1.0, token.cancel, ["Enough."]).start()
    (result,) = shop.go(run, cancel=token)
    assert (result.reason, result.detail) == (Reason.CANCELLED, "Enough.")
    assert ends(run, "answer") == [1]


def test_a_result_that_arrived_is_kept_if_its_report_did_not(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker dies after the trial's end was recorded, and before it was reported."""
    run = shop.begin(OracleSpec(), "answer", retries=1)
    from tests.unit.controller.executors.hosts import ProcessTask

    original = ProcessTask.next_report

    def lose_end(self: ProcessTask, timeout_s: float) -> str | None:
        line = original(self, timeout_s)
        if line is not None and '"kind":"ended"' in line:
            self.kill()
            from controller.executors.cluster.task_errors import TaskLostError

            raise TaskLostError("its worker is gone.")
        return line

    monkeypatch.setattr(ProcessTask, "next_report", lose_end)
    (result,) = shop.go(run)
    assert (result.verdict, ends(run, "answer")) == (Verdict.PASS, [1])
    assert [event for event in shop.events if isinstance(event, TrialEnded)]


def test_agents_that_are_objects_are_refused(shop: Shop) -> None:
    from controller.specification.agent import CustomSpec

    run = shop.begin(CustomSpec(name="own"), "answer")
    with pytest.raises(UsageError, match="object of this program"):
        execute_run(run, shop.ray_executor(run))
    with pytest.raises(ValueError, match="at least 1"):
        shop.ray_executor(run, parallel=0)
