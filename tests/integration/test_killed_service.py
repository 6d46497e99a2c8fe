"""Tests that repeatedly killing ``mesocosm service run`` loses no trial, judges none twice, and fires no slot twice."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.service.schedules.definition import Interval, Schedule
from controller.service.schedules.register import Outcome, Register
from controller.service.state.database import Database
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import Requester, State
from controller.specification.request import RunRequest
from controller.store.runs import Store
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.process import start
from foundation.settings import Settings
from tests.tiers import IS_NIGHTLY

if TYPE_CHECKING:
    import subprocess

    from controller.store.runs import RunFolder

TINY = Path(__file__).resolve().parents[1] / "suites/tiny"
SERVICE = [sys.executable, "-m", "appliance.cli.main", "service", "run", "--port", "0"]
KILLS, TRIALS, EVERY_S = (20, 40, 20) if IS_NIGHTLY else (3, 5, 2)
LONG_S = 240.0


class Service:
    """The service of one state folder, and access to its state from another process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.settings = Settings(state_dir=folder)
        self.database = Database(self.settings.service_dir / "state.sqlite")
        self.queue = RunQueue(self.database, SYSTEM_CLOCK)
        self.register = Register(self.database, SYSTEM_CLOCK)

    def start(self, *options: str) -> subprocess.Popen[bytes]:  # noqa: TID251
        return start(
            [*SERVICE, *options], env={"MESOCOSM_STATE_DIR": str(self._folder)}, merge=True
        )

    def steps(self, run: str) -> int:
        """Return the number of steps in the logs of a run."""
        store = Store(self.settings.runs_dir)
        if not store.has(run):
            return 0
        paths = store.open(run).path.glob("trials/*/*/events.jsonl")
        return sum(path.read_text().count('"type":"step"') for path in paths)

    def is_over(self, run: str) -> bool:
        return self.queue.get(run).state.is_over


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


def request(repeats: int, agent: str = "oracle") -> RunRequest:
    return RunRequest(
        suite=str(TINY), agent=agent, tasks=("write-file",), repeats=repeats, fleet="fake"
    )


def kill_at_a_random_moment(service: Service, run: str, chance: random.Random) -> None:
    """Start the service and kill it: while it starts, or after some work."""
    before = service.steps(run)
    with service.start() as process:
        if chance.random() < 0.75:
            wait_until(
                lambda: service.steps(run) > before or service.is_over(run),
                timeout_s=LONG_S,
                every_s=0.02,
            )
        SYSTEM_CLOCK.sleep(chance.uniform(0, 1.5))
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.timeout(1200)
def test_kill_9_loses_no_trial_and_fires_no_slot_twice(service: Service) -> None:
    chance = random.Random(TRIALS)  # noqa: S311 - not a secret
    run = service.queue.add(request(TRIALS), Requester("api")).run
    schedule = Schedule(
        name="often", trigger=Interval(every_s=EVERY_S), request=request(1, "noop"), priority=-1
    )
    first_s = service.register.add(schedule).next_s
    assert first_s is not None
    for _ in range(KILLS):
        kill_at_a_random_moment(service, run, chance)
    with service.start() as process:
        assert wait_until(lambda: service.is_over(run), timeout_s=LONG_S)
        assert wait_until(lambda: service.register.history("often"), timeout_s=LONG_S)
        service.register.pause("often")
        runs = [entry.run for entry in service.queue.entries()]
        assert wait_until(lambda: all(map(service.is_over, runs)), timeout_s=LONG_S)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    check_trials(service, run)
    check_slots(service, first_s)


def check_trials(service: Service, run: str) -> None:
    """Verify that each trial was judged exactly once; killed attempts are kept in addition."""
    queued = service.queue.get(run)
    assert (queued.state, queued.counts.passed) == (State.FINISHED, TRIALS)
    folder: RunFolder = Store(service.settings.runs_dir).open(run)
    assert folder.unfinished() == []
    for task, repeat in folder.spec.planned:
        attempts = folder.attempts(task, repeat)
        ends = [attempt.number for attempt in attempts if attempt.result is not None]
        assert ends == [attempts[-1].number]


def check_slots(service: Service, first_s: float) -> None:
    """Verify that each slot has one record, and each run of the schedule was fired by one slot."""
    slots = sorted(service.register.history("often", limit=100_000), key=lambda slot: slot.slot_s)
    numbers = [round((slot.slot_s - first_s) / EVERY_S) for slot in slots]
    assert numbers == list(range(len(slots)))
    fired = Counter(slot.run for slot in slots if slot.outcome is Outcome.FIRED)
    queued = {entry.run for entry in service.queue.entries(limit=100_000) if entry.schedule}
    assert fired == dict.fromkeys(queued, 1)


def test_sigterm_finishes_a_trial_and_the_next_service_continues(service: Service) -> None:
    run = service.queue.add(request(30), Requester("api")).run
    with service.start("--grace", "60") as process:
        assert wait_until(lambda: service.steps(run), timeout_s=LONG_S, every_s=0.02)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=LONG_S)[0].decode()
    assert process.returncode == 0, output
    left = service.queue.get(run)
    assert (left.state, left.starts) == (State.QUEUED, 0)
    results = Store(service.settings.runs_dir).open(run).results()
    assert {str(result.reason) for result in results} == {"success"}
    assert 1 <= len(results) == left.counts.passed < 30
