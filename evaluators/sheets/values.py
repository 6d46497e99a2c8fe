"""Values of cells, as they are displayed: a number counts if the drawn text does not contradict it."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
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
_FRACTION = re.compile(r"[-\u2212]?(?:(\d+)\s+)?(\d+)\s*/\s*(\d+)", re.ASCII)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)')
_DIGIT = re.compile(r"\d")
_CODES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HRK|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KZT|"
    "MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|TRY|TWD|UAH|USD|VND|ZAR|"
    r"A\$|CA\$|US\$|NZ\$|HK\$|R\$|S/|Fr\.|Ft|K\u010d|kr\.?|lei|z\u0142|Rs\.?"
)
_SIGNS = "".join(mark for mark in map(chr, range(0x3000)) if unicodedata.category(mark) == "Sc")
_BESIDE = f"{_CODES}|[%{_SIGNS}]"
"""What may stand beside a number without changing it; percents are calculated."""
_SHOWN = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+\u2212])?\s*(?P<left>{_BESIDE})?\s*(?P<second>[-+\u2212])?\s*"
    rf"(?P<number>[0-9.,'\u2019\s]*[0-9][.,]?(?:E[+-]?[0-9]+)?)\s*(?P<right>{_BESIDE})?\s*(?P<last>-)?(?P<close>\))?\s*"
)
_WHOLE = {
    mark: re.compile(rf"[0-9]*|[1-9][0-9]{{0,2}}([{others}'\u2019\s])(?:[0-9]{{2,3}}\1)*[0-9]{{3}}")
    for mark, others in ((".", ","), (",", "."))
}
"""Digits before the decimal mark, in groups; first as the desktop's locale has them."""
_TIME = re.compile(
    r"(\d+)[:h](\d\d)(?::(\d\d)(?:[.,]0+)?)?(?!\d)(?:\s*([AaPp])\.?\s?[Mm]\.?)?", re.ASCII
)
_GLUE = re.compile(r"(?:[\s,./:'\u2019-]|de|of|T|Z|h|\u5e74|\u6708|\u65e5|\ub144|\uc6d4|\uc77c)*")
"""What may be typed into the format of a date."""
_WORD = re.compile(r"[^\W\d_]{3}")
_MAX_STEP = 0.01
"""Largest step of the last digit of a number with an exponent, as a part of the number."""
_FIRST_YEAR, _LAST_YEAR = 1930, 2029
"""Years that two digits mean."""
_NOON, _MONTHS, _PAIR, _TRIPLE, _YEAR_DIGITS = 12, 12, 2, 3, 4


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


def shows_order(seen: SeenCell) -> bool:
    """Return whether a cell shows its value, apart from words in its number format, such as units."""
    value, number_format = seen.cell.value, seen.look.number_format
    if not isinstance(value, float) or seen.text is not None:
        return seen.text is not None
    if _DIGIT.search(_literals(number_format)) or not seen.shown.is_shown:
        return False
    drawn = seen.shown.drawn
    for texts in _LITERAL.findall(number_format):
        drawn = drawn.replace("".join(texts), "", 1)
    return shows_number(drawn.strip(), "", value)


def shows_number(drawn: str, number_format: str, value: float) -> bool:
    """Return whether a drawn text is a number in a usual format, rounded as it is drawn.

    It consists of digits, separators and signs, and may have percent, a currency, an exponent or a fraction; anything
    else, such as a unit, may change the number. What is a number in the desktop's locale, such as 1.234 and 1,234, is
    read in it, whatever the locale of the format. No digit is typed into the format.
    """
    if _DIGIT.search(_literals(number_format)):
        return False
    fraction = _FRACTION.fullmatch(drawn)
    if fraction and int(fraction[3]):
        found = int(fraction[1] or 0) + int(fraction[2]) / int(fraction[3])
        sign = -1 if drawn[0] in "-\u2212" else 1
        return abs(found - abs(value)) <= 0.5 / int(fraction[3]) and sign * value >= 0
    shown = _SHOWN.fullmatch(drawn)
    if shown is None or bool(shown["open"]) != bool(shown["close"]):
        return False
    signs = [sign for sign in shown.group("open", "sign", "second", "last") if sign]
    sides = shown["left"], shown["right"]
    reading = _reading(shown["number"])
    if len(signs) > 1 or None not in sides or reading is None:
        return False
    sign = -1 if signs and signs[0] != "+" else 1
    scale = 0.01 if "%" in sides else 1.0
    number, step = reading
    if "e" in shown["number"].lower() and step > _MAX_STEP * abs(number):
        step = 0.0  # so few digits tell nothing but themselves
    return _is_rounded(sign * number * scale, value, step * scale)


def _is_rounded(found: float, value: float, step: float) -> bool:
    return abs(found - value) <= step * 0.5 + abs(value) * 1e-9


def _reading(token: str) -> tuple[float, float] | None:
    """Return the number that a token is, with the size of a step of its last digit; None if it is none.

    It is read as in the desktop's locale; as in others only if it is no number there.
    """
    mantissa, _, exponent = token.lower().partition("e")
    power = 10.0 ** min(int(exponent or 0), 300)
    for mark in ".,":
        whole, point, decimals = mantissa.rpartition(mark)
        if not point:
            whole, decimals = mantissa, ""
        if _WHOLE[mark].fullmatch(whole) and (not decimals or decimals.isdigit()):
            digits = re.sub(r"[^0-9]", "", whole) or "0"
            return float(f"{digits}.{decimals}") * power, 10.0 ** -len(decimals) * power
    return None


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
    """Return whether a drawn text is a date or time, in an order that a person reads as it is meant."""
    moment = _moment(value, null_date)
    is_plain = _GLUE.fullmatch(_literals(number_format)) is not None
    if moment is None or not is_plain:
        return False
    time = _TIME.search(drawn)
    day = f"{drawn[: time.start()]} {drawn[time.end() :]}" if time else drawn
    seconds, has_day = round(value * _DAY_S), bool(re.search("[0-9]", day))
    if time and not _shows_time(time, moment, seconds, is_duration=not has_day):
        return False
    if not time and seconds % _DAY_S:
        return False
    if any(mark.isnumeric() and not mark.isascii() for mark in drawn):
        return False
    groups = re.findall("[0-9]+", day)
    return _shows_day(day, groups, moment) if groups else time is not None


def _shows_time(
    time: re.Match[str], moment: dt.datetime, seconds: int, *, is_duration: bool
) -> bool:
    """Return whether hours, minutes and seconds are those of a moment, or of a duration in seconds."""
    first, second, third = int(time[1]), int(time[2]), int(time[3] or 0)
    hours = {seconds // 3600 if is_duration else moment.hour}
    if time[4]:
        is_half = time[4].lower() == ("a" if moment.hour < _NOON else "p")
        is_today = not is_duration or seconds < _DAY_S
        hours = {moment.hour % _NOON or _NOON} if is_half and is_today else set()
    is_clock = first in hours and (second, third) == (moment.minute, moment.second)
    return is_clock or (not time[3] and (first, second) == (seconds // 60, moment.second))


def _shows_day(text: str, groups: list[str], moment: dt.datetime) -> bool:
    """Return whether a text shows a day: by ISO, with the name of its month, or in the order of the locale."""
    numbers = [int(group) for group in groups]
    day, month = moment.day, moment.month
    years = [len(group) == _YEAR_DIGITS and int(group) == moment.year for group in groups]
    is_short = len(groups[-1]) == _PAIR and numbers[-1] == moment.year % 100
    is_year_last = years[-1] or (is_short and _FIRST_YEAR <= moment.year <= _LAST_YEAR)
    if _WORD.search(text) and len(groups) == _PAIR:
        rest = [number for number, is_year in zip(numbers, years, strict=True) if not is_year]
        return rest == [day] or (len(rest) == _PAIR and rest[0] == day and is_year_last)
    if years[0] and len(groups) > 1:
        return numbers[1:] == [month, day]
    if len(groups) != _TRIPLE or not is_year_last:
        return False
    usual = (day, month) if "." in re.split("[0-9]+", text)[1] else (month, day)
    pair = numbers[0], numbers[1]
    return pair == usual or (pair == usual[::-1] and day > _MONTHS)


def _literals(number_format: str) -> str:
    """Return the texts that are typed into a number format."""
    return "".join("".join(texts) for texts in _LITERAL.findall(number_format))


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
