"""Fire the slots that are due; each slot's record and run are written in one transaction.

If the process is killed, either both or neither exist. The record's key is the schedule and the
slot's time, so no slot fires twice, even if the host's clock changes.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import select

from controller.service.schedules.definition import Missed, Schedule
from controller.service.schedules.register import Outcome, Slot, active_run, fire, record_slot
from controller.service.schedules.triggers import next_slot
from controller.service.state.tables import ScheduleRow, SlotRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from controller.service.state.database import Database
    from foundation.clock import Clock

_log = logging.getLogger(__name__)

_BATCH = 1000
"""Maximum slots recorded per transaction, relevant after a long downtime."""


def fire_due(database: Database, clock: Clock) -> list[Slot]:
    """Decide all slots up to now; return their outcomes, by schedule and time.

    Raises:
        StateError: the database cannot be written.
    """
    decided: list[Slot] = []
    for name in _due(database, clock):
        while batch := _decide(database, name, clock):
            decided += batch
    _report(decided)
    return decided


def _report(decided: list[Slot]) -> None:
    """Log the outcomes of slots; missed slots in one line per schedule."""
    missed = Counter(slot.schedule for slot in decided if slot.outcome is Outcome.MISSED)
    for name, count in missed.items():
        _log.warning("%d slots of %s were missed", count, name)
    for slot in decided:
        if slot.outcome is not Outcome.MISSED:
            _log.info("a slot of %s: %s %s", slot.schedule, slot.outcome, slot.run or slot.details)


def _due(database: Database, clock: Clock) -> list[str]:
    chosen = select(ScheduleRow.name).where(ScheduleRow.next_s <= clock.now_s())
    with database.read() as session:
        return list(session.scalars(chosen.order_by(ScheduleRow.name)))


def _decide(database: Database, name: str, clock: Clock) -> list[Slot]:
    """Decide a batch of one schedule's slots; return an empty list when no more are due."""
    now_s = clock.now_s()
    with database.write() as session:
        row = session.get(ScheduleRow, name)
        if row is None or row.is_paused:
            return []
        schedule = Schedule.model_validate_json(row.definition)
        times = _take_due(row, schedule, now_s)
        is_last = row.next_s is None or row.next_s > now_s
        # A slot already has a record only if the host's clock was set back.
        open_times = [slot_s for slot_s in times if session.get(SlotRow, (name, slot_s)) is None]
        slots = [_missed(name, slot_s, now_s) for slot_s in open_times]
        if slots and is_last:
            slots[-1] = _decide_last(session, schedule, open_times[-1], clock)
        for slot in slots:
            record_slot(session, slot)
        return slots


def _take_due(row: ScheduleRow, schedule: Schedule, now_s: float) -> list[float]:
    """Return the next due slots, at most one batch, and advance the schedule past them."""
    times: list[float] = []
    while row.next_s is not None and row.next_s <= now_s and len(times) < _BATCH:
        times.append(row.next_s)
        row.next_s = next_slot(schedule.trigger, after_s=row.next_s, created_s=row.created_s)
    return times


def _decide_last(session: Session, schedule: Schedule, slot_s: float, clock: Clock) -> Slot:
    now_s = clock.now_s()
    if now_s - slot_s > schedule.grace_s and schedule.missed is Missed.SKIP:
        return _missed(schedule.name, slot_s, now_s)
    if (active := active_run(session, schedule.name)) is not None:
        details = f"{active} is not over yet."
        return Slot(schedule.name, slot_s, Outcome.OVERLAPPED, "", now_s, details)
    queued = fire(session, schedule, clock)
    late_s = now_s - slot_s
    details = f"{late_s:.0f} s late" if late_s > schedule.grace_s else ""
    return Slot(schedule.name, slot_s, Outcome.FIRED, queued.run, now_s, details)


def _missed(name: str, slot_s: float, now_s: float) -> Slot:
    details = f"Nothing fired this slot; detected {now_s - slot_s:.0f} s later."
    return Slot(name, slot_s, Outcome.MISSED, "", now_s, details)
