from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from controller.requests import require_present
from controller.service.schedules.definition import Event, Interval, Schedule, Webhook
from controller.service.schedules.register import Register
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import Requester, State
from controller.service.state.tables import NotificationRow
from controller.service.worker import work as work_module
from controller.service.worker.worker import Worker
from controller.specification.request import RunRequest
from controller.specification.run import BudgetSpec
from controller.store.runs import Store
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MachineBusyError, UsageError
from foundation.settings import Settings
from provisioning.fake import FakeFleet
from tests.unit.controller.stand_in import stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.state.database import Database
    from provisioning.resource import ResourceSpec

LONG_S = 60.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


@pytest.fixture
def queue(database: Database) -> RunQueue:
    return RunQueue(database, SYSTEM_CLOCK)


def not_asked(_kinds: set[ResourceSpec]) -> None:
    pytest.fail("fake machines need no preflight")


@contextlib.contextmanager
def working(database: Database, settings: Settings, *, grace_s: float = 0.0) -> Iterator[None]:
    """Run a worker during a block."""
    stop = threading.Event()
    worker = Worker(database, settings, SYSTEM_CLOCK, preflight=not_asked)
    thread = threading.Thread(target=worker.run, args=(stop,), kwargs={"grace_s": grace_s})
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def wait_for(queue: RunQueue, run: str, *states: State) -> None:
    assert wait_until(lambda: queue.get(run).state in states, timeout_s=LONG_S, every_s=0.02), (
        queue.get(run)
    )


def slow(tiny: Path, tmp_path: Path) -> RunRequest:
    """Return a run with long trials: each types many lines, one second apart."""
    script = tmp_path / "wait.jsonl"
    line = {"on": "desktop", "do": "type_text", "with": {"text": "wwwwwwwwwwwwwwww\n"}}
    pause = {"do": "wait", "with": {"seconds": 1.0}}
    begin = {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}
    script.write_text("\n".join(map(json.dumps, [begin, *([line, pause] * 20)])))
    return RunRequest(
        suite=str(tiny), agent="script", script=str(script), tasks=("dark-style",), fleet="fake"
    )


def has_steps(settings: Settings, run: str) -> bool:
    store = Store(settings.runs_dir)
    return store.has(run) and any(
        event["type"] == "step" for event in store.open(run).events("dark-style", 0)
    )


def wait_for_steps(settings: Settings, run: str) -> None:
    assert wait_until(lambda: has_steps(settings, run), timeout_s=LONG_S, every_s=0.02)


@pytest.mark.slow
def test_run_is_executed_and_its_schedule_notified_of_a_regression(
    database: Database, settings: Settings, queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    register = Register(database, SYSTEM_CLOCK)
    schedule = Schedule(
        name="nightly",
        trigger=Interval(every_s=86400),
        request=request_of_tiny,
        baseline="previous",
        notify=(Webhook(url="http://receiver/", on=(Event.REGRESS,)),),
    )
    register.add(schedule)
    with working(database, settings):
        first = register.run_now("nightly").run
        wait_for(queue, first, State.FINISHED)
        register.remove("nightly")
        worse = request_of_tiny.model_copy(update={"agent": "noop"})
        register.add(schedule.model_copy(update={"request": worse}))
        second = register.run_now("nightly").run
        wait_for(queue, second, State.FINISHED)
    assert [queue.get(run).counts.passed for run in (first, second)] == [1, 0]
    results = Store(settings.runs_dir).open(first).results()
    assert [result.verdict.value for result in results] == ["PASS"]
    with database.read() as session:
        message = json.loads(session.scalars(select(NotificationRow)).one().body)
    assert (message["run"], message["event"], message["SR"]) == (second, "regress", 0.0)
    assert message["comparison"]["first"] == first
    assert message["comparison"]["SR"]["difference"] == -1.0


@pytest.mark.slow
def test_cancel_ends_a_running_trial_and_resume_repeats_it(
    database: Database, settings: Settings, queue: RunQueue, tiny: Path, tmp_path: Path
) -> None:
    run = queue.add(slow(tiny, tmp_path), Requester("api")).run
    store = Store(settings.runs_dir)
    with working(database, settings):
        wait_for_steps(settings, run)
        assert queue.cancel(run).state is State.RUNNING
        wait_for(queue, run, State.CANCELLED)
        attempts = store.open(run).attempts("dark-style", 0)
        assert [str(attempt.result.reason) for attempt in attempts if attempt.result] == [
            "cancelled"
        ]
        assert queue.get(run).counts.ended == 0
        queue.resume(run)
        wait_for(queue, run, State.RUNNING)
        assert wait_until(
            lambda: len(store.open(run).attempts("dark-style", 0)) > 1,
            timeout_s=LONG_S,
            every_s=0.02,
        )
    # The worker was stopped without a grace period: the next one continues its run.
    left = queue.get(run)
    assert (left.state, left.starts) == (State.QUEUED, 0)


def test_pause_finishes_a_trial_and_starts_no_other(
    database: Database, settings: Settings, queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    run = queue.add(request_of_tiny.model_copy(update={"repeats": 50}), Requester("api")).run
    with working(database, settings):
        wait_for_steps(settings, run)
        queue.pause(run)
        wait_for(queue, run, State.PAUSED)
    folder = Store(settings.runs_dir).open(run)
    results = folder.results()
    assert len(results) == queue.get(run).counts.passed < 50
    assert [str(result.reason) for result in results if result.reason != "success"] == []
    assert len(list((folder.path / "trials").iterdir())) == len(results) > 0


@pytest.mark.slow
def test_run_ends_when_its_budget_is_spent_and_continues_with_more(
    database: Database, settings: Settings, queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    asked = {"repeats": 3, "budget": BudgetSpec(seconds=0.001, tokens=9)}
    run = queue.add(request_of_tiny.model_copy(update=asked), Requester("api")).run
    with working(database, settings):
        wait_for(queue, run, State.BUDGET_SPENT)
        ended = queue.get(run)
        assert (ended.counts.ended, ended.brief) == (1, "The run's budget is spent.")
        assert "2 trials were not started" in ended.details
        with pytest.raises(UsageError, match="is spent"):
            queue.resume(run)
        resumed = queue.resume(run, BudgetSpec(seconds=3600))
        assert resumed.request.budget == BudgetSpec(seconds=3600, tokens=9)
        wait_for(queue, run, State.FINISHED)
    assert queue.get(run).counts.passed == 3
    assert len(Store(settings.runs_dir).open(run).attempts("dark-style", 0)) == 1


def test_unrunnable_run_fails_at_once_and_host_trouble_is_retried(
    database: Database,
    settings: Settings,
    queue: RunQueue,
    request_of_tiny: RunRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = queue.add(request_of_tiny.model_copy(update={"tasks": ("gone",)}), Requester("api")).run

    def broken(*_: object) -> None:
        raise MachineBusyError("The engine is busy.")

    with working(database, settings):
        wait_for(queue, gone, State.FAILED)
        with monkeypatch.context() as patch:
            patch.setattr(work_module, "open_trials", broken)
            retried = queue.add(request_of_tiny, Requester("api")).run
            assert wait_until(lambda: queue.get(retried).brief, timeout_s=LONG_S, every_s=0.02) == (
                "The engine is busy."
            )
    assert "gone" in queue.get(gone).brief
    waiting = queue.get(retried)
    assert (waiting.state, waiting.starts) == (State.QUEUED, 1)
    assert waiting.not_before_s > waiting.requested_s


def test_run_with_an_unresponsive_model_is_not_started(
    database: Database,
    settings: Settings,
    queue: RunQueue,
    request_of_tiny: RunRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leased: list[object] = []
    monkeypatch.setattr(FakeFleet, "acquire", lambda *_, **__: leased.append("a machine"))
    with stand_in((404, {"error": {"message": "no such model"}})) as server:
        asks = {"agent": "model", "model": "m", "base_url": server.base_url}
        run = queue.add(request_of_tiny.model_copy(update=asks), Requester("api")).run
        with working(database, settings):
            assert wait_until(lambda: queue.get(run).brief, timeout_s=LONG_S, every_s=0.02)
    assert "does not answer" in queue.get(run).brief
    assert server.requests[0]["tools"]
    assert leased == []
    assert not Store(settings.runs_dir).has(run)


def test_queue_has_one_worker(database: Database, settings: Settings) -> None:
    with working(database, settings):
        second = Worker(database, settings, SYSTEM_CLOCK, preflight=not_asked)
        lock = settings.run_dir / "worker.lock"
        assert wait_until(lambda: lock.exists() and lock.read_text(), timeout_s=LONG_S)
        with pytest.raises(MachineBusyError, match="queue of runs"):
            second.run(threading.Event(), grace_s=0)


def test_worker_in_a_container_rejects_runs_that_need_host_files(
    database: Database, settings: Settings, queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    inside = settings.model_copy(update={"place": "container"})
    kept = request_of_tiny.model_copy(update={"suite": str(settings.registered_dir / "suites/a")})
    require_present(kept, inside)
    command = {"command": "python agent.py", "agent": "", "folder": "/opt/agents"}
    with pytest.raises(UsageError, match="host files") as caught:
        require_present(RunRequest(suite="smoke", **command), inside)
    assert "$ python agent.py, /opt/agents" in caught.value.details
    with pytest.raises(UsageError, match="has no Ray"):
        require_present(kept.model_copy(update={"executor": "ray"}), inside)
    run = queue.add(request_of_tiny, Requester("cli")).run
    with working(database, inside):
        wait_for(queue, run, State.FAILED)
    ended = queue.get(run)
    assert request_of_tiny.suite in ended.details
    assert "mesocosm work" in ended.resolution
