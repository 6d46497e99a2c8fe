"""Register of schedules and of the outcomes of their slots."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from sqlalchemy import select

from controller.service.schedules.definition import Schedule
from controller.service.schedules.triggers import check_trigger, next_slot
from controller.service.state.queued_run import OVER, Requester, enqueue
from controller.service.state.tables import QueuedRunRow, ScheduleRow, SlotRow
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from controller.service.state.database import Database
    from controller.service.state.queued_run import QueuedRun
    from foundation.clock import Clock

Origin = Literal["manual", "declared"]


class Outcome(StrEnum):
    """Outcome of a slot."""

    FIRED = "fired"
    MISSED = "missed"
    """Nothing could fire it in time."""
    OVERLAPPED = "overlapped"
    """The schedule's last run was not over yet."""
    BY_HAND = "by_hand"
    """Not a slot of the trigger: a user requested an immediate run."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered schedule; see `ScheduleRow`."""

    schedule: Schedule
    origin: Origin
    is_paused: bool
    created_s: float
    next_s: float | None


@dataclass(frozen=True, slots=True)
class Slot:
    """Outcome of one slot; see `SlotRow`."""

    schedule: str
    slot_s: float
    outcome: Outcome
    run: str
    recorded_s: float
    details: str


class Register:
    """The schedules of one appliance.

    Args:
        database: stores the schedules.
        clock: provides the current time.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, schedule: Schedule, *, origin: Origin = "manual") -> Registered:
        """Add a schedule; the caller has checked its request.

        Adding the same schedule again changes nothing.

        Raises:
            UsageError: another schedule has this name, or the trigger never fires.
            StateError: the database cannot be written.
        """
        now_s = self._clock.now_s()
        check_trigger(schedule.trigger, now_s=now_s)
        with self._database.write() as session:
            known = session.get(ScheduleRow, schedule.name)
            if known is not None:
                if _registered(known).schedule != schedule:
                    raise UsageError(
                        f"A different schedule named {schedule.name!r} exists.",
                        resolution="Remove it first, or choose another name.",
                    )
                return _registered(known)
            row = ScheduleRow(
                name=schedule.name,
                definition=schedule.model_dump_json(),
                origin=origin,
                is_paused=False,
                created_s=now_s,
                next_s=next_slot(schedule.trigger, after_s=now_s, created_s=now_s),
            )
            session.add(row)
            return _registered(row)

    def entries(self) -> list[Registered]:
        """Return all schedules, sorted by name."""
        with self._database.read() as session:
            rows = session.scalars(select(ScheduleRow).order_by(ScheduleRow.name))
            return [_registered(row) for row in rows]

    def get(self, name: str) -> Registered:
        """Return one schedule.

        Raises:
            UnknownNameError: no schedule has this name.
        """
        with self._database.read() as session:
            return _registered(_find(session, name))

    def pause(self, name: str) -> Registered:
        """Pause a schedule until it is resumed; slots during the pause are not recorded.

        Raises:
            UnknownNameError: no schedule has this name.
        """
        with self._database.write() as session:
            row = _find(session, name)
            row.is_paused, row.next_s = True, None
            return _registered(row)

    def resume(self, name: str) -> Registered:
        """Resume a paused schedule from its next slot.

        Raises:
            UnknownNameError: no schedule has this name.
        """
        now_s = self._clock.now_s()
        with self._database.write() as session:
            row = _find(session, name)
            if row.is_paused:
                trigger = _registered(row).schedule.trigger
                row.is_paused = False
                row.next_s = next_slot(trigger, after_s=now_s, created_s=row.created_s)
            return _registered(row)

    def remove(self, name: str) -> None:
        """Remove a schedule; its runs and slot records are kept.

        Raises:
            UnknownNameError: no schedule has this name.
        """
        with self._database.write() as session:
            session.delete(_find(session, name))

    def run_now(self, name: str) -> QueuedRun:
        """Queue a run of a schedule immediately; its slots do not change.

        Raises:
            UnknownNameError: no schedule has this name.
            UsageError: its last run is not over yet.
        """
        now_s = self._clock.now_s()
        with self._database.write() as session:
            schedule = _registered(_find(session, name)).schedule
            if (active := active_run(session, name)) is not None:
                raise UsageError(
                    f"The last run of {name!r} is not over yet.", details=f"Its id is {active}."
                )
            queued = fire(session, schedule, self._clock)
            record_slot(session, Slot(name, now_s, Outcome.BY_HAND, queued.run, now_s, ""))
            return queued

    def history(self, name: str, *, limit: int = 100) -> list[Slot]:
        """Return the outcomes of a schedule's last slots, latest first.

        Raises:
            UnknownNameError: no schedule has, or had, this name.
        """
        slots = self.recent(name, limit=limit)
        if not slots:
            self.get(name)
        return slots

    def recent(self, name: str, *, limit: int) -> list[Slot]:
        """Return the outcomes of a schedule's last slots, latest first; empty for an unknown name."""
        chosen = select(SlotRow).where(SlotRow.schedule == name).order_by(SlotRow.slot_s.desc())
        with self._database.read() as session:
            return [_slot(row) for row in session.scalars(chosen.limit(limit))]

    def slot_of(self, run: str) -> Slot | None:
        """Return the slot that fired a run; None for other runs."""
        with self._database.read() as session:
            row = session.scalar(select(SlotRow).where(SlotRow.run == run))
            return None if row is None else _slot(row)


def fire(session: Session, schedule: Schedule, clock: Clock) -> QueuedRun:
    """Queue a run of a schedule within the caller's transaction."""
    requester = Requester("schedule", schedule=schedule.name, priority=schedule.priority)
    return enqueue(session, schedule.request, requester, clock)


def active_run(session: Session, name: str) -> str | None:
    """Return the id of a schedule's run that is not over yet, if any."""
    chosen = select(QueuedRunRow.run).where(
        QueuedRunRow.schedule == name, QueuedRunRow.state.not_in(OVER)
    )
    return session.scalar(chosen.limit(1))


def record_slot(session: Session, slot: Slot) -> None:
    """Record the outcome of a slot; can be done only once per slot."""
    session.add(
        SlotRow(
            schedule=slot.schedule,
            slot_s=slot.slot_s,
            outcome=slot.outcome,
            run=slot.run,
            recorded_s=slot.recorded_s,
            details=slot.details,
        )
    )


def _find(session: Session, name: str) -> ScheduleRow:
    row = session.get(ScheduleRow, name)
    if row is None:
        raise UnknownNameError.of("schedule", name, session.scalars(select(ScheduleRow.name)))
    return row


def _registered(row: ScheduleRow) -> Registered:
    return Registered(
        Schedule.model_validate_json(row.definition),
        "declared" if row.origin == "declared" else "manual",
        row.is_paused,
        row.created_s,
        row.next_s,
    )


def _slot(row: SlotRow) -> Slot:
    return Slot(
        row.schedule, row.slot_s, Outcome(row.outcome), row.run, row.recorded_s, row.details
    )
