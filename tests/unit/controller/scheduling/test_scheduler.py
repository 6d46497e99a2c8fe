from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.episode.result import TRIAL_RESULT, Reason, TrialResult
from controller.scheduling.events import AttemptLost, BudgetSpent, RunPaused, TrialEnded
from controller.scheduling.scheduler import Scheduler
from controller.specification.job import TrialJob
from controller.specification.run import BudgetSpec, trial_seed
from controller.store.spending import RunBudget
from evaluators.graph.outcome import Verdict
from foundation.cancel import CancelToken
from foundation.clock import FakeClock

if TYPE_CHECKING:
    from controller.scheduling.events import TrialEvent
    from controller.store.runs import RunFolder
    from tests.unit.controller.lab import Lab

CLOCK = FakeClock()


@pytest.fixture
def run(lab: Lab) -> RunFolder:
    return lab.begin(AgentDriver(NoopAgent), retries=1)


def carry_out(run: RunFolder, job: TrialJob, reason: Reason = Reason.SUCCESS) -> TrialResult:
    """Record an attempt that ended for a reason, without executing anything."""
    verdict = Verdict.PASS if reason is Reason.SUCCESS else Verdict.INCONCLUSIVE
    result = TrialResult(job.task, job.repeat, verdict, reason, 0, 1, 0, 5.0)
    with run.begin_attempt(job, CLOCK) as log:
        log.append("end", result=TRIAL_RESULT.dump_python(result, mode="json"))
    return result


def test_jobs_are_plain_data_that_says_all_about_an_attempt(run: RunFolder) -> None:
    job = Scheduler(run).next()
    assert job == TrialJob(
        spec=run.spec.digest,
        task="dark-style",
        repeat=0,
        attempt=1,
        seed=trial_seed(run.spec.seed, "dark-style", 0),
    )
    assert TrialJob.model_validate_json(job.model_dump_json()) == job
    with pytest.raises(ValidationError):
        TrialJob.model_validate(job.model_dump() | {"attempt": 0})


def test_jobs_come_in_the_order_of_the_run_and_each_once(run: RunFolder) -> None:
    scheduler = Scheduler(run)
    jobs = []
    while job := scheduler.next():
        jobs.append((job.task, job.repeat))
        assert scheduler.end(job, carry_out(run, job)) is None
    assert jobs == run.spec.sequence
    assert [result.task for result in scheduler.results] == [task for task, _ in jobs]
    assert Scheduler(run).next() is None


def test_a_lost_attempt_is_followed_by_the_next_one_until_none_is_left(run: RunFolder) -> None:
    events: list[TrialEvent] = []
    scheduler = Scheduler(run, on_event=events.append)
    first = scheduler.next()
    assert first is not None
    second = scheduler.end(first, carry_out(run, first, Reason.ENVIRONMENT_ERROR))
    assert second == first.model_copy(update={"attempt": 2})
    assert scheduler.end(second, carry_out(run, second, Reason.ENVIRONMENT_ERROR)) is None
    assert [type(event) for event in events] == [AttemptLost, TrialEnded]


def test_a_lost_attempt_is_followed_by_none_when_the_run_is_cancelled(run: RunFolder) -> None:
    token = CancelToken()
    scheduler = Scheduler(run, cancel=token)
    job = scheduler.next()
    assert job is not None
    token.cancel()
    assert scheduler.end(job, carry_out(run, job, Reason.ENVIRONMENT_ERROR)) is None
    assert scheduler.next() is None


def test_a_draining_run_hands_out_no_jobs_but_repeats_lost_attempts(run: RunFolder) -> None:
    drain = threading.Event()
    scheduler = Scheduler(run, drain=drain)
    job = scheduler.next()
    assert job is not None
    drain.set()
    assert scheduler.end(job, carry_out(run, job, Reason.ENVIRONMENT_ERROR)) is not None
    assert scheduler.next() is None


def test_a_run_ends_when_its_budget_is_spent(run: RunFolder) -> None:
    events: list[TrialEvent] = []
    budget = RunBudget(BudgetSpec(seconds=5.0))
    scheduler = Scheduler(run, budget=budget, on_event=events.append)
    job = scheduler.next()
    assert job is not None
    scheduler.end(job, carry_out(run, job))
    assert scheduler.next() is None
    assert events[-1] == BudgetSpent(run.spec.run, "5 of 5 seconds", 3)


def test_a_run_pauses_when_three_trials_in_a_row_cannot_reach_their_model(lab: Lab) -> None:
    run = lab.begin(AgentDriver(NoopAgent), repeats=2)
    events: list[TrialEvent] = []
    scheduler = Scheduler(run, on_event=events.append)
    while job := scheduler.next():
        scheduler.end(job, carry_out(run, job, Reason.MODEL_UNAVAILABLE))
    assert events[-1] == RunPaused(run.spec.run, 5)
    assert len(scheduler.results) == 3
