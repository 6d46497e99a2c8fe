"""What every executor does with the jobs of a run."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Reason
from controller.scheduling.events import AttemptLost, StepDone, TrialEnded, TrialId, TrialStarted
from controller.scheduling.execution import execute_run
from controller.specification.agent import OracleSpec
from controller.specification.run import trial_seed
from controller.store.runs import Store
from evaluators.graph.outcome import Verdict
from foundation.cancel import CancelToken
from foundation.errors import UsageError
from tests.unit.controller.executors.shop import WAITING, Shop, class_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.scheduling.events import TrialEvent

pytestmark = pytest.mark.slow

FLAKY = """
import flaky_model

class Agent:
    def act(self, observation):
        flaky_model.fail_once()
        return {"do": "complete"}
"""
HELPER = """
from pathlib import Path
from controller.episode.result import Reason
from foundation.errors import ModelUnavailableError

def fail_once():
    flag = Path(__file__).with_name("failed")
    if not flag.exists():
        flag.touch()
        raise ModelUnavailableError("The model is down.")
"""


@pytest.fixture(params=["local", "process", "ray"])
def shop(request: pytest.FixtureRequest, tiny: Path, tmp_path: Path) -> Iterator[Shop]:
    opened = Shop(request.param, tiny, tmp_path / "state")
    yield opened
    opened.close()


def test_jobs_are_executed_recorded_and_reported(shop: Shop) -> None:
    run = shop.begin(OracleSpec(), "two-apps", "answer")
    results = shop.go(run)
    assert [(result.task, result.verdict) for result in results] == [
        ("two-apps", Verdict.PASS),
        ("answer", Verdict.PASS),
    ]
    assert Store(shop.settings.runs_dir).open(run.spec.run).results() == results
    trial = TrialId("two-apps", 0)
    steps = [event.steps for event in shop.events if isinstance(event, StepDone)]
    assert steps == [1, 2, 3, 1]
    assert [event for event in shop.events if not isinstance(event, StepDone)][:2] == [
        TrialStarted(trial, 1),
        TrialEnded(trial, 1, results[0]),
    ]
    (start, *_) = run.events("two-apps", 0)
    assert start["seed"] == trial_seed(0, "two-apps", 0)
    assert shop.go(run) == []


def test_a_lost_attempt_is_repeated(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "flaky_model.py").write_text(HELPER)
    run = shop.begin(class_in(tmp_path, FLAKY), "answer", retries=1)
    (result,) = shop.go(run)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.FALSE_COMPLETION)
    (lost,) = (event for event in shop.events if isinstance(event, AttemptLost))
    assert lost.result.reason is Reason.MODEL_UNAVAILABLE
    assert [attempt.number for attempt in run.attempts("answer", 0)] == [1, 2]


def test_several_jobs_run_at_once(shop: Shop, tmp_path: Path) -> None:
    """Each trial goes on until another one acts, too."""
    run = shop.begin(class_in(tmp_path, WAITING), "answer", repeats=2)
    token, seen = CancelToken(), set[int]()

    def note(event: TrialEvent) -> None:
        if isinstance(event, StepDone):
            seen.add(event.trial.repeat)
        if len(seen) == 2:
            token.cancel("Both act.")

    shop.go(run, parallel=2, cancel=token, then=note)
    assert seen == {0, 1}


def test_a_cancelled_job_is_recorded_as_cancelled_and_repeated(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(class_in(tmp_path, WAITING), "answer", repeats=2)
    token = CancelToken()

    def cancel(event: TrialEvent) -> None:
        if isinstance(event, StepDone):
            token.cancel("Enough.")

    (result,) = shop.go(run, cancel=token, then=cancel)
    assert (result.reason, result.detail) == (Reason.CANCELLED, "Enough.")
    assert run.results() == [result]
    again = CancelToken()
    again.cancel()
    assert shop.go(run, cancel=again) == []


def test_ctrl_c_cancels_the_job_and_ends_the_run(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(class_in(tmp_path, WAITING), "answer", repeats=2)

    def interrupt(event: TrialEvent) -> None:
        if isinstance(event, StepDone) and event.steps == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        shop.go(run, then=interrupt)
    assert [result.reason for result in run.results()] == [Reason.CANCELLED]
    assert not run.is_running()


def test_a_draining_run_finishes_its_jobs(shop: Shop) -> None:
    run = shop.begin(OracleSpec(), "answer", repeats=2)
    drain = threading.Event()
    (result,) = shop.go(run, drain=drain, then=lambda _: drain.set())
    assert (result.reason, result.repeat) == (Reason.SUCCESS, 0)


def test_an_agent_that_has_changed_is_refused(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(class_in(tmp_path, WAITING), "answer")
    executor = None if shop.kind == "local" else shop.executor(run)
    (tmp_path / "own.py").write_text(WAITING + "\n# changed\n")
    with pytest.raises(UsageError, match="has changed since the run started"):
        execute_run(run, executor or shop.executor(run))
    assert run.attempts("answer", 0) == []
