"""Outbox of pending messages; a killed process loses none, but may send one twice."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Protocol

from pydantic import TypeAdapter
from sqlalchemy import select

from controller.service.schedules.definition import Target
from controller.service.state.tables import NotificationRow
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.orm import Session

    from controller.service.schedules.definition import Event, Schedule
    from controller.service.state.database import Database
    from foundation.clock import Clock
    from provisioning.protocols import Json

_log = logging.getLogger(__name__)

MAX_ATTEMPTS = 8
_FIRST_DELAY_S = 30.0
_BATCH = 20
_TARGET: TypeAdapter[Target] = TypeAdapter(Target)

PENDING, SENT, GIVEN_UP = "pending", "sent", "given_up"


class Send(Protocol):
    """Delivers one message."""

    def __call__(self, target: Target, body: dict[str, Json], /) -> None:
        """Deliver a message.

        Raises:
            MesocosmError: the message was not delivered.
        """
        ...


def write_messages(
    session: Session,
    schedule: Schedule,
    events: Collection[Event],
    body: dict[str, Json],
    clock: Clock,
) -> None:
    """Write a message to each target of any of the events, in the caller's transaction."""
    now_s = clock.now_s()
    for target in schedule.notify:
        concerned = [event for event in target.on if event in events]
        if concerned:
            session.add(
                NotificationRow(
                    run=str(body["run"]),
                    event=concerned[0],
                    target=target.model_dump_json(),
                    body=json.dumps({"event": concerned[0].value, **body}),
                    state=PENDING,
                    attempts=0,
                    next_s=now_s,
                    error="",
                    created_s=now_s,
                )
            )


class Outbox:
    """Delivers messages with retries and exponential backoff; gives up after `MAX_ATTEMPTS`.

    Args:
        database: stores the messages.
        clock: measures the delays.
        send: delivers one message.
    """

    def __init__(self, database: Database, clock: Clock, send: Send) -> None:
        self._database = database
        self._clock = clock
        self._send = send

    def deliver_due(self) -> int:
        """Try to deliver all due messages; return how many were tried."""
        chosen = (
            select(NotificationRow.number, NotificationRow.target, NotificationRow.body)
            .where(NotificationRow.state == PENDING, NotificationRow.next_s <= self._clock.now_s())
            .order_by(NotificationRow.next_s)
            .limit(_BATCH)
        )
        with self._database.read() as session:
            due = list(session.execute(chosen))
        for number, target, body in due:
            self._deliver(number, _TARGET.validate_json(target), json.loads(body))
        return len(due)

    def _deliver(self, number: int, target: Target, body: dict[str, Json]) -> None:
        error = ""
        try:
            self._send(target, {"id": number, **body})
        except MesocosmError as exc:
            error = str(exc)
            _log.warning("message %d was not delivered: %s", number, exc)
        with self._database.write() as session:
            row = session.get_one(NotificationRow, number)
            row.attempts += 1
            row.error = error
            if not error:
                row.state = SENT
            elif row.attempts >= MAX_ATTEMPTS:
                row.state = GIVEN_UP
            else:
                row.next_s = self._clock.now_s() + _FIRST_DELAY_S * 2.0 ** (row.attempts - 1)
