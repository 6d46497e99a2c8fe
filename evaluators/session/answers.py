"""The submitted answer."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from typing import Annotated, Protocol

from pydantic import Field

from appliance.base.errors import EvaluationError
from evaluators.decorators import evaluator

_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?")
_MAX_MATCHED_CHARS = 10_000
_SEPARATOR = re.compile(r"\s*[,;\n]\s*")
_LAST = re.compile(r"(?:and|&)\s+(.+)", re.IGNORECASE)
_PAIR = re.compile(r"(.+?)\s+(?:and|&)\s+(.+)", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|[0-9]{1,3}[.)])\s+")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, 1)}
_MONTH = "(" + "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTH_NAMES) + "|sept\\.?)"
_DAY = r"([0-9]{1,2})(?:st|nd|rd|th)?\.?"
_DATES = (
    (re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"), "ymd"),
    (re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})"), "dmy"),
    (re.compile(rf"(?:the )?{_DAY}(?: of)? {_MONTH},? ([0-9]{{4}})"), "dmy"),
    (re.compile(rf"{_MONTH} {_DAY},? ([0-9]{{4}})"), "mdy"),
)
_OPENING = "\"'\u201c\u2018"
_CLOSING = "\"'\u201d\u2019"
IsoDate = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class SessionView(Protocol):
    """The view of a session that evaluators of answers get."""

    @property
    def answer(self) -> str | None:
        """The last answer submitted; None when there is none."""
        ...


@evaluator(on="session")
def answer_equals(session: SessionView, expected: str) -> bool:
    """Return whether the submitted answer is the expected one; no answer is unmet.

    Both are normalised: Unicode NFKC, letter case folded, runs of white space reduced to one blank, one
    pair of quotes around the whole and full stops at the end removed. The rest must be equal; containing
    the expected answer is not enough.

    Args:
        session: the session.
        expected: the correct answer.

    Example:
        ``{on: session, check: answer_equals, with: {expected: Bern}}``
    """
    return session.answer is not None and _normal(session.answer) == _normal(expected)


@evaluator(on="session")
def answer_is_number(session: SessionView, expected: float, tolerance: float = 0.0) -> bool:
    """Return whether the submitted answer is a number within a tolerance of the expected one.

    The answer must be a plain decimal number: digits, optionally a sign and a decimal point, surrounded
    by white space only.

    Args:
        session: the session.
        expected: the correct number.
        tolerance: largest difference, included.

    Example:
        ``{on: session, check: answer_is_number, with: {expected: 41.5, tolerance: 0.1}}``
    """
    answer = (session.answer or "").strip()
    return bool(_DECIMAL.fullmatch(answer)) and abs(float(answer) - expected) <= tolerance


@evaluator(on="session")
def answer_exact(session: SessionView, expected: str) -> bool:
    """Return whether the submitted answer is exactly the expected one, ignoring white space around it.

    Args:
        session: the session.
        expected: the correct answer; letter case and punctuation are significant.

    Example:
        ``{on: session, check: answer_exact, with: {expected: "x = {y: 1}"}}``
    """
    return session.answer is not None and session.answer.strip() == expected.strip()


@evaluator(on="session")
def answer_one_of(session: SessionView, accepted: list[str]) -> bool:
    """Return whether the submitted answer is one of several correct ones.

    Compared as by ``answer_equals``; containing a correct answer is not enough.

    Args:
        session: the session.
        accepted: all correct answers.

    Example:
        ``{on: session, check: answer_one_of, with: {accepted: [Bern, Berne]}}``
    """
    answer = session.answer
    return answer is not None and _normal(answer) in {_normal(each) for each in accepted}


@evaluator(on="session")
def answer_is_set(session: SessionView, expected: list[str]) -> bool:
    """Return whether the submitted answer lists exactly these items, in any order.

    Items are separated by commas, semicolons, or line breaks, or by ``and`` before the last one;
    a bullet or number before an item is ignored. Each is compared as by ``answer_equals``. A
    missing, additional or repeated item is unmet.

    Args:
        session: the session.
        expected: the items; none may contain a separator.

    Example:
        ``{on: session, check: answer_is_set, with: {expected: [milk, eggs]}}``
    """
    items = _items(session.answer)
    return bool(items) and sorted(items) == sorted(_normal(each) for each in expected)


@evaluator(on="session")
def answer_is_list(session: SessionView, expected: list[str]) -> bool:
    """Return whether the submitted answer lists exactly these items, in this order.

    Separators and comparison are those of ``answer_is_set``.

    Args:
        session: the session.
        expected: the items in order; none may contain a separator.

    Example:
        ``{on: session, check: answer_is_list, with: {expected: [first, second]}}``
    """
    items = _items(session.answer)
    return bool(items) and items == [_normal(each) for each in expected]


@evaluator(on="session")
def answer_is_date(session: SessionView, expected: IsoDate, *, day_first: bool = True) -> bool:
    """Return whether the submitted answer is a date, in one of the usual ways to write it.

    ``2026-11-21``, ``21 November 2026``, ``Nov 21, 2026``, ``21.11.2026`` and ``21/11/2026``, a
    weekday before it if it is the right one. Two-digit years are not taken.

    Args:
        session: the session.
        expected: the date as ``YYYY-MM-DD``.
        day_first: whether ``05/06/2026`` is the 5th of June.

    Example:
        ``{on: session, check: answer_is_date, with: {expected: "2026-11-21"}}``
    """
    answer = _normal(session.answer or "")
    wanted = dt.date.fromisoformat(expected)
    weekday, _, rest = answer.partition(", ")
    if weekday in _WEEKDAYS:
        if weekday != _WEEKDAYS[wanted.weekday()]:
            return False
        answer = rest
    return _date(answer, day_first=day_first) == wanted


@evaluator(on="session")
def answer_matches(session: SessionView, pattern: str) -> bool:
    """Return whether a regular expression matches the submitted answer, ignoring white space at its ends.

    Args:
        session: the session.
        pattern: a Python regular expression for the whole answer; case-sensitive.

    Example:
        ``{on: session, check: answer_matches, with: {pattern: "[A-Z]{2}[0-9]{4}"}}``

    Raises:
        EvaluationError: the pattern is invalid.
    """
    try:
        wanted = re.compile(pattern)
    except re.error as exc:
        raise EvaluationError(f"The pattern is invalid: {exc}.") from exc
    answer = (session.answer or "")[:_MAX_MATCHED_CHARS].strip()
    return bool(answer) and wanted.fullmatch(answer) is not None


def _items(answer: str | None) -> list[str]:
    parts = _SEPARATOR.split((answer or "").strip())
    if len(parts) > 1 and (last := _LAST.fullmatch(parts[-1])):
        parts[-1] = last[1]
    elif pair := _PAIR.fullmatch(parts[-1]):
        parts[-1:] = [pair[1], pair[2]]
    return [item for part in parts for item in (_normal(_BULLET.sub("", part)),) if item]


def _date(text: str, *, day_first: bool) -> dt.date | None:
    for pattern, order in _DATES:
        if found := pattern.fullmatch(text):
            values = dict(zip(order, found.groups(), strict=True))
            if order == "dmy" and "/" in text and not day_first:
                values["d"], values["m"] = values["m"], values["d"]
            month = _MONTHS.get(values["m"][:3]) or values["m"]
            try:
                return dt.date(int(values["y"]), int(month), int(values["d"]))
            except ValueError:
                return None
    return None


def _normal(text: str) -> str:
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    plain = plain.rstrip(". ")
    if len(plain) > 1 and plain[0] in _OPENING and plain[-1] in _CLOSING:
        plain = plain[1:-1].strip(" ").rstrip(". ")
    return plain
