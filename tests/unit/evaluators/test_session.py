from __future__ import annotations

from dataclasses import dataclass

import pytest

from evaluators.session.answers import answer_equals, answer_is_number


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
