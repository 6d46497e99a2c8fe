"""Crontabs as cron reads them.

Source: crontab(5) of Debian's cron.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTING = re.compile(r"(\"[^\"]*\"|'[^']*'|[^\s=\"']+)[ \t]*=[ \t]*(.*)")
_BLANKS = re.compile(r"[ \t]+")
_PART = re.compile(r"(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]{1,4}))?")
_FIELDS = 5
_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_ALL_DAYS, _ALL_WEEKDAYS = frozenset(range(1, 32)), frozenset(range(7))
_NAMES: tuple[dict[str, int], ...] = (
    {},
    {},
    {},
    {name: number for number, name in enumerate(_MONTHS, 1)},
    {name: number for number, name in enumerate(_DAYS)},
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_SHELL = re.compile(r"(?:/usr)?/bin/(?:ba|da|z|k|fi)?sh")


class Job(NamedTuple):
    """One line of a crontab that is run.

    Attributes:
        schedule: when, as `read_schedule` returns it; None: never.
        command: the rest of the line.
        path: where programs are looked for, as lines before it say; empty where they do not.
    """

    schedule: object
    command: str
    path: str = ""

    @property
    def program(self) -> str:
        """The first word of the command, behind settings of variables; empty without one."""
        return next((word for word in self.command.split() if not _ASSIGNED.match(word)), "")


def read_schedule(text: str) -> object:
    """Return what a schedule means: equal for those that mean the same; None when it means nothing.

    Args:
        text: five fields, or a word such as ``@daily``.
    """
    text = _WORDS.get(text, text)
    if text == "@reboot":
        return text
    fields = _BLANKS.split(text.lower())
    if len(fields) != _FIELDS:
        return None
    try:
        values = [_values(number, field) for number, field in enumerate(fields)]
    except ValueError:
        return None
    # Of the two kinds of days either is enough, unless one of them begins with an asterisk.
    is_either = not fields[2].startswith("*") and not fields[4].startswith("*")
    if is_either and (values[2] == _ALL_DAYS or values[4] == _ALL_WEEKDAYS):
        values[2], values[4], is_either = _ALL_DAYS, _ALL_WEEKDAYS, False
    return (*values, is_either)


def jobs_in(text: str) -> Iterator[Job]:
    """Yield the jobs of a crontab that a shell runs.

    A last line without a newline is none; a comment is a job without a schedule.
    """
    is_run, path = True, ""
    for line in (each.strip(" \t") for each in text.split("\n")[:-1]):
        setting = _SETTING.fullmatch(line)
        if setting is not None:
            name, value = setting[1].strip("\"'"), setting[2].strip(" \t\"'")
            is_run = _SHELL.fullmatch(value) is not None if name == "SHELL" else is_run
            path = value or ":" if name == "PATH" else path
        elif is_run:
            width = 1 if line.startswith("@") else _FIELDS
            *fields, command = [*_BLANKS.split(line, width), ""][: width + 1]
            yield Job(read_schedule(" ".join(fields)), command, path)


def _values(number: int, field: str) -> frozenset[int]:
    """Return the values that a field stands for.

    Raises:
        ValueError: it stands for none.
    """
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no part of a schedule")
        found.update(_range(number, match))
    if number == len(_LIMITS) - 1:
        return frozenset(each % 7 for each in found)
    return frozenset(found)


def _range(number: int, match: re.Match[str]) -> range:
    least, most = _LIMITS[number]
    star, first, last, step = match.groups()
    if star:
        return range(least, most + 1, int(step or 1))
    if step and not last:
        raise ValueError("only a range has a step")
    begin = _value(number, first)
    end = _value(number, last) if last else begin
    if not least <= begin <= end <= most:
        raise ValueError("a value is out of bounds")
    return range(begin, end + 1, int(step or 1))


def _value(number: int, text: str) -> int:
    known = _NAMES[number].get(text)
    return int(text) if known is None else known
