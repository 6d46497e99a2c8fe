"""Formulas as texts."""

from __future__ import annotations

import pytest

from evaluators.sheets.formulas import (
    calls_of,
    criteria_in,
    is_same_formula,
    numbers_in,
    replace_calls,
    texts_in,
)


@pytest.mark.parametrize(
    ("formula", "other"),
    [
        ("=SUM(B2:B3)", "= sum( $B$2:b3 )"),
        ("=+(SUM((B2:B3)))", "=SUM(B2:B3)"),
        ("=SUM($Data.B2:$Data.B3)", "=SUM('Data'!B3:B2)"),
        ("=SUM($More.B2:$More.B3)", "=SUM(More!B2:B3)"),
        ("=SUM($'My data'.B2)", "=SUM('My data'!B2)"),
        ('=IF(B1=1;"a;B $c";$More.A1)', '=IF(B1=1,"a;B $c",More!A1)'),
        ("=IF(TRUE();B2;FALSE())", "=IF(true,B2,FALSE)"),
        ("=CONCAT(B2;B3)", "=_xlfn.CONCAT(B2,B3)"),
        ("=(B2)*2", "=B2*2"),
    ],
)
def test_notation_does_not_matter(formula: str, other: str) -> None:
    assert is_same_formula(formula, other, "Data")


@pytest.mark.parametrize(
    ("formula", "other"),
    [
        ("=SUM($More.B2:B3)", "=SUM(B2:B3)"),
        ("=-SUM(B2:B3)", "=SUM(B2:B3)"),
        ("=(B2+B3)*2", "=B2+B3*2"),
        ("=B3-B2", "=B2-B3"),
        ('=B2&"x"', '=B2&"X"'),
        ('="a b"', '="ab"'),
        ("=SUM(B2:B4)", "=SUM(B2:B3)"),
        ("", ""),
    ],
)
def test_what_calculates_otherwise_differs(formula: str, other: str) -> None:
    assert not is_same_formula(formula, other, "Data")


def test_calls_are_found_outside_quotes_and_replaced() -> None:
    formula = '=SUM(A1;LEN("SUM(x)"))+SUMSQ(A1)+sum(SUM(B2))'
    assert [formula[start:end] for start, end in calls_of(formula, "sum")] == [
        'SUM(A1;LEN("SUM(x)"))',
        "sum(SUM(B2))",
    ]
    assert replace_calls(formula, "SUM", lambda _: "1") == "=1+SUMSQ(A1)+1"
    assert calls_of("=SUM+B2", "SUM") == []


def test_what_is_typed_into_a_formula_is_found() -> None:
    formula = '=6.5+COUNTIF($B$2:B3;"<>1")*1E-12&"a ""b"""'
    assert numbers_in(formula) == [6.5, 1e-12]
    assert texts_in(formula) == ["<>1", 'a "b"']
    assert criteria_in('=COUNTIF(B2:B3;">=T*")') == ["T*"]
    assert criteria_in('=COUNTIF(B2:B3;"<>1")') == [1.0]
