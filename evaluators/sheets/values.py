"""Values of cells, as they are displayed: a number counts if the drawn text does not contradict it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluators.rendering.views.common import Shown
    from evaluators.rendering.views.sheets import Cell, CellFormat

Value = str | bool | float
"""Value of a cell; integers are floats."""
_DAY_S = 86_400
_MOMENT = re.compile(
    r"(?:(?P<day>\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:PT(?P<h>\d+)H(?P<m>\d+)M(?P<s>\d+)(?:\.0+)?S"
    r"|(?P<hour>\d{1,4}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.0+)?)?)?",
    re.ASCII,
)
"""A date, a time of day or duration, or a date with a time."""
_PARTS = (("hour", "h"), ("minute", "m"), ("second", "s"))
_NUMBER = re.compile(r"(?<![A-Za-z])\d[\d.,'\u2019]*(?:[eE][+-]?\d+)?")
_FRACTION = re.compile(r"(?:(\d+)\s+)?(\d+)\s*/\s*(\d+)\s*")
_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_WORD = re.compile(r"\d|[^\W\d_]{3}")
_SIGNS = ("-", "\u2212", "(")


def is_same_value(seen: object, wanted: object, tolerance: float | None = None) -> bool:
    """Return whether values are equal; numbers to one part in a billion unless a tolerance is given."""
    if isinstance(seen, float) and isinstance(wanted, float | int) and not isinstance(wanted, bool):
        return abs(seen - wanted) <= (abs(wanted) * 1e-9 if tolerance is None else tolerance)
    return isinstance(seen, str) and isinstance(wanted, str) and seen.strip() == wanted.strip()


@dataclass(frozen=True, slots=True)
class SeenCell:
    """A filled cell, and what is seen of it.

    Attributes:
        cell: the cell.
        look: its format.
        shown: whether it is seen, and what is drawn in its place.
        null_date: date of the number 0.
    """

    cell: Cell
    look: CellFormat
    shown: Shown
    null_date: str

    def has(self, wanted: Value, tolerance: float | None = None) -> bool:
        """Return whether the cell has a value, and shows it.

        Args:
            wanted: the value; dates and times as texts.
            tolerance: maximum difference of numbers; by default a billionth of `wanted`.
        """
        value, drawn = self.cell.value, self.shown.drawn.strip()
        if wanted == "":
            return value == "" and self.cell.text == ""
        if not self.shown.is_shown or value is None:
            return False
        if isinstance(wanted, bool):
            return value == float(wanted) and drawn.upper() == str(wanted).upper()
        if isinstance(value, str):
            return is_same_value(value, wanted) and is_same_value(self.cell.text, wanted)
        if isinstance(wanted, str):
            moment = moment_number(wanted, self.null_date)
            is_same = moment is not None and abs(value - moment) * _DAY_S < 1
            return is_same and shows_moment(drawn, self.look.number_format, value, self.null_date)
        is_number = self.cell.type == "number" and is_same_value(value, wanted, tolerance)
        return is_number and shows_number(drawn, self.look.number_format, value)

    @property
    def text(self) -> str | None:
        """The value as text: whole numbers without a point, dates and times in ISO notation.

        None if the cell does not show its value.
        """
        value, drawn = self.cell.value, self.shown.drawn.strip()
        if not self.shown.is_shown or value is None:
            return None
        if isinstance(value, str):
            return value if is_same_value(self.cell.text, value) else None
        if self.cell.type == "boolean":
            return str(bool(value)) if drawn.upper() == str(bool(value)).upper() else None
        if shows_number(drawn, self.look.number_format, value):
            return str(int(value) if value.is_integer() else value)
        is_moment = shows_moment(drawn, self.look.number_format, value, self.null_date)
        return _iso(value, self.null_date) if is_moment else None


def shows_number(drawn: str, number_format: str, value: float) -> bool:
    """Return whether a drawn text is a number in any usual format, rounded as it is drawn.

    No number is typed into the format. Currencies, units, percent, exponents, fractions and separators of groups are understood.
    """
    if _NUMBER.search(_literals(number_format)):
        return False
    fraction = _FRACTION.fullmatch(drawn.lstrip("-\u2212"))
    if fraction and int(fraction[3]):
        found = int(fraction[1] or 0) + int(fraction[2]) / int(fraction[3])
        return abs(found - abs(value)) <= 1 / int(fraction[3]) and _sign(drawn) * value >= 0
    plain = "".join(drawn.split())
    tokens = _NUMBER.findall(plain)
    if len(tokens) != 1:
        return False
    before = plain[: plain.index(tokens[0])]
    scale = 0.01 if "%" in plain else 1.0
    return any(
        _is_rounded(_sign(before) * number * scale, value, step * scale)
        for number, step in _readings(tokens[0])
    )


def _sign(text: str) -> int:
    return -1 if any(sign in text for sign in _SIGNS) else 1


def _is_rounded(found: float, value: float, step: float) -> bool:
    return abs(found - value) <= step * 0.5 + abs(value) * 1e-9


def _readings(token: str) -> list[tuple[float, float]]:
    """Return the numbers that a token may be, with the size of a step of its last digit."""
    mantissa, _, exponent = token.lower().partition("e")
    power = 10.0 ** min(int(exponent or 0), 300)
    found = []
    for mark in ".,":
        digits = mantissa.translate(str.maketrans("", "", ".,'\u2019".replace(mark, "")))
        digits = digits.rstrip(mark)
        if digits.count(mark) <= 1:
            decimals = len(digits.partition(mark)[2])
            found.append((float(digits.replace(mark, ".")) * power, 10.0**-decimals * power))
    return found


def moment_number(text: str, null_date: str) -> float | None:
    """Return the number of a date, time, or date with time; None if the text is none."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None or not text.strip():
        return None
    try:
        days = _days(match["day"], null_date) if match["day"] else 0
    except ValueError:
        return None
    hours, minutes, seconds = (int(match[long] or match[short] or 0) for long, short in _PARTS)
    return days + (hours * 3600 + minutes * 60 + seconds) / _DAY_S


def _days(day: str, null_date: str) -> int:
    return (dt.date.fromisoformat(day) - dt.date.fromisoformat(null_date)).days


def shows_moment(drawn: str, number_format: str, value: float, null_date: str) -> bool:
    """Return whether a drawn text consists of parts of a date or time, not typed into the format."""
    groups = {int(group) for group in re.findall(r"[0-9]{1,9}", drawn)}
    parts = _parts(value, null_date)
    return bool(groups) and groups <= parts and not _WORD.search(_literals(number_format))


def _literals(number_format: str) -> str:
    """Return the texts that are typed into a number format."""
    return "".join(quoted or escaped for quoted, escaped in _LITERAL.findall(number_format))


def _parts(value: float, null_date: str) -> set[int]:
    """Return all numbers that formats of dates and times may show."""
    moment = _moment(value, null_date)
    seconds = round(value * _DAY_S)
    if moment is None:
        return set()
    hours = {moment.hour, moment.hour % 12 or 12, seconds // 3600}
    day = {moment.year, moment.year % 100, moment.month, moment.day}
    return {*day, *hours, moment.minute, moment.second, seconds, seconds // 60}


def _moment(value: float, null_date: str) -> dt.datetime | None:
    start = dt.datetime.fromisoformat(null_date)
    try:
        return start + dt.timedelta(seconds=round(value * _DAY_S))
    except OverflowError:
        return None


def _iso(value: float, null_date: str) -> str | None:
    moment = _moment(value, null_date)
    if moment is None:
        return None
    if value < 1:
        return moment.strftime("%H:%M:%S")
    return moment.date().isoformat() if value.is_integer() else moment.isoformat()
