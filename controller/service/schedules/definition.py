"""What a schedule is: when it fires, what it runs, what it is compared with, whom it tells."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from appliance.base.errors import UsageError
from controller.service.requests import RunRequest, describe_errors

PREVIOUS = "previous"
"""The baseline of a schedule that compares with its own last finished run."""

_MAX_INTERVAL_S = 366 * 86400
_DAY_S = 86400.0
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cron(_Record):
    """Fires when a cron line says.

    Attributes:
        line: minute, hour, day of month, month, day of week, as crontab(5) has them.
        timezone: IANA name of the zone that the line is read in.
    """

    kind: Literal["cron"] = "cron"
    line: str = Field(min_length=9, max_length=500)
    timezone: str = Field(default="UTC", min_length=1, max_length=100)


class Interval(_Record):
    """Fires again and again, counted from when the schedule was added.

    Attributes:
        every_s: from one slot to the next, whole seconds.
    """

    kind: Literal["interval"] = "interval"
    every_s: int = Field(ge=1, le=_MAX_INTERVAL_S)


Trigger = Annotated[Cron | Interval, Field(discriminator="kind")]
"""When a schedule fires, told apart by ``kind``."""


class Missed(StrEnum):
    """What happens to slots that went by while nothing could fire them."""

    ONCE = "once"
    """The last of them is made up for; the others are recorded as missed."""
    SKIP = "skip"
    """All of them are recorded as missed."""


class Event(StrEnum):
    """What somebody is told about a run of a schedule."""

    END = "end"
    """It is over, however it ended."""
    FAILURE = "failure"
    """It could not be run, or trials ended inconclusive."""
    REGRESS = "regress"
    """Its success rate is below that of the baseline."""


class _Target(_Record):
    on: tuple[Event, ...] = Field(default=(Event.FAILURE, Event.REGRESS), min_length=1)


class Webhook(_Target):
    """An address that gets a POST with JSON.

    Attributes:
        url: http or https, without credentials; they would be shown with the schedule.
        on: events that are told.
    """

    kind: Literal["webhook"] = "webhook"
    url: str = Field(min_length=1, max_length=2000)

    @field_validator("url")
    @classmethod
    def _require_http(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must be an address of http or https")
        if "@" in parts.netloc:
            raise ValueError("must hold no credentials")
        return value


class Mail(_Target):
    """A mail box; the server that takes mail is set by MESOCOSM_MAIL_*.

    Attributes:
        to: its address.
        on: events that are told.
    """

    kind: Literal["mail"] = "mail"
    to: str = Field(max_length=320, pattern=r"^[^@\s<>,;]+@[^@\s<>,;]+$")


Target = Annotated[Webhook | Mail, Field(discriminator="kind")]
"""Who is told, told apart by ``kind``."""


class Schedule(_Record):
    """Runs at set times; a slot finds the last run still going on is not fired.

    Attributes:
        name: its name.
        trigger: when it fires.
        request: what it runs.
        priority: of its runs in the queue.
        missed: what happens to slots that went by.
        grace_s: a slot that is fired within this time counts as in time.
        baseline: id of a run to compare with, or ``previous``; empty for none.
        tolerance: by how much the success rate may be below the baseline's, 0 to 1.
        notify: who is told of what.
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
    """Return a schedule from what a user gave.

    Raises:
        UsageError: a value is wrong; names each.
    """
    try:
        return Schedule.model_validate(values)
    except ValidationError as exc:
        raise UsageError("This is no schedule.", details=describe_errors(exc)) from exc


def parse_every(text: str) -> int:
    """Return the seconds from slot to slot of a text such as 90s, 30m, 6h or 1d.

    Raises:
        UsageError: it is no time.
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([smhd])", text, re.ASCII)
    if match is None:
        raise UsageError(f"{text!r} is no time.", resolution="Write 90s, 30m, 6h or 1d.")
    return round(float(match[1]) * _UNITS_S[match[2]])
