from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.episode.context import NoLog
from controller.episode.result import TRIAL_RESULT, Reason, reasons_to_retry
from controller.executors.local import LocalExecutor
from controller.models.usage import Usage
from controller.planning import specify_run
from controller.protocol import Turn
from controller.scheduling.events import (
    AttemptLost,
    BudgetSpent,
    RunPaused,
    StepDone,
    TrialEnded,
    TrialId,
    TrialStarted,
)
from controller.scheduling.execution import execute_run
from controller.scheduling.scheduler import Scheduler
from controller.specification.agent import CustomSpec
from controller.specification.run import BudgetSpec
from controller.store.index import list_runs
from controller.store.report import read_report
from controller.store.runs import Store
from controller.store.spending import change_budget
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import NodeState
from foundation.cancel import CancelToken
from foundation.errors import (
    LinkClosedError,
    ModelUnavailableError,
    StoreError,
    UnknownNameError,
    UsageError,
)
from foundation.logging import ContextFilter
from provisioning.fake import FakeFleet
from tests.unit.controller.lab import Lab, killed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from controller.episode.episode import Episode
    from controller.episode.result import Ending, TrialResult
    from controller.observation.observer import Observation
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.scheduling.sink import TrialSink
    from controller.specification.job import TrialJob
    from controller.specification.run import RunSpec
    from foundation.clock import Clock, FakeClock
    from provisioning.resource import ResourceSpec

NOOP = AgentDriver(NoopAgent)


@pytest.mark.slow
def test_every_task_is_run_as_often_as_requested(lab: Lab) -> None:
    run = lab.begin(OracleDriver(), repeats=3)
    lab.go(run)
    report = read_report(run)
    assert report.verdicts == {"PASS": 12, "FAIL": 0, "INCONCLUSIVE": 0}
    assert len({(trial.task, trial.repeat) for trial in report.trials}) == 12
    assert not report.unfinished


@pytest.mark.slow
def test_shuffled_order_follows_the_seed_and_is_kept_on_resume(lab: Lab) -> None:
    begun: list[str] = []

    def interrupt(task: str) -> None:
        begun.append(task)
        if len(begun) == 3:
            raise KeyboardInterrupt

    orders = {}
    for seed in (1, 2):
        spec = specify_run(
            lab.suite,
            CustomSpec(name="t"),
            repeats=2,
            seed=seed,
            order="shuffled",
            clock=lab.clock,
        )
        Store(lab.folder / str(seed)).create(spec)
        assert sorted(spec.sequence) == sorted(spec.planned) != spec.sequence
        orders[seed] = spec.sequence
    assert orders[1] != orders[2]
    lab.use(Driven(interrupt))
    run = Store(lab.folder / "2").open("latest")
    with pytest.raises(KeyboardInterrupt):
        lab.go(run)
    lab.use(Driven(begun.append))
    lab.go(run)
    # The interrupted trial is started again.
    assert begun == [task for task, _ in [*orders[2][:3], *orders[2][2:]]]
    assert [(result.task, result.repeat) for result in run.results()] == run.spec.planned


def test_single_task_can_be_selected(lab: Lab) -> None:
    run = lab.begin(NOOP, "answer")
    lab.go(run)
    assert [(trial.task, trial.nodes_met) for trial in run.results()] == [("answer", 0)]


def test_unknown_task_is_rejected_before_anything_is_created(lab: Lab) -> None:
    with pytest.raises(UnknownNameError, match="'answer'"):
        lab.begin(NOOP, "anser")
    assert not list(lab.folder.iterdir())


class Driven:
    """Plays the reference solution after a call for each trial."""

    def __init__(self, before: Callable[[str], object]) -> None:
        self._before = before

    def drive(self, episode: Episode, observation: Observation) -> None:
        self._before(episode.oracle_context().task.id)
        OracleDriver().drive(episode, observation)


def test_ctrl_c_ends_the_run_and_leaves_the_rest_unfinished(lab: Lab) -> None:
    def interrupt(task: str) -> None:
        if task == "write-file":
            raise KeyboardInterrupt

    run = lab.begin(Driven(interrupt))
    with pytest.raises(KeyboardInterrupt):
        lab.go(run)
    report = read_report(run)
    assert [trial.reason for trial in report.trials] == [Reason.SUCCESS, Reason.CANCELLED]
    assert [row.task for row in report.unfinished] == ["two-apps", "answer"]
    assert lab.fleet.leased == 0


def test_log_of_a_killed_trial_shows_its_graph_progress(lab: Lab) -> None:
    run = killed(lab)
    first, second = read_report(run, lab.suite).unfinished
    assert (first.task, first.steps, first.nodes_met) == ("two-apps", 2, 1)
    (row,) = first.unmet
    assert (row.node, row.state) == ("contacts", NodeState.ACTIVE)
    assert row.why.startswith("Not yet satisfied: an application is in front")
    assert (second.steps, second.nodes_met) == (0, None)  # it never started
    assert read_report(run).unfinished[0].nodes_met is None
    other = replace(lab.suite, digest="0" * 64)
    assert read_report(run, other).unfinished[0].nodes_met is None


def test_killed_run_is_resumed_on_fresh_machines(lab: Lab) -> None:
    run = killed(lab)
    before = run.events("two-apps", 0)
    lab.use(OracleDriver())
    results = lab.go(run)
    assert [(result.task, result.verdict, result.steps) for result in results] == [
        ("two-apps", Verdict.PASS, 3),
        ("answer", Verdict.PASS, 1),
    ]
    assert not read_report(run).unfinished
    first, second = run.attempts("two-apps", 0)
    assert first.events == before
    assert second.result == results[0]
    assert lab.go(run) == []


def test_events_are_reported(lab: Lab) -> None:
    run = lab.begin(OracleDriver(), "answer")
    (result,) = lab.go(run)
    trial = TrialId("answer", 0)
    steps = [StepDone(trial, 1, number + 1) for number in range(result.steps)]
    assert lab.events == [TrialStarted(trial, 1), *steps, TrialEnded(trial, 1, result)]


class Failing:
    """Fails in the first trials as if a machine had disappeared."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, task: str) -> None:
        self.left -= 1
        if self.left >= 0:
            raise LinkClosedError(f"The machine of {task} is gone.")


def test_trial_on_a_failed_machine_gets_another_attempt(lab: Lab) -> None:
    run = lab.begin(Driven(Failing(2)), "answer", retries=2)
    (result,) = lab.go(run)
    assert result.verdict is Verdict.PASS
    lost = [event for event in lab.events if isinstance(event, AttemptLost)]
    assert [event.attempt for event in lost] == [1, 2]
    assert {event.result.reason for event in lost} == {Reason.ENVIRONMENT_ERROR}
    assert [attempt.number for attempt in run.attempts("answer", 0)] == [1, 2, 3]
    report = read_report(run)
    assert report.verdicts == {"PASS": 1, "FAIL": 0, "INCONCLUSIVE": 0}


class Costly:
    """Uses 100 tokens for 2 dollars in 10 s before it plays the reference solution or fails."""

    def __init__(self, clock: FakeClock, failures: int = 0) -> None:
        self._clock = clock
        self._fail = Failing(failures)

    def drive(self, episode: Episode, observation: Observation) -> None:
        self._clock.advance(10.0)
        episode.step(Turn((), usage=Usage(80, 20, 2.0), fault="It thinks."))
        self._fail("a task")
        OracleDriver().drive(episode, observation)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"tokens": 250}, {"usd": 4.1}, {"seconds": 25.0}])
def test_run_ends_when_its_budget_is_spent_and_continues_with_more(
    lab: Lab, limit: dict[str, Any]
) -> None:
    run = lab.begin(Costly(lab.clock, failures=1), retries=1, budget=BudgetSpec(**limit))
    lab.go(run)
    (spent,) = (event for event in lab.events if isinstance(event, BudgetSpent))
    assert (spent.run, spent.left) == (run.spec.run, 2)
    report = read_report(run)
    # The attempt whose machine failed counts, and so does the trial that exhausted the budget.
    assert (report.budget.spent.tokens, report.budget.spent.usd) == (300, 6.0)
    assert report.verdicts == {"PASS": 2, "FAIL": 0, "INCONCLUSIVE": 0}
    assert (report.ended, len(report.unfinished)) == ("budget_spent", 2)
    assert "2 trials remain" in report.summary()
    assert [row.state for row in list_runs(Store(lab.folder))] == ["budget_spent"]
    assert lab.go(run) == []
    change_budget(run, BudgetSpec(**dict.fromkeys(limit, 1000)))
    assert [result.verdict for result in lab.go(run)] == [Verdict.PASS] * 2
    report = read_report(run)
    assert (report.ended, report.to_dict()["spent"]) == (
        "complete",
        {"tokens": 500, "usd": 10.0, "seconds": report.budget.spent.seconds},
    )
    assert run.spec.budget == BudgetSpec(**limit)


def test_spent_budget_allows_no_further_attempt(lab: Lab) -> None:
    run = lab.begin(Costly(lab.clock, failures=9), retries=5, budget=BudgetSpec(tokens=100))
    (result,) = lab.go(run)
    assert result.reason is Reason.ENVIRONMENT_ERROR
    assert read_report(run).ended == "budget_spent"
    change_budget(run, BudgetSpec(tokens=150))
    lab.go(run)
    assert len(run.attempts(result.task, 0)) == 2


def test_attempts_are_limited_across_a_resume(lab: Lab) -> None:
    run = lab.begin(Driven(Failing(99)), "answer", retries=1)
    (result,) = lab.go(run)
    assert result.reason is Reason.ENVIRONMENT_ERROR
    assert len(run.attempts("answer", 0)) == 2
    assert run.is_complete()
    assert lab.go(run) == []
    assert len(run.attempts("answer", 0)) == 2


@pytest.mark.slow
def test_run_pauses_after_three_consecutive_model_outages(lab: Lab) -> None:
    def unreachable(task: str) -> None:
        if task != "write-file":
            raise ModelUnavailableError("The model is down.")

    # In order: dark-style, write-file, two-apps, answer, dark-style: three after the one that was.
    run = lab.begin(Driven(unreachable), repeats=3)
    results = lab.go(run)
    (paused,) = (event for event in lab.events if isinstance(event, RunPaused))
    assert (paused.run, paused.left, len(results)) == (run.spec.run, 7, 5)
    assert not run.is_complete()
    lab.use(OracleDriver())
    lab.go(run)
    reasons = {result.reason for result in run.results()[5:]}
    assert reasons == {Reason.SUCCESS}


def test_inconclusive_trials_are_retried_on_request_and_all_attempts_kept(
    lab: Lab,
) -> None:
    run = lab.begin(Driven(Failing(2)), "answer", "write-file", retries=1)
    lab.go(run)
    assert [result.verdict for result in run.results()] == [Verdict.INCONCLUSIVE, Verdict.PASS]
    assert lab.go(run) == []
    assert lab.go(run, retry=reasons_to_retry(["wall_limit"])) == []
    store = Store(lab.folder)
    assert list_runs(store)[0].inconclusive == 1
    again = lab.go(run, retry=reasons_to_retry(["inconclusive"]))
    assert [result.task for result in again] == ["answer"]
    (row,) = list_runs(store)
    assert (row.state, row.passed, row.inconclusive) == ("finished", 2, 0)
    (trial, *_) = cast("list[dict[str, Any]]", read_report(run).to_dict()["trials"])
    assert (trial["verdict"], trial["attempts"]) == ("PASS", 3)
    assert [(attempt["attempt"], attempt["reason"]) for attempt in trial["earlier"]] == [
        (1, "environment_error"),
        (2, "environment_error"),
    ]


@pytest.mark.parametrize(
    ("word", "message"), [("step_limit", "were judged"), ("inconclusve", "'inconclusive'")]
)
def test_only_unjudged_trials_can_be_retried(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reasons_to_retry([word])


def test_agent_failures_are_not_retried(lab: Lab) -> None:
    run = lab.begin(NOOP, "answer", retries=3)
    (result,) = lab.go(run)
    assert result.verdict is Verdict.FAIL
    assert len(run.attempts("answer", 0)) == 1


def test_cancelled_trial_is_repeated(lab: Lab) -> None:
    def interrupt(_task: str) -> None:
        raise KeyboardInterrupt

    run = lab.begin(Driven(interrupt), "answer")
    with pytest.raises(KeyboardInterrupt):
        lab.go(run)
    assert not run.is_complete()
    lab.use(OracleDriver())
    assert [result.verdict for result in lab.go(run)] == [Verdict.PASS]
    report = read_report(run)
    assert [trial.reason for trial in report.trials] == [Reason.SUCCESS]
    assert run.is_complete()


@pytest.mark.slow
def test_parallel_trials_run_on_separate_machines(lab: Lab) -> None:
    barrier = threading.Barrier(4, timeout=60)
    run = lab.begin(Driven(lambda _: barrier.wait()), repeats=2)
    results = lab.go(run, parallel=4)
    assert [result.verdict for result in results] == [Verdict.PASS] * 8
    assert len({(result.task, result.repeat) for result in run.results()}) == 8
    assert lab.fleet.leased == 0
    started = [event for event in lab.events if isinstance(event, TrialStarted)]
    assert len(started) == 8


def test_more_threads_than_trials_are_harmless(lab: Lab) -> None:
    run = lab.begin(OracleDriver(), "answer")
    assert [result.verdict for result in lab.go(run, parallel=8)] == [Verdict.PASS]


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_cancelled_run_starts_no_other_trial(lab: Lab, parallel: int) -> None:
    token = CancelToken()
    run = lab.begin(OracleDriver(), repeats=2)

    def cancel(event: TrialEvent) -> None:
        if isinstance(event, TrialEnded):
            token.cancel()

    with contextlib.suppress(KeyboardInterrupt):
        execute_run(run, LocalExecutor(lab.trials, parallel), cancel=token, on_event=cancel)
    results = run.results()
    assert 1 <= len(results) <= parallel
    assert Reason.SUCCESS in {result.reason for result in results}
    assert lab.fleet.leased == 0
    lab.go(run)
    assert [result.reason for result in run.results()] == [Reason.SUCCESS] * 8


@pytest.mark.slow
def test_interrupt_ends_all_threads_and_their_trials(lab: Lab) -> None:
    sent: list[str] = []

    def interrupt(task: str) -> None:
        if (task, len(sent)) == ("two-apps", 0):
            sent.append(task)
            os.kill(os.getpid(), signal.SIGINT)

    run = lab.begin(Driven(interrupt), repeats=5)
    with pytest.raises(KeyboardInterrupt):
        lab.go(run, parallel=2)
    assert Reason.CANCELLED in {result.reason for result in run.results()}
    assert len(run.results()) < 20
    assert lab.fleet.leased == 0
    assert not run.is_running()


@pytest.mark.parametrize("parallel", [1, 3])
def test_store_failure_ends_the_run(
    lab: Lab, parallel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = lab.begin(OracleDriver(), repeats=3)

    def fail(*_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(run, "begin_attempt", fail)
    with pytest.raises(StoreError, match="full"):
        lab.go(run, parallel=parallel)
    assert not run.is_running()


def test_log_lines_of_a_trial_name_it(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    names: list[str] = []

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            names.append(getattr(record, "context", ""))

    handler = Reader()
    handler.addFilter(ContextFilter())
    log = logging.getLogger("controller.scheduling.scheduler")
    log.addHandler(handler)
    try:
        with caplog.at_level(logging.DEBUG, logger="controller.scheduling.scheduler"):
            run = lab.begin(OracleDriver(), "answer")
            lab.go(run, parallel=2)
    finally:
        log.removeHandler(handler)
    about = f"run={run.spec.run} trial=answer.0"
    # While the trial has machines, lines name them, too.
    assert set(names) == {f" [{about}]", f" [{about} machine=phone-fake0]"}


class MemoryLog(NoLog):
    """Keeps the events of one attempt in memory."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def append(self, type_: str, **fields: object) -> None:
        self.events.append({"type": type_, **fields})

    @property
    def result(self) -> TrialResult | None:
        ends = [event["result"] for event in self.events if event["type"] == "end"]
        return TRIAL_RESULT.validate_python(ends[0]) if ends else None


class MemorySink:
    """Keeps trials in memory, as a sink on another host might."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.logs: dict[tuple[str, int], list[MemoryLog]] = {}

    def attempts(self, task: str, repeat: int) -> list[MemoryLog]:
        return self.logs.get((task, repeat), [])

    def begin_attempt(self, job: TrialJob, clock: Clock) -> MemoryLog:
        logs = self.logs.setdefault((job.task, job.repeat), [])
        assert job.attempt == len(logs) + 1
        logs.append(MemoryLog(job.attempt))
        return logs[-1]

    def conclude_attempt(self, job: TrialJob, ending: Ending, clock: Clock) -> TrialResult:
        raise NotImplementedError


def test_trials_can_be_written_elsewhere(lab: Lab) -> None:
    sink: TrialSink = MemorySink(lab.begin(Driven(Failing(1)), retries=1).spec)
    executor: Executor = LocalExecutor(lab.trials)
    scheduler = Scheduler(sink)
    executor.run(scheduler)
    assert [result.verdict for result in scheduler.results] == [Verdict.PASS] * 4
    assert [len(sink.attempts(task, repeat)) for task, repeat in sink.spec.planned] == [2, 1, 1, 1]
    assert Scheduler(sink).next() is None


def test_at_least_one_trial_at_a_time(lab: Lab) -> None:
    lab.use(NOOP)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        LocalExecutor(lab.trials, 0)


def test_results_explain_unmet_nodes_and_reveal_no_answers(lab: Lab) -> None:
    run = lab.begin(NOOP)
    lab.go(run)
    why = {(trial.task, row.node): row.why for trial in run.results() for row in trial.unmet}
    assert set(why) == {
        ("dark-style", "tasks-opened"),
        ("dark-style", "dark"),
        ("write-file", "written"),
        ("two-apps", "settings"),
        ("two-apps", "contacts"),
        ("answer", "answered"),
    }
    assert why["two-apps", "contacts"].startswith("Counts only after settings. Then: ")
    for secret in ("prefer-dark", "hello", "note.txt", "com.android"):
        assert not any(secret in reason for reason in why.values())


def test_trials_do_not_see_effects_of_earlier_ones(lab: Lab) -> None:
    lab.go(lab.begin(OracleDriver(), "dark-style"))
    run = lab.begin(NOOP, "dark-style")
    lab.go(run)
    (trial,) = run.results()
    assert (trial.verdict, trial.nodes_met) == (Verdict.FAIL, 0)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_draining_finishes_running_trials_and_starts_no_others(lab: Lab, parallel: int) -> None:
    run = lab.begin(OracleDriver(), repeats=3)
    drain = threading.Event()

    def end_soon(event: TrialEvent) -> None:
        if isinstance(event, StepDone):
            drain.set()

    executor = LocalExecutor(lab.trials, parallel)
    results = execute_run(run, executor, drain=drain, on_event=end_soon)
    assert 1 <= len(results) <= parallel
    assert {result.reason for result in results} == {Reason.SUCCESS}
    assert len(run.results()) == len(results)
    lab.go(run)
    assert run.is_complete()


@pytest.mark.slow
def test_the_fleet_hears_what_the_next_trials_need(lab: Lab) -> None:
    heard: list[tuple[ResourceSpec, ...]] = []

    class Listening(FakeFleet):
        def announce(self, specs: Sequence[ResourceSpec]) -> None:
            heard.append(tuple(specs))

    lab.fleet = Listening(lab.clock)
    run = lab.begin(OracleDriver())
    lab.go(run)
    needs = [tuple(lab.suite.task(name).roles.values()) for name, _ in run.spec.sequence]
    assert heard == [*needs[1:], ()]
