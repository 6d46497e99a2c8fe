from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from controller.service.notifications.delivery import deliver
from controller.service.notifications.outbox import (
    GIVEN_UP,
    MAX_ATTEMPTS,
    PENDING,
    SENT,
    Outbox,
    write_messages,
)
from controller.service.schedules.definition import Event, Interval, Mail, Schedule, Webhook
from controller.service.state.queued_run import Requester
from controller.service.state.tables import NotificationRow
from foundation.errors import RequirementError, ToolFailedError
from tests.unit.controller.service.receivers import mailbox, web

if TYPE_CHECKING:
    from controller.service.state.database import Database
    from controller.service.state.queue import RunQueue
    from controller.specification.request import RunRequest
    from foundation.clock import FakeClock
    from provisioning.protocols import Json

ALL = tuple(Event)


def write(
    database: Database, queue: RunQueue, clock: FakeClock, schedule: Schedule, *events: Event
) -> str:
    run = queue.add(schedule.request, Requester("schedule", schedule=schedule.name)).run
    with database.write() as session:
        write_messages(session, schedule, events, {"run": run, "schedule": "s", "SR": 0.5}, clock)
    return run


def states(database: Database) -> list[tuple[str, int]]:
    with database.read() as session:
        rows = session.scalars(select(NotificationRow).order_by(NotificationRow.number))
        return [(row.state, row.attempts) for row in rows]


def make(request: RunRequest, *targets: Webhook | Mail) -> Schedule:
    return Schedule(name="s", trigger=Interval(every_s=60), request=request, notify=targets)


def test_message_is_retried_until_a_real_listener_accepts_it(
    database: Database, queue: RunQueue, clock: FakeClock, request_of_tiny: RunRequest
) -> None:
    outbox = Outbox(database, clock, deliver)
    with web(503, 302, 200) as server:
        schedule = make(request_of_tiny, Webhook(url=server.url, on=ALL))
        run = write(database, queue, clock, schedule, Event.END, Event.REGRESS)
        assert outbox.deliver_due() == 1
        assert outbox.deliver_due() == 0
        clock.advance(30)
        outbox.deliver_due()
        assert states(database) == [(PENDING, 2)]
        clock.advance(60)
        outbox.deliver_due()
        assert states(database) == [(SENT, 3)]
        clock.advance(1e6)
        assert outbox.deliver_due() == 0
    # A redirect is not followed: it would be another POST, or a GET that the server rejects.
    assert len(server.bodies) == 3
    assert {(body["run"], body["id"], body["event"]) for body in server.bodies} == {(run, 1, "end")}


def test_unresponsive_receiver_is_given_up(
    database: Database, queue: RunQueue, clock: FakeClock, request_of_tiny: RunRequest
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    write(database, queue, clock, make(request_of_tiny, Webhook(url=url)), Event.FAILURE)
    outbox = Outbox(database, clock, deliver)
    for _ in range(MAX_ATTEMPTS + 2):
        outbox.deliver_due()
        clock.advance(1e5)
    assert states(database) == [(GIVEN_UP, MAX_ATTEMPTS)]
    with database.read() as session:
        assert "cannot be reached" in session.scalars(select(NotificationRow)).one().error


def test_only_subscribers_of_an_event_are_notified(
    database: Database, queue: RunQueue, clock: FakeClock, request_of_tiny: RunRequest
) -> None:
    schedule = make(
        request_of_tiny, Webhook(url="http://a/", on=(Event.END,)), Webhook(url="http://b/")
    )
    write(database, queue, clock, schedule, Event.END)
    deliveries: list[object] = []
    Outbox(
        database, clock, lambda target, body: deliveries.append((target, body["event"]))
    ).deliver_due()
    assert deliveries == [(schedule.notify[0], "end")]


def test_mail_reaches_a_real_server(
    monkeypatch: pytest.MonkeyPatch, request_of_tiny: RunRequest
) -> None:
    target = Mail(to="night@example.org")
    body: dict[str, Json] = {
        "id": 7,
        "run": "r1",
        "schedule": "s",
        "event": "regress",
        "SR": 0.25,
        "PASS": 1,
    }
    with pytest.raises(RequirementError, match="MESOCOSM_MAIL_HOST"):
        deliver(target, body)
    with mailbox() as box:
        monkeypatch.setenv("MESOCOSM_MAIL_HOST", "127.0.0.1")
        monkeypatch.setenv("MESOCOSM_MAIL_PORT", str(box.port))
        deliver(target, body)
        monkeypatch.setenv("MESOCOSM_MAIL_USER", "nobody")
        with pytest.raises(ToolFailedError, match="did not accept"):
            deliver(target, body)
    ((receivers, text),) = box.mails
    assert receivers == ["night@example.org"]
    assert "Subject: s: regress of run r1" in text
    assert "SR: 0.25" in text
