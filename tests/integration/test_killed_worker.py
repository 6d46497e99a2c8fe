"""Tests that repeatedly killing controller and worker in their containers loses no trial and judges none twice."""

from __future__ import annotations

import http.client
import os
import random
import secrets
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from controller.store.runs import Store
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.settings import get_settings
from tests.integration.test_two_containers import ask, container_of, inspect
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foundation.settings import Settings

pytestmark = [
    pytest.mark.docker,
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
    nightly("takes an hour; `make test` kills one worker, and a service on machines in memory"),
]

KILLS, REPEATS, EVERY_S = 20, 20, 20
TASKS = ("phone-tick-off", "desktop-badge")
LONG_S = 3600.0


@pytest.mark.timeout(3 * LONG_S)
def test_kill_9_on_real_machines_loses_no_trial_and_fires_no_slot_twice() -> None:
    print(kill_again_and_again(get_settings(), TASKS, REPEATS, KILLS))  # noqa: T201


def kill_again_and_again(
    settings: Settings, tasks: Sequence[str], repeats: int, kills: int
) -> dict[str, object]:
    """Queue a run, kill the service at random moments, and return statistics."""
    request = {"suite": "smoke", "agent": "oracle", "tasks": tasks, "repeats": repeats}
    run: str = ask(settings, "POST", "/api/v1/queue", {"request": request, "priority": 9})[1]["run"]
    name = f"slots-{secrets.token_hex(4)}"
    schedule = {
        "name": name,
        "trigger": {"kind": "interval", "every_s": EVERY_S},
        "request": {"suite": "smoke", "agent": "noop", "tasks": tasks[:1], "fleet": "fake"},
        "priority": -9,
    }
    status, added = ask(settings, "POST", "/api/v1/schedules", schedule)
    assert status == 201, added
    path = f"/api/v1/schedules/{name}"
    try:
        killed = kill_until_over(settings, run, kills)
        assert wait_until(lambda: state_of(settings, run) == "finished", timeout_s=LONG_S)
        slots = ask_again(settings, "GET", f"{path}/history?limit=1000")[1]["slots"]
    finally:
        ask_again(settings, "DELETE", path)
    check_slots([slot["slot_s"] for slot in slots], added["next_s"])
    return {
        "killed": dict(killed),
        **judge(settings, run, len(tasks) * repeats),
        "slots": dict(Counter(slot["outcome"] for slot in slots)),
    }


def kill_until_over(settings: Settings, run: str, kills: int) -> Counter[str]:
    """Kill the worker, sometimes the controller, until the number of kills or the end of the run."""
    chance = random.Random(kills)  # noqa: S311 - not a secret
    killed: Counter[str] = Counter()
    while killed.total() < kills and state_of(settings, run) != "finished":
        SYSTEM_CLOCK.sleep(chance.uniform(1, 20))
        service = "worker" if chance.random() < 0.75 else "controller"
        pid = int(inspect(container_of(settings, service), "{{.State.Pid}}"))
        if pid:  # Docker delays the restart of a container that exits immediately
            os.kill(pid, signal.SIGKILL)
            killed[service] += 1
    return killed


def state_of(settings: Settings, run: str) -> str:
    """Return the state of a queued run."""
    return str(ask_again(settings, "GET", f"/api/v1/queue/{run}")[1]["state"])


def ask_again(settings: Settings, method: str, path: str) -> tuple[int, Any]:
    """Retry a request until the controller replies."""
    replies: list[tuple[int, Any]] = []

    def is_answered() -> bool:
        try:
            replies.append(ask(settings, method, path))
        except (OSError, http.client.HTTPException, ValueError):
            return False
        return True

    assert wait_until(is_answered, timeout_s=LONG_S)
    return replies[0]


def judge(settings: Settings, run: str, trials: int) -> dict[str, object]:
    """Verify that each trial has one verdict; killed attempts are kept in addition."""
    folder = Store(settings.runs_dir).open(run)
    attempts = [folder.attempts(*trial) for trial in folder.spec.planned]
    for tried in attempts:
        ends = [
            attempt.number
            for attempt in tried
            if attempt.result and attempt.result.reason != "cancelled"
        ]
        assert ends[-1] == tried[-1].number
    results = folder.results()
    assert len(results) == len(attempts) == trials
    verdicts = Counter(str(result.verdict) for result in results)
    assert verdicts == {"PASS": trials}, verdicts
    return {"trials": trials, "attempts": sum(map(len, attempts))}


def check_slots(slots: list[float], first_s: float) -> None:
    """Verify that each slot has one record."""
    numbers = sorted(round((slot - first_s) / EVERY_S) for slot in slots)
    assert numbers == list(range(len(numbers)))
    assert numbers
