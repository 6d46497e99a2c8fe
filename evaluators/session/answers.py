"""Evaluators of the submitted answer; an answer of over 4000 characters counts as none."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Annotated, Protocol

from pydantic import Field

from appliance.base.errors import EvaluationError
from evaluators.decorators import evaluator
from evaluators.session.parsing import is_one_of, lists_items, read_date, read_number

MAX_ANSWER_CHARS = 4000
"""Longest answer that is accepted; a longer one is refused when it is submitted."""
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

    Both are normalised: Unicode NFKC (but raised digits and fractions beside digits stay: 10² is not
    102), letter case folded, quotes and apostrophes straight, soft hyphens left out, runs of white space
    reduced to one blank, marks of no width at the ends, one pair of quotes around the whole and full
    stops at the end removed. A pair of ``**`` or backticks around the whole answer is ignored. The rest must be
    equal; containing the expected answer is not enough.

    Args:
        session: the session.
        expected: the correct answer.

    Example:
        ``{on: session, check: answer_equals, with: {expected: Bern}}``
    """
    answer = read_answer(session)
    return answer is not None and is_one_of(answer, [expected])


@evaluator(on="session")
def answer_is_number(
    session: SessionView, expected: float, tolerance: float = 0.0, *, thousands: bool = False
) -> bool:
    """Return whether the submitted answer is a number within a tolerance of the expected one.

    The answer must be a plain decimal number, white space and a pair of ``**`` or backticks around it
    ignored: ``12``, ``+12.50``, ``.5``, ``5.``, ``-5`` with a hyphen or with the minus sign U+2212; at
    most 30 digits before and after the point. No unit, no exponent.

    Args:
        session: the session.
        expected: the correct number.
        tolerance: largest difference, included.
        thousands: whether commas may separate groups of three digits, as in ``1,234.5``.

    Example:
        ``{on: session, check: answer_is_number, with: {expected: 41.5, tolerance: 0.1}}``
    """
    number = read_number(read_answer(session) or "", thousands=thousands)
    if number is None:
        return False
    return abs(number - Fraction(str(expected))) <= Fraction(str(tolerance))


@evaluator(on="session")
def answer_exact(session: SessionView, expected: str) -> bool:
    """Return whether the submitted answer is exactly the expected one, ignoring white space around it.

    Args:
        session: the session.
        expected: the correct answer; letter case and punctuation are significant.

    Example:
        ``{on: session, check: answer_exact, with: {expected: "x = {y: 1}"}}``
    """
    answer = read_answer(session)
    return answer is not None and answer.strip() == expected.strip()


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
    answer = read_answer(session)
    return answer is not None and is_one_of(answer, accepted)


@evaluator(on="session")
def answer_is_set(session: SessionView, expected: list[str]) -> bool:
    """Return whether the submitted answer lists exactly these items, in any order.

    Items are separated by commas, semicolons, or line breaks, or by ``and`` or ``&`` before the last
    one; items may hold these two words themselves ("salt and pepper"). A bullet, number or letter
    before an item (``-``, ``1.``, ``(1)``, ``a)``), and square brackets around the whole, are ignored. Each is compared as by ``answer_equals``. A
    missing, additional or repeated item is unmet.

    Args:
        session: the session.
        expected: the items; none may contain a comma, semicolon or line break.

    Example:
        ``{on: session, check: answer_is_set, with: {expected: [milk, eggs]}}``
    """
    return lists_items(read_answer(session) or "", expected, in_order=False)


@evaluator(on="session")
def answer_is_list(session: SessionView, expected: list[str]) -> bool:
    """Return whether the submitted answer lists exactly these items, in this order.

    Separators and comparison are those of ``answer_is_set``. Numbers before items must not contradict
    their order.

    Args:
        session: the session.
        expected: the items in order; none may contain a comma, semicolon or line break.

    Example:
        ``{on: session, check: answer_is_list, with: {expected: [first, second]}}``
    """
    return lists_items(read_answer(session) or "", expected, in_order=True)


@evaluator(on="session")
def answer_is_date(
    session: SessionView, expected: IsoDate, *, day_first: bool | None = None
) -> bool:
    """Return whether the submitted answer is a date, in one of the usual ways to write it.

    Year first: ``2026-11-21``, ``2026/11/21``, ``2026.11.21``, ``2026-Nov-21``. Month as an English
    name, whole or short: ``21 November 2026``, ``the 21st of Nov. 2026``, ``21-Nov-2026``,
    ``November 21, 2026``, ``November the 21st, 2026``. Year last: ``21.11.2026`` has the day first; ``21/11/2026`` and
    ``21-11-2026`` may have either first, so that ``03/04/2026`` is unmet unless the task states the
    order in `day_first`. An English weekday before or after the date must be the right one. Years have
    four digits. No time of day, no words around.

    Args:
        session: the session.
        expected: the date as ``YYYY-MM-DD``.
        day_first: whether ``05/06/2026`` is the 5th of June; null: the task does not state it.

    Example:
        ``{on: session, check: answer_is_date, with: {expected: "2026-11-21"}}``
    """
    date = read_date(read_answer(session) or "", day_first=day_first)
    return date == dt.date.fromisoformat(expected)


@evaluator(on="session")
def answer_matches(session: SessionView, pattern: str) -> bool:
    """Return whether a regular expression matches the submitted answer, ignoring white space at its ends.

    Args:
        session: the session.
        pattern: a Python regular expression for the whole answer; case-sensitive. One that goes back
            again and again, as ``(a+)+b`` does, finds nothing in an answer that keeps it busy for 2 s.

    Example:
        ``{on: session, check: answer_matches, with: {pattern: "[A-Z]{2}[0-9]{4}"}}``

    Raises:
        EvaluationError: the pattern is invalid.
    """
    try:
        wanted = re.compile(pattern)
    except re.error as exc:
        raise EvaluationError(f"The pattern is invalid: {exc}.") from exc
    answer = (read_answer(session) or "").strip()
    return bool(answer) and wanted.fullmatch(answer) is not None


def read_answer(session: SessionView) -> str | None:
    """Return the submitted answer; None when there is none, or a longer one than is accepted."""
    answer = session.answer
    return answer if answer is not None and len(answer) <= MAX_ANSWER_CHARS else None
