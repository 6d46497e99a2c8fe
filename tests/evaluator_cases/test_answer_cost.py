"""The longest accepted answer is cheap for every evaluator of the session, regardless of its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.parsing import lists_items, read_date, read_number
from evaluators.schema import describe
from evaluators.session.answers import MAX_ANSWER_CHARS
from evaluators.testing.case import CaseKind
from evaluators.testing.runner import prepare
from tests.cpu import least_cpu_s
from tests.evaluator_cases.registry import all_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import CaseTable

MAX_CPU_S = 0.05
PATTERNS = {
    "spaces": " ",
    "spaces and a letter": " " * 3999 + "x",
    "separators": ",",
    "separators and white space": " , \n",
    "items joined by `and`": "a and ",
    "only `and`": "and ",
    "quotes": "'",
    "digits": "1",
    "groups of digits": "1,234,",
    "points": "1.",
    "combining marks in the wrong order": "\u0301\u0316",
    "characters that expand": "\ufdfa",
    "weekdays": "monday ",
    "a date": "5 nov 2026 ",
    "brackets": "(",
}
ANSWER = {"read": "answer"}
SESSION = [table for table in all_tables() if table.mark.on == "session"]


def filled(unit: str, length: int) -> str:
    """Return a text of a length that repeats a unit and does not start or end with white space."""
    return f"x{(unit * length)[: length - 2]}x"


@pytest.mark.parametrize("table", SESSION, ids=[table.mark.name for table in SESSION])
def test_the_largest_answer_is_cheap(table: CaseTable) -> None:
    tool = describe(table.evaluator)
    positive = [case for case in table.cases if case.kind is CaseKind.POSITIVE]
    case = next(
        (candidate for candidate in positive if ANSWER in candidate.args.values()), positive[0]
    )
    with prepare(table, case) as prepared:
        checked = tool.check(prepared.fixture.arguments(case.args))
        slow = {}
        for name, unit in PATTERNS.items():
            for answer in (filled(unit, MAX_ANSWER_CHARS), (unit * 4000)[:MAX_ANSWER_CHARS]):
                prepared.fixture.answer = answer  # type: ignore[attr-defined]
                subject = prepared.fixture.subject()
                used_s, _ = least_cpu_s(lambda: table.evaluator(subject, **checked))  # noqa: B023 - called here
                if used_s > MAX_CPU_S:
                    slow[name] = used_s
    assert not slow


@pytest.mark.parametrize(
    "name", [name for name in PATTERNS if name != "combining marks in the wrong order"]
)
@pytest.mark.parametrize(
    "read",
    [
        lambda text: lists_items(text, ["a and b", "c"], in_order=False),
        read_date,
        lambda text: read_number(text, thousands=True),
    ],
    ids=["list", "date", "number"],
)
def test_parsing_takes_time_linear_in_the_text(read: Callable[[str], object], name: str) -> None:
    """Omit combining marks, because Unicode normalisation itself is quadratic in them."""
    assert least_cpu_s(lambda: read(filled(PATTERNS[name], 100_000)))[0] < 2.0
