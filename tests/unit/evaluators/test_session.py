from __future__ import annotations

from dataclasses import dataclass

import pytest

from evaluators.session.answers import (
    MAX_ANSWER_CHARS,
    answer_equals,
    answer_is_number,
    answer_matches,
)
from evaluators.session.parsing import read_date


@dataclass
class Said:
    answer: str | None


@pytest.mark.parametrize(
    "answer", ["Bern", " bern\n", '"Bern"', "Bern.", "\u201cBern.\u201d", "\uff22ern", "BERN"]
)
def test_an_answer_equals_when_only_its_dress_differs(answer: str) -> None:
    assert answer_equals(Said(answer), "Bern")


@pytest.mark.parametrize("answer", [None, "", "Ber", "Bern, Basel", "It is Bern", "Be rn", "-Bern"])
def test_an_answer_that_only_holds_the_right_one_is_unmet(answer: str | None) -> None:
    assert not answer_equals(Said(answer), "Bern")


def test_an_empty_answer_meets_only_an_empty_expectation() -> None:
    assert answer_equals(Said(" "), "")
    assert not answer_equals(Said(None), "")


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
def test_a_number_is_met_within_the_tolerance(
    answer: str, expected: float, tolerance: float
) -> None:
    assert answer_is_number(Said(answer), expected, tolerance)


@pytest.mark.parametrize(
    "answer",
    [None, "", "three", "3 tasks", "4", "2.9", "1_0", "nan", "inf", "3e0", "0x3", "٣", "3,0"],
)
def test_anything_but_the_plain_number_is_unmet(answer: str | None) -> None:
    assert not answer_is_number(Said(answer), 3)


@pytest.mark.parametrize(
    "text", ["30/02/2026", "2026-02-30", "2026-13-01", "32 May 2026", "0/0/2026"]
)
def test_a_day_that_does_not_exist_is_no_date(text: str) -> None:
    assert read_date(text, day_first=True) is None


def test_an_order_that_the_task_states_decides_between_two_dates() -> None:
    assert read_date("03/04/2026") is None
    assert str(read_date("03/04/2026", day_first=True)) == "2026-04-03"
    assert str(read_date("03/04/2026", day_first=False)) == "2026-03-04"
    assert str(read_date("2026/03/04", day_first=True)) == "2026-03-04"


def test_nothing_of_an_answer_is_ignored() -> None:
    assert answer_matches(Said("a" * MAX_ANSWER_CHARS), "a+")
    assert not answer_matches(Said("a" * MAX_ANSWER_CHARS + "b"), "a+")
    assert not answer_matches(Said("a" * (MAX_ANSWER_CHARS + 1)), "a+")
