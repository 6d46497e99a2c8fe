"""Formulas are calculated from entered values, with bounded work."""

from __future__ import annotations

import pytest

from evaluators.formulas.calculation import Calculator
from evaluators.formulas.functions import ErrorValue
from evaluators.formulas.parser import Scalar, UnsupportedFormula
from evaluators.readers.model import Cell, Sheet, Workbook
from tests.cpu import least_cpu_s

ENTERED: dict[str, Scalar] = {
    "A1": "Tea",
    "A2": "Milk",
    "A3": "tea",
    "B1": 2.5,
    "B2": 4.0,
    "B3": -1.0,
    "C1": True,
}


def calculator(formulas: dict[str, str], **limits: int) -> Calculator:
    cells = {place: Cell(value) for place, value in ENTERED.items()}
    cells |= {place: Cell(99.0, formula) for place, formula in formulas.items()}
    cells["D1"] = Cell("2026-11-21", is_date=True)
    return Calculator(Workbook((Sheet("Data", cells), Sheet("My More", cells))), **limits)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=1+2*3^2", 19.0),
        ("=-2^2", 4.0),
        ("=2^3^2", 64.0),
        ("=10-4-3", 3.0),
        ("=50%*B2", 2.0),
        ('="a"&1&TRUE', "a1TRUE"),
        ("=SUM(B1:B3,1,\t2)", 8.5),
        ("=SUM(A1:C3)", 5.5),
        ("=SUM(A1)", 0.0),
        ("=SUM(B:B)", 5.5),
        ("=SUM('My More'!$B$1:B2)", 6.5),
        ("=AVERAGE(B1:B2)", 3.25),
        ("=MEDIAN(B1:B3)", 2.5),
        ("=MIN(B1:B3)", -1.0),
        ("=MAX(E1:E9)", 0.0),
        ("=COUNT(A1:C3)", 3.0),
        ("=COUNTA(A1:C3)", 7.0),
        ('=COUNTIF(A1:A3,"TEA")', 2.0),
        ('=COUNTIF(B1:B3,">0")', 2.0),
        ("=COUNTIF(A1:A3,A1)", 2.0),
        ("=COUNTIF(B1:B3,B2)", 1.0),
        ("=SUMIF(B1:B3,B2)", 4.0),
        ('=SUMIF(A1:A3,"tea",B1:B3)', 1.5),
        ('=AVERAGEIF(B1:B3,">=0")', 3.25),
        ("=SUMPRODUCT(B1:B2,B2:B3)", 6.0),
        ("=LARGE(B1:B3,2)", 2.5),
        ("=ROUND(2.345,2)", 2.35),
        ("=ROUND(-2.5,0)", -3.0),
        ("=ROUNDDOWN(2.349,2)", 2.34),
        ("=MOD(-1,3)", 2.0),
        ('=IF(B1>2,"much","little")', "much"),
        ("=IF(B1>3,1)", False),
        ("=IFERROR(1/0,7)", 7.0),
        ("=_xlfn.STDEV.S(B1:B2)", 1.0606601717798212),
        ('=UPPER(A1)&LEN(TRIM("  a  b "))&RIGHT("abc",2)', "TEA3bc"),
        ('=AND(C1,NOT(B1>3),"x"="x")', True),
        ('=AND("x"<>"y","a"<"B","">1)', True),
        ("=0.1+0.2=0.3", True),
        ("=1.1+2.2<=3.3", True),
        ("=1.1+2.2>3.3", False),
        ("=1.1+2.2=3.3000000001", False),
        ("=INT(-2.5)", -3.0),
        ("=D1+1", 46348.0),
    ],
)
def test_formula_is_calculated(formula: str, value: Scalar) -> None:
    result = calculator({"E20": formula}).value("data", "E20")
    assert result == (pytest.approx(value) if isinstance(value, float) else value)
    assert type(result) is type(value)


@pytest.mark.parametrize("formula", ["=1/0", "=A1+1", "=SUM(None!A1)", "=SQRT(-1)", "=AVERAGE(E1)"])
def test_error_value_is_raised(formula: str) -> None:
    with pytest.raises(ErrorValue, match="#"):
        calculator({"E20": formula}).value("Data", "E20")


@pytest.mark.parametrize(
    "formula",
    [
        "=NOW()",
        "=Prices",
        "=SUM(E20)",
        "=SUM({1,2})",
        "=SUM(Data!B1:Other!B2)",
        "=(1",
        "=1 1",
        "=A1:A2",
        "=" + "(" * 99 + "1" + ")" * 99,
        "=" + "1+" * 999 + "1",
        "=" + "1" * 9000,
        '=COUNTIF(A1:A3,"t*")',
        '=COUNTIF(A1:A3,"2026-01-05")',
        "=COUNTIF(A1:A3,E1)",
        "=COUNTIF(A1:A3,A1:A2)",
        '=SUMIF(A1:A3,"tea",B1:B2)',
        '="x"="X"',
        '="x"<>"X"',
        "=INT(79.32*100)",
        "=MOD(2.9,0.1)",
    ],
)
def test_unsupported_formula_raises(formula: str) -> None:
    with pytest.raises(UnsupportedFormula):
        calculator({"E20": formula}).value("Data", "E20")


def test_stored_results_of_formulas_are_ignored() -> None:
    chain = {f"F{row}": f"=F{row - 1}+1" for row in range(2, 3000)}
    assert calculator({"F1": "=B1", **chain}).value("Data", "F2999") == 3000.5


def test_circular_reference_is_not_supported() -> None:
    with pytest.raises(UnsupportedFormula, match="itself"):
        calculator({"F1": "=F2", "F2": "=F1"}).value("Data", "F1")


def test_work_is_limited() -> None:
    formulas = {f"F{row}": "=SUM(A1:E30)" for row in range(1, 500)} | {"G1": "=SUM(F1:F499)"}

    def refuse() -> None:
        with pytest.raises(UnsupportedFormula, match="work"):
            calculator(formulas, max_steps=20_000).value("Data", "G1")

    assert least_cpu_s(refuse)[0] < 1
    assert calculator(formulas).value("Data", "G1") == 499 * (5.5 + 46347)


@pytest.mark.parametrize(
    ("formula", "is_used"),
    [
        ("=SUM(B1:B2)", True),
        ('=IF(SUM(B1:B2)>5,"much","little")', True),
        ("=ROUND(SUM(B1:B2),0)/2", True),
        ("=1/SUM(B1:B2)", True),
        ("=SUM(E1:E2)", False),
        ("=6.5+0*SUM(B1:B2)", False),
        ('=IF(SUM(B1:B2)>9000,"much","little")', True),
        ("=IF(SUM(B1:B2)>9000,E1,B2)", True),
        ("=2*SUM(B1:B2)/2", True),
        ("=SUM(B1:B2)/2", True),
        ("=SUM(1,2)", False),
        ("=SUM(B3)*1", True),
        ("=2*SUM(B3)/1", True),
        ("=SUM(B3,B3)*1+0*2", True),
        ("=IF(SUM(B1:B2)>9000,1,2)", False),
        ("=IF(TRUE,6.5,SUM(B1:B2))", False),
        ('=LEN("SUM(")', False),
        ("=SUMSQ", False),
    ],
)
def test_dependence_on_a_function_is_detected(formula: str, *, is_used: bool) -> None:
    try:
        is_dependent = calculator({"E20": formula}).depends_on("Data", "E20", "SUM")
    except UnsupportedFormula:
        is_dependent = False
    assert is_dependent is is_used
