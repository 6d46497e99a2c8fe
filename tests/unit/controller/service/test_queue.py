from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.requests import check_request
from controller.service.state import queued_run
from controller.service.state.claims import Claims
from controller.service.state.queued_run import Counts, PendingRequest, Requester, State
from controller.specification.request import RunRequest, parse_request
from foundation.errors import MesocosmError, SpecError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from controller.service.state.database import Database
    from controller.service.state.queue import RunQueue
    from foundation.clock import FakeClock


@pytest.fixture
def claims(database: Database, clock: FakeClock) -> Claims:
    return Claims(database, clock)


def test_queue_is_ordered_by_priority_then_age(
    queue: RunQueue, claims: Claims, request_of_tiny: RunRequest
) -> None:
    priorities = [0, 5, -3, 5]
    runs = [
        queue.add(request_of_tiny, Requester("api", priority=priority)).run
        for priority in priorities
    ]
    queue.set_priority(runs[2], 6)
    taken = [claims.claim() for _ in range(5)]
    assert [claimed.run for claimed in taken if claimed] == [runs[2], runs[1], runs[3], runs[0]]
    assert taken[-1] is None


def test_runs_of_one_moment_have_distinct_ids(
    queue: RunQueue, request_of_tiny: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["aaaa", "aaaa", "aaaa", "bbbb"])
    monkeypatch.setattr(queued_run, "new_run_id", lambda *_, **__: next(drawn))
    assert [queue.add(request_of_tiny, Requester("api")).run for _ in "12"] == ["aaaa", "bbbb"]


def test_repeated_request_returns_the_first_run(
    queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    first = queue.add(request_of_tiny, Requester("api", key="k"))
    assert queue.add(request_of_tiny, Requester("api", key="k")) == first
    with pytest.raises(UsageError, match="different request"):
        queue.add(RunRequest(suite="smoke", agent="noop"), Requester("api", key="k"))
    assert queue.count()[State.QUEUED] == 1


def test_runs_of_a_killed_worker_are_restored_as_requested(
    queue: RunQueue, claims: Claims, request_of_tiny: RunRequest
) -> None:
    runs = [queue.add(request_of_tiny, Requester("api")).run for _ in range(4)]
    for _ in range(3):
        claims.claim()
    queue.pause(runs[1])
    queue.cancel(runs[2])
    queue.pause(runs[2])
    assert claims.recover() == runs[:3]
    states = [queue.get(run).state for run in runs]
    assert states == [State.QUEUED, State.PAUSED, State.CANCELLED, State.QUEUED]
    assert {queue.get(run).pending_request for run in runs} == {PendingRequest.NONE}
    assert claims.recover() == []


def test_finished_runs_reject_requests_and_can_be_retried(
    queue: RunQueue, request_of_tiny: RunRequest
) -> None:
    run = queue.add(request_of_tiny, Requester("api")).run
    assert queue.cancel(run).ended_s is not None
    for refused in (queue.cancel, queue.pause):
        with pytest.raises(UsageError, match="already cancelled"):
            refused(run)
    resumed = queue.resume(run)
    assert (resumed.state, resumed.ended_s) == (State.QUEUED, None)
    with pytest.raises(UnknownNameError, match=run):
        queue.get(f"{run}x")


def test_failed_run_waits_and_starts_without_progress_are_counted(
    queue: RunQueue, claims: Claims, request_of_tiny: RunRequest, clock: FakeClock
) -> None:
    run = queue.add(request_of_tiny, Requester("api")).run
    assert claims.claim()
    claims.retry(run, MesocosmError("No engine.", "down", "Start it."), 10.0)
    assert queue.get(run).brief == "No engine."
    assert claims.claim() is None
    clock.advance(10.0)
    again = claims.claim()
    assert again
    assert again.starts == 2
    claims.note(run, Counts(4, 1, 0, 0))
    assert queue.get(run).starts == 0
    assert queue.get(run).counts.ended == 1
    claims.note(run, Counts(4, 1, 0, 0))
    claims.release(run, is_stopping=True)
    claims.claim()
    claims.release(run, is_stopping=False)
    assert queue.get(run).starts == 1


def test_readers_see_changes_since_their_last_read(
    queue: RunQueue, claims: Claims, request_of_tiny: RunRequest
) -> None:
    runs = [queue.add(request_of_tiny, Requester("api")).run for _ in range(3)]
    seen = queue.changed_since(0)
    assert [entry.run for entry in seen] == runs
    claims.note(runs[0], Counts(1, 0, 0, 1))
    newer = queue.changed_since(seen[-1].change)
    assert [(entry.run, entry.counts.inconclusive) for entry in newer] == [(runs[0], 1)]
    assert [entry.run for entry in queue.entries(limit=1, before=seen[2].number)] == [runs[1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"suite": "smok"}, UnknownNameError, "smoke"),
        ({"agent": "oracl"}, UnknownNameError, "oracle"),
        ({"tasks": ["nothing"]}, UnknownNameError, "nothing"),
        ({"solution": "orcale"}, UnknownNameError, "oracle"),
        ({"tags": ["nothing"]}, UsageError, "No task of smoke has tags"),
        ({"agent": ""}, UsageError, "No agent"),
        ({"agent": "", "command": "true"}, UsageError, "absolute working folder"),
        ({"agent": "", "command": "no-such-program", "folder": "/"}, UsageError, "no program"),
        ({"agent": "mine:Agent"}, UsageError, "absolute"),
        ({"recording_hz": 99.0}, UsageError, "at 99 Hz"),
        ({"agent": "script"}, UsageError, "script"),
        ({"agent": "script", "script": "/none/of/it"}, SpecError, "cannot be read"),
        ({"suite": "relative/folder"}, UsageError, "absolute"),
        (
            {"agent": "model", "model": "m", "base_url": "http://me:secret@host/v1"},
            UsageError,
            "credentials",
        ),
        (
            {"agent": "model", "model": "m", "base_url": "http://h/v1", "budget": {"usd": 1}},
            UsageError,
            "no prices",
        ),
        ({"repeats": 0}, UsageError, "repeats: "),
        ({"priority": 1}, UsageError, "priority: "),
        ({"recording_hz": float("nan")}, UsageError, "recording_hz: "),
    ],
)
def test_wrong_request_is_rejected_before_it_is_queued(
    values: dict[str, object], error: type[MesocosmError], message: str
) -> None:
    with pytest.raises(error) as caught:
        check_request(parse_request({"suite": "smoke", "agent": "oracle", **values}))
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
