"""Parser of crontabs that follows cron.

Source: crontab(5) of Debian's cron; undocumented behaviour was tested with version 3.0pl1-162.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTING = re.compile(r"""("[^"]*"|'[^']*'|[^\s="']*)[ \t]*=[ \t]*("[^"]*"|'[^']*'|[^\s"'].*)""")
_BLANKS = re.compile(r"[ \t]+")
_PART = re.compile(r"(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]{1,9}))?(?![/0-9a-z])")
_SINGLE = 2
"""Last group of `_PART` that matched for a single value."""
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
_ASTRAY = ("BASH_ENV", "BASH_FUNC_", "BASHOPTS", "LD_", "SHELLOPTS", "ZDOTDIR")
"""Prefixes of variables that let a shell run other code than the command, or none."""
_SHELL = re.compile(r"(?:/usr)?/bin/(?:ba|da|z|k|fi)?sh")


class Job(NamedTuple):
    """Job in a crontab.

    Attributes:
        schedule: schedule, as returned by `read_schedule`; None if cron cannot read it.
        command: the rest of the line.
        path: search path for programs, as set by earlier lines; empty if not set.
    """

    schedule: object
    command: str
    path: str = ""

    @property
    def program(self) -> str:
        """First word of the command after variable assignments; empty if there is none."""
        return next((word for word in self.command.split() if not _ASSIGNED.match(word)), "")


def read_schedule(text: str) -> object:
    """Return the normalised schedule, which is equal for equivalent schedules.

    Returns:
        None if it cannot be read, and an empty value if it never occurs, such as ``5-1``.

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
    if not all(values):
        return ()
    # Either kind of day is enough, unless one of them begins with an asterisk.
    is_either = not fields[2].startswith("*") and not fields[4].startswith("*")
    if is_either and (values[2] == _ALL_DAYS or values[4] == _ALL_WEEKDAYS):
        values[2], values[4], is_either = _ALL_DAYS, _ALL_WEEKDAYS, False
    return (*values, is_either)


def jobs_in(text: str) -> list[Job]:
    """Return the jobs in a crontab that a shell runs.

    Cron ignores a crontab with a line that it cannot read, such as a last line without a newline.
    """
    *lines, last = (part.strip(" \t") for part in text.split("\n"))
    jobs = list(_jobs([line for line in lines if _is_read(line)]))
    return [] if _is_read(last) or any(job.schedule is None for job in jobs) else jobs


def _is_read(line: str) -> bool:
    return line != "" and not line.startswith("#")


def _jobs(lines: list[str]) -> Iterator[Job]:
    """Iterate over the jobs in the lines of a crontab; jobs that cron cannot read have no schedule."""
    is_run, is_astray, path = True, False, ""
    for line in lines:
        setting = _SETTING.fullmatch(line)
        if setting is not None:
            name, value = setting[1].strip("\"'"), setting[2].strip(" \t\"'")
            is_run = _SHELL.fullmatch(value) is not None if name == "SHELL" else is_run
            is_astray = is_astray or name.startswith(_ASTRAY)
            path = value or ":" if name == "PATH" else path
            continue
        width = 1 if line.startswith("@") else _FIELDS
        *fields, command = [*_BLANKS.split(line, width), ""][: width + 1]
        schedule = read_schedule(" ".join(fields))
        if schedule is None or (is_run and not is_astray):
            yield Job(schedule, command, path)


def _values(number: int, field: str) -> frozenset[int]:
    """Return the values of a field; cron ignores text after its last range.

    Raises:
        ValueError: the field is invalid.
    """
    values, at = set[int](), 0
    while at <= len(field):
        match = _PART.match(field, at)
        if match is None or (match.lastindex == _SINGLE and field[match.end() :].startswith("-")):
            raise ValueError(f"{field!r} is not a valid part of a schedule")
        values.update(_range(number, match))
        at = match.end() + 1 if field[match.end() :].startswith(",") else len(field) + 1
    if number == len(_LIMITS) - 1:
        return frozenset(day % 7 for day in values)
    return frozenset(values)


def _range(number: int, match: re.Match[str]) -> range:
    least, most = _LIMITS[number]
    star, first, last, step = match.groups()
    if star:
        return range(least, most + 1, int(step or 1))
    if step and not last:
        raise ValueError("only a range has a step")
    begin = _value(number, first)
    end = _value(number, last) if last else begin
    if not (least <= begin <= most and least <= end <= most):
        raise ValueError("a value is out of bounds")
    return range(begin, end + 1, int(step or 1))


def _value(number: int, text: str) -> int:
    known = _NAMES[number].get(text)
    return int(text) if known is None else known
