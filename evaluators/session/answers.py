"""Evaluators of the submitted answer; an answer of more than 4000 characters counts as no answer."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Annotated, Protocol

from pydantic import Field

from evaluators.decorators import evaluator
from evaluators.parsing import is_one_of, lists_items, read_date, read_number
from foundation.errors import EvaluationError

MAX_ANSWER_CHARS = 4000
"""Maximum length of an answer; longer ones are rejected on submission."""
IsoDate = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class SessionView(Protocol):
    """View of a session for evaluators of answers."""

    @property
    def answer(self) -> str | None:
        """The last submitted answer; None if there is none."""
        ...


@evaluator(on="session")
def answer_equals(session: SessionView, expected: str) -> bool:
    """Return whether the submitted answer is the expected one.

    Both are normalised: Unicode NFKC (except superscript digits and fractions next to digits: 10²
    is not 102), case folded, quotes and apostrophes straightened, soft hyphens removed, runs of
    white space replaced by one space; zero-width characters at the ends, one pair of quotes around
    the whole and full stops at the end (also the ideographic one, U+3002) are removed. A pair of
    ``**`` or backticks around the whole answer is ignored. The results must be equal; an answer
    that only contains the expected one is unmet.

    If the answer is a plain decimal number, a minus sign U+2212 counts as a hyphen, and its leading
    zeros and plus sign count only if the expected answer has them too: ``007`` is ``7``, but ``7``
    is not ``007``. ``7.0`` is not ``7``: use ``answer_is_number`` for values.

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

    The answer is normalised as in ``answer_equals``: quotes, markup, white space and zero-width
    characters around it, and full stops at the end, are ignored. It must then be a plain decimal
    number such as ``12``, ``+12.50``, ``.5``, ``007`` or ``-5`` (with a hyphen or the minus sign
    U+2212), with at most 30 digits before and after the point and without unit or exponent.

    Args:
        session: the session.
        expected: the correct number.
        tolerance: largest allowed difference, inclusive.
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
    """Return whether the submitted answer is exactly the expected one, apart from surrounding white space.

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

    Answers are compared as in ``answer_equals``; an answer that only contains a correct one is
    unmet.

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

    Items are separated by commas, semicolons or line breaks, or by ``and`` or ``&`` before the last
    one; items may contain ``and`` or ``&`` themselves ("salt and pepper"). A bullet, number or
    letter before an item (``-``, ``1.``, ``(1)``, ``a)``), and square brackets around the whole
    answer, are ignored. Items are compared as in ``answer_equals``. A list with a missing,
    additional or repeated item is unmet.

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

    Separators and comparison are those of ``answer_is_set``. Numbers before items must agree with
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
    """Return whether the submitted answer is the expected date, in one of the common formats.

    Year first: ``2026-11-21``, ``2026/11/21``, ``2026.11.21``, ``2026-Nov-21``. Month as a full or
    abbreviated English name: ``21 November 2026``, ``the 21st of Nov. 2026``, ``21-Nov-2026``,
    ``November 21, 2026``, ``November the 21st, 2026``. Year last: ``21.11.2026`` has the day first;
    ``21/11/2026`` and ``21-11-2026`` may have day or month first, so an ambiguous date such as
    ``03/04/2026`` is unmet unless `day_first` sets the order. An English weekday before or after
    the date must be correct. Years have four digits. The answer must not contain a time of day or
    other text.

    Args:
        session: the session.
        expected: the date as ``YYYY-MM-DD``.
        day_first: whether ``05/06/2026`` is the 5th of June; null if the task does not define it.

    Example:
        ``{on: session, check: answer_is_date, with: {expected: "2026-11-21"}}``
    """
    date = read_date(read_answer(session) or "", day_first=day_first)
    return date == dt.date.fromisoformat(expected)


@evaluator(on="session")
def answer_matches(session: SessionView, pattern: str) -> bool:
    """Return whether a regular expression matches the submitted answer, apart from surrounding white space.

    Args:
        session: the session.
        pattern: a Python regular expression for the whole answer; case-sensitive. The check is
            unmet if the match takes more than 2 s, which can happen with patterns that backtrack a
            lot, such as ``(a+)+b``.

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
    """Return the submitted answer; None if there is none or it is too long."""
    answer = session.answer
    return answer if answer is not None and len(answer) <= MAX_ANSWER_CHARS else None
