"""SQLAlchemy models of the tables in the service's database.

A change here needs a migration in ``migrations/versions``; a test compares the two. Structured
values (requests, definitions of schedules) are stored as JSON of their pydantic models.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, MetaData
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Base of all tables; names constraints so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class QueuedRunRow(Base):
    """One requested run, from the request to its end.

    Attributes:
        number: order of requests.
        run: id of the run, assigned when it was requested.
        state: a `controller.service.state.queued_run.State`.
        priority: higher runs first.
        request: JSON of a `controller.specification.request.RunRequest`.
        origin: origin of the request.
        schedule: name of the schedule that fired it; empty for other origins.
        pending_request: pending request to the worker, a `controller.service.state.queued_run.PendingRequest`.
        starts: consecutive starts without another trial ending.
        not_before_s: earliest start, seconds since the epoch.
        requested_s: when it was requested.
        started_s: when the worker first claimed it.
        ended_s: when it ended.
        planned: number of its trials; 0 while unknown.
        passed: trials that ended with PASS.
        failed: trials that ended with FAIL.
        inconclusive: trials that ended with INCONCLUSIVE.
        brief: brief of the error that it ended with, or is retried after.
        details: details of that error.
        resolution: resolution of that error.
        key: idempotency key; unique.
        change: increases with every change of any row; readers ask for newer values.
    """

    __tablename__ = "queue"
    __table_args__ = (
        Index("ix_queue_next", "state", "priority", "number"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[str] = mapped_column(unique=True)
    state: Mapped[str]
    priority: Mapped[int]
    request: Mapped[str]
    origin: Mapped[str]
    schedule: Mapped[str] = mapped_column(default="", index=True)
    pending_request: Mapped[str] = mapped_column("wish", default="")
    starts: Mapped[int] = mapped_column(default=0)
    not_before_s: Mapped[float] = mapped_column(default=0.0)
    requested_s: Mapped[float]
    started_s: Mapped[float | None]
    ended_s: Mapped[float | None]
    planned: Mapped[int] = mapped_column(default=0)
    passed: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    inconclusive: Mapped[int] = mapped_column(default=0)
    brief: Mapped[str] = mapped_column(default="")
    details: Mapped[str] = mapped_column(default="")
    resolution: Mapped[str] = mapped_column(default="")
    key: Mapped[str | None] = mapped_column(unique=True)
    change: Mapped[int] = mapped_column(default=0, index=True)


class ScheduleRow(Base):
    """One schedule.

    Attributes:
        name: its name.
        definition: JSON of a `controller.service.schedules.definition.Schedule`.
        origin: ``manual``, or ``declared`` by the appliance's declaration.
        is_paused: whether it is paused.
        created_s: when it was added; intervals are counted from here.
        next_s: its next slot; None if there is none.
    """

    __tablename__ = "schedules"

    name: Mapped[str] = mapped_column(primary_key=True)
    definition: Mapped[str]
    origin: Mapped[str]
    is_paused: Mapped[bool] = mapped_column(default=False)
    created_s: Mapped[float]
    next_s: Mapped[float | None] = mapped_column(index=True)


class SlotRow(Base):
    """Outcome of one slot of a schedule; kept when the schedule is removed.

    Attributes:
        schedule: name of the schedule.
        slot_s: time of the slot, seconds since the epoch.
        outcome: a `controller.service.schedules.register.Outcome`.
        run: id of the run that it fired; empty if none.
        recorded_s: when the outcome was decided.
        details: readable reason.
    """

    __tablename__ = "slots"

    schedule: Mapped[str] = mapped_column(primary_key=True)
    slot_s: Mapped[float] = mapped_column(primary_key=True)
    outcome: Mapped[str]
    run: Mapped[str] = mapped_column(default="", index=True)
    recorded_s: Mapped[float]
    details: Mapped[str] = mapped_column(default="")


class NotificationRow(Base):
    """One message to one receiver.

    Attributes:
        number: order of messages.
        run: id of the run that the message is about.
        event: a `controller.service.schedules.definition.Event`.
        target: JSON of a `controller.service.schedules.definition.Target`.
        body: JSON of the message.
        state: ``pending``, ``sent`` or ``given_up``.
        attempts: number of delivery attempts.
        next_s: time of the next attempt, seconds since the epoch.
        error: error of the last attempt; empty if it succeeded.
        created_s: when the message was written.
    """

    __tablename__ = "notifications"
    __table_args__ = (
        Index("ix_notifications_due", "state", "next_s"),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[str] = mapped_column(ForeignKey("queue.run"), index=True)
    event: Mapped[str]
    target: Mapped[str]
    body: Mapped[str]
    state: Mapped[str]
    attempts: Mapped[int] = mapped_column(default=0)
    next_s: Mapped[float]
    error: Mapped[str] = mapped_column(default="")
    created_s: Mapped[float]


class TokenRow(Base):
    """A token of the API; only its digest is stored.

    Attributes:
        name: name that its owner chose.
        digest: SHA-256 of the token, 64 hex digits.
        role: ``read`` or ``operate``.
        created_s: when it was created.
    """

    __tablename__ = "tokens"

    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    created_s: Mapped[float]
