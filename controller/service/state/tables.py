"""The tables of the service's database, as SQLAlchemy maps them.

A change here needs a migration in ``migrations/versions``; a test compares the two. What has fields
of its own (requests, definitions of schedules) is kept as the JSON of its pydantic model.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, MetaData
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Base of all tables; constraints have names, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class QueuedRunRow(Base):
    """One run that was asked for, from the request to its end.

    Attributes:
        number: order of requests.
        run: id of the run, given when it was asked for.
        state: a `controller.service.state.queue.State`.
        priority: a higher one runs first.
        request: JSON of a `controller.service.requests.RunRequest`.
        origin: who asked.
        schedule: name of the schedule that asked; empty for others.
        wish: what the worker was asked to do with it: a `controller.service.state.queue.Wish`.
        starts: how often in succession it was started without one more trial ending.
        not_before_s: when it may be started, seconds since the epoch.
        requested_s: when it was asked for.
        started_s: when its first trial could begin.
        ended_s: when it was over.
        planned: number of its trials; 0 while that is not known.
        passed: trials that ended with PASS.
        failed: trials that ended with FAIL.
        inconclusive: trials that ended with INCONCLUSIVE.
        brief: of the error that it ended with, or is retried after.
        details: of that error.
        resolution: of that error.
        key: of a request that may be repeated; at most one run has it.
        change: grows with every change of any row; readers ask for what is newer.
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
    wish: Mapped[str] = mapped_column(default="")
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
        is_paused: it fires nothing.
        created_s: when it was added; intervals count from here.
        next_s: its next slot; None when there is none.
    """

    __tablename__ = "schedules"

    name: Mapped[str] = mapped_column(primary_key=True)
    definition: Mapped[str]
    origin: Mapped[str]
    is_paused: Mapped[bool] = mapped_column(default=False)
    created_s: Mapped[float]
    next_s: Mapped[float | None] = mapped_column(index=True)


class SlotRow(Base):
    """What became of one slot of a schedule; a slot has one record, and stays when the schedule goes.

    Attributes:
        schedule: its name.
        slot_s: when the slot was, seconds since the epoch.
        outcome: a `controller.service.schedules.register.Outcome`.
        run: id of the run that it fired; empty for others.
        recorded_s: when this was decided.
        details: why, for people.
    """

    __tablename__ = "slots"

    schedule: Mapped[str] = mapped_column(primary_key=True)
    slot_s: Mapped[float] = mapped_column(primary_key=True)
    outcome: Mapped[str]
    run: Mapped[str] = mapped_column(default="", index=True)
    recorded_s: Mapped[float]
    details: Mapped[str] = mapped_column(default="")


class NotificationRow(Base):
    """One message to one receiver; kept until it was delivered or given up.

    Attributes:
        number: order of messages.
        run: id of the run that it is about.
        event: a `controller.service.schedules.definition.Event`.
        target: JSON of a `controller.service.schedules.definition.Target`.
        body: JSON of the message.
        state: ``pending``, ``sent`` or ``given_up``.
        attempts: how often it was tried.
        next_s: when it is tried next, seconds since the epoch.
        error: what the last attempt ended with.
        created_s: when it was written.
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
    """A token of the API, as a digest alone.

    Attributes:
        name: what its owner calls it.
        digest: SHA-256 of the token, 64 hex digits.
        role: ``read`` or ``operate``.
        created_s: when it was made.
    """

    __tablename__ = "tokens"

    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    created_s: Mapped[float]
