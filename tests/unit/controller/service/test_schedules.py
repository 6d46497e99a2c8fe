from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from controller.service.schedules import firing
from controller.service.schedules.definition import Interval, Missed, Schedule, parse_schedule
from controller.service.schedules.firing import fire_due
from controller.service.schedules.register import Outcome, Register
from controller.service.state.queued_run import State
from controller.service.state.tables import SlotRow
from foundation.errors import UnknownNameError, UsageError
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext
    from controller.service.state.database import Database
    from controller.service.state.queue import RunQueue
    from controller.specification.request import RunRequest
    from foundation.clock import FakeClock


@pytest.fixture
def register(database: Database, clock: FakeClock) -> Register:
    return Register(database, clock)


@pytest.fixture
def schedule(request_of_tiny: RunRequest) -> Schedule:
    return Schedule(name="nightly", trigger=Interval(every_s=100), request=request_of_tiny)


def outcomes(register: Register, name: str = "nightly") -> list[tuple[float, Outcome]]:
    return [(slot.slot_s, slot.outcome) for slot in reversed(register.history(name))]


def test_each_slot_fires_once_and_runs_do_not_overlap(
    register: Register, schedule: Schedule, database: Database, queue: RunQueue, clock: FakeClock
) -> None:
    start_s = clock.now_s()
    register.add(schedule)
    assert fire_due(database, clock) == []
    clock.advance(100)
    (fired,) = fire_due(database, clock)
    assert fire_due(database, clock) == []
    clock.advance(100)
    fire_due(database, clock)
    queue.cancel(fired.run)
    clock.advance(130)
    fire_due(database, clock)
    assert outcomes(register) == [
        (start_s + 100, Outcome.FIRED),
        (start_s + 200, Outcome.OVERLAPPED),
        (start_s + 300, Outcome.FIRED),
    ]
    assert [entry.state for entry in queue.entries()] == [State.QUEUED, State.CANCELLED]
    assert queue.get(fired.run).schedule == "nightly"
    slot = register.slot_of(fired.run)
    assert slot
    assert slot.slot_s == start_s + 100


@pytest.mark.parametrize("policy", list(Missed))
def test_missed_slots_have_one_record_each(
    *,
    policy: Missed,
    register: Register,
    schedule: Schedule,
    database: Database,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(firing, "_BATCH", 3)
    start_s = clock.now_s()
    register.add(schedule.model_copy(update={"missed": policy}))
    clock.advance(1090)
    fire_due(database, clock)
    last = Outcome.FIRED if policy is Missed.ONCE else Outcome.MISSED
    expected = [(start_s + 100 * at, Outcome.MISSED) for at in range(1, 10)]
    assert outcomes(register) == [*expected, (start_s + 1000, last)]
    clock.advance(10)
    (in_time,) = fire_due(database, clock)
    assert in_time.outcome is (Outcome.OVERLAPPED if policy is Missed.ONCE else Outcome.FIRED)


def test_clock_set_back_fires_no_slot_again(
    register: Register, schedule: Schedule, database: Database, queue: RunQueue, clock: FakeClock
) -> None:
    register.add(schedule)
    clock.advance(100)
    (fired,) = fire_due(database, clock)
    queue.cancel(fired.run)
    clock.advance(-60)
    register.pause("nightly")
    register.resume("nightly")
    clock.advance(61)
    assert fire_due(database, clock) == []
    assert len(queue.entries()) == 1


def test_crash_while_firing_leaves_both_records_or_none(
    *,
    register: Register,
    schedule: Schedule,
    database: Database,
    queue: RunQueue,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register.add(schedule)
    clock.advance(100)
    with monkeypatch.context() as patch:
        patch.setattr(firing, "record_slot", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fire_due(database, clock)
    assert queue.entries() == []
    with database.read() as session:
        assert list(session.scalars(select(SlotRow))) == []
    (fired,) = fire_due(database, clock)
    assert fired.outcome is Outcome.FIRED


def test_paused_schedule_fires_nothing_and_resumes_with_its_next_slot(
    register: Register, schedule: Schedule, database: Database, clock: FakeClock
) -> None:
    start_s = clock.now_s()
    register.add(schedule)
    assert register.pause("nightly").next_s is None
    clock.advance(250)
    assert fire_due(database, clock) == []
    assert register.resume("nightly").next_s == start_s + 300
    assert register.resume("nightly").next_s == start_s + 300
    assert register.add(schedule).next_s == start_s + 300


def test_manual_run_is_recorded_and_overlaps_the_next_slot(
    register: Register, schedule: Schedule, database: Database, clock: FakeClock
) -> None:
    start_s = clock.now_s()
    register.add(schedule)
    clock.advance(30)
    run = register.run_now("nightly").run
    with pytest.raises(UsageError, match="not over yet") as caught:
        register.run_now("nightly")
    assert run in str(caught.value)
    clock.advance(70)
    fire_due(database, clock)
    assert outcomes(register) == [
        (start_s + 30, Outcome.BY_HAND),
        (start_s + 100, Outcome.OVERLAPPED),
    ]
    register.remove("nightly")
    clock.advance(500)
    assert fire_due(database, clock) == []
    assert len(register.history("nightly")) == 2
    with pytest.raises(UnknownNameError):
        register.get("nightly")
    with pytest.raises(UnknownNameError):
        register.history("never")


def test_duplicate_schedule_name_is_rejected(register: Register, schedule: Schedule) -> None:
    register.add(schedule)
    with pytest.raises(UsageError, match="different schedule"):
        register.add(schedule.model_copy(update={"priority": 1}))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "No Name"}, "name"),
        ({"trigger": {"kind": "interval", "every_s": 0.1}}, "trigger.interval.every_s"),
        ({"missed": "never"}, "missed"),
        ({"notify": [{"kind": "webhook", "url": "file:///etc/passwd"}]}, "notify.0.webhook.url"),
        ({"notify": [{"kind": "webhook", "url": "http://a:b@c/"}]}, "notify.0.webhook.url"),
        ({"notify": [{"kind": "mail", "to": "a@b\nBcc: c@d"}]}, "notify.0.mail.to"),
        ({"often": 1}, "often"),
    ],
)
def test_wrong_values_are_reported(
    changes: dict[str, object], field: str, schedule: Schedule
) -> None:
    with pytest.raises(UsageError) as caught:
        parse_schedule({**schedule.model_dump(mode="json"), **changes})
    assert f"{field}: " in caught.value.details


@pytest.mark.slow
def test_declared_and_manual_schedules_are_distinguished(
    context: ApiContext, browser: TestClient, schedule: Schedule
) -> None:
    context.register.add(schedule)
    context.register.add(schedule.model_copy(update={"name": "weekly"}), origin="declared")
    origins = {entry.schedule.name: entry.origin for entry in context.register.entries()}
    assert origins == {"nightly": "manual", "weekly": "declared"}
    sign_in(browser, context)
    assert re.findall(r"· (manual|declared) ·", browser.get("/schedules").text) == [
        "manual",
        "declared",
    ]
    rows = browser.get("/api/v1/schedules").json()["schedules"]
    assert [row["origin"] for row in rows] == ["manual", "declared"]
