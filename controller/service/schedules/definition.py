"""Definition of a schedule: trigger, run request, baseline and notification targets."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from controller.specification.request import RunRequest, describe_errors
from foundation.errors import UsageError

PREVIOUS = "previous"
"""The baseline of a schedule that compares with its own last finished run."""

_MAX_INTERVAL_S = 366 * 86400
_DAY_S = 86400.0
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cron(_Record):
    """A trigger that fires at the times of a cron line.

    Attributes:
        line: minute, hour, day of month, month, day of week, as in crontab(5).
        timezone: IANA name of the line's time zone.
    """

    kind: Literal["cron"] = "cron"
    line: str = Field(min_length=9, max_length=500)
    timezone: str = Field(default="UTC", min_length=1, max_length=100)


class Interval(_Record):
    """A trigger that fires at a fixed interval, counted from when the schedule was added.

    Attributes:
        every_s: whole seconds between slots.
    """

    kind: Literal["interval"] = "interval"
    every_s: int = Field(ge=1, le=_MAX_INTERVAL_S)


Trigger = Annotated[Cron | Interval, Field(discriminator="kind")]
"""When a schedule fires, discriminated by ``kind``."""


class Missed(StrEnum):
    """What happens to slots that passed while nothing could fire them."""

    ONCE = "once"
    """The last one is fired late; the others are recorded as missed."""
    SKIP = "skip"
    """All of them are recorded as missed."""


class Event(StrEnum):
    """Event of a schedule's run that triggers a notification."""

    END = "end"
    """The run ended, with any result."""
    FAILURE = "failure"
    """The run failed or spent its budget, or trials ended inconclusive."""
    REGRESS = "regress"
    """The run's success rate is below the baseline's."""


class _Target(_Record):
    on: tuple[Event, ...] = Field(default=(Event.FAILURE, Event.REGRESS), min_length=1)


class Webhook(_Target):
    """A URL that receives a POST with JSON.

    Attributes:
        url: http or https, without credentials, because it is shown with the schedule.
        on: events to notify about.
    """

    kind: Literal["webhook"] = "webhook"
    url: str = Field(min_length=1, max_length=2000)

    @field_validator("url")
    @classmethod
    def _require_http(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must be an http or https URL")
        if "@" in parts.netloc:
            raise ValueError("must not contain credentials")
        return value


class Mail(_Target):
    """A mailbox; MESOCOSM_MAIL_* sets the mail server.

    Attributes:
        to: its address.
        on: events to notify about.
    """

    kind: Literal["mail"] = "mail"
    to: str = Field(max_length=320, pattern=r"^[^@\s<>,;]+@[^@\s<>,;]+$")


Target = Annotated[Webhook | Mail, Field(discriminator="kind")]
"""Who is notified, discriminated by ``kind``."""


class Schedule(_Record):
    """Runs at set times; a slot does not fire while the schedule's last run is not over.

    Attributes:
        name: unique name.
        trigger: when it fires.
        request: what it runs.
        priority: priority of its runs in the queue.
        missed: what happens to missed slots.
        grace_s: a slot that fires within this time counts as on time.
        baseline: id of a run to compare with, or ``previous``; empty for none.
        tolerance: how far the success rate may fall below the baseline's, 0 to 1.
        notify: who is notified of which events.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")
    trigger: Trigger
    request: RunRequest
    priority: int = Field(default=0, ge=-1000, le=1000)
    missed: Missed = Missed.ONCE
    grace_s: float = Field(default=60.0, ge=1, le=_DAY_S)
    baseline: str = Field(default="", max_length=200)
    tolerance: float = Field(default=0.0, ge=0, le=1)
    notify: tuple[Target, ...] = Field(default=(), max_length=20)


def parse_schedule(values: object) -> Schedule:
    """Parse a schedule from the values a user gave.

    Raises:
        UsageError: a value is invalid; lists every invalid value.
    """
    try:
        return Schedule.model_validate(values)
    except ValidationError as exc:
        raise UsageError("The schedule is invalid.", details=describe_errors(exc)) from exc


def parse_every(text: str) -> int:
    """Parse an interval such as 90s, 30m, 6h or 1d; return it in seconds.

    Raises:
        UsageError: the text is not an interval.
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([smhd])", text, re.ASCII)
    if match is None:
        raise UsageError(
            f"{text!r} is not an interval.",
            resolution="Use a number and a unit, such as 90s, 30m, 6h or 1d.",
        )
    return round(float(match[1]) * _UNITS_S[match[2]])
