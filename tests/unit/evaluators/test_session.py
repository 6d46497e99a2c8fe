from __future__ import annotations

from dataclasses import dataclass

import pytest

from evaluators.parsing import read_date
from evaluators.session.answers import (
    MAX_ANSWER_CHARS,
    answer_equals,
    answer_is_number,
    answer_matches,
)


@dataclass
class Answered:
    answer: str | None


@pytest.mark.parametrize(
    "answer", ["Bern", " bern\n", '"Bern"', "Bern.", "\u201cBern.\u201d", "\uff22ern", "BERN"]
)
def test_answer_equality_ignores_formatting(answer: str) -> None:
    assert answer_equals(Answered(answer), "Bern")


@pytest.mark.parametrize("answer", [None, "", "Ber", "Bern, Basel", "It is Bern", "Be rn", "-Bern"])
def test_answer_that_only_contains_the_right_one_is_unmet(answer: str | None) -> None:
    assert not answer_equals(Answered(answer), "Bern")


def test_empty_answer_meets_only_an_empty_expectation() -> None:
    assert answer_equals(Answered(" "), "")
    assert not answer_equals(Answered(None), "")


@pytest.mark.parametrize(
    ("answer", "expected", "tolerance"),
    [
        ("3", 3, 0),
        (" 3.0 ", 3, 0),
        ("-2.5", -2.5, 0),
        ("10.4", 10, 0.5),
        ("+3", 3, 0),
        ("03", 3, 0),
    ],
)
def test_number_is_met_within_the_tolerance(answer: str, expected: float, tolerance: float) -> None:
    assert answer_is_number(Answered(answer), expected, tolerance)


@pytest.mark.parametrize(
    "answer",
    [None, "", "three", "3 tasks", "4", "2.9", "1_0", "nan", "inf", "3e0", "0x3", "٣", "3,0"],
)
def test_answer_with_more_than_a_plain_number_is_unmet(answer: str | None) -> None:
    assert not answer_is_number(Answered(answer), 3)


@pytest.mark.parametrize(
    "text", ["30/02/2026", "2026-02-30", "2026-13-01", "32 May 2026", "0/0/2026"]
)
def test_impossible_day_is_not_a_date(text: str) -> None:
    assert read_date(text, day_first=True) is None


def test_stated_order_resolves_an_ambiguous_date() -> None:
    assert read_date("03/04/2026") is None
    assert str(read_date("03/04/2026", day_first=True)) == "2026-04-03"
    assert str(read_date("03/04/2026", day_first=False)) == "2026-03-04"
    assert str(read_date("2026/03/04", day_first=True)) == "2026-03-04"


def test_whole_answer_is_matched() -> None:
    assert answer_matches(Answered("a" * MAX_ANSWER_CHARS), "a+")
    assert not answer_matches(Answered("a" * MAX_ANSWER_CHARS + "b"), "a+")
    assert not answer_matches(Answered("a" * (MAX_ANSWER_CHARS + 1)), "a+")
