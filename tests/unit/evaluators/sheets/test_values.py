"""Values of cells, and whether what is drawn contradicts them."""

from __future__ import annotations

import pytest

from evaluators.sheets.values import moment_number, shows_moment, shows_number

NULL = "1899-12-30"


@pytest.mark.parametrize(
    ("drawn", "value"),
    [
        ("42", 41.5),
        ("41.50 €", 41.5),
        ("4,150%", 41.5),
        ("-2.50", -2.5),
        ("(2.50)", -2.5),
        ("2,50", 2.5),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("4.15E+01", 41.5),
        ("2 1/2", 2.5),
        ("-1/2", -0.5),
        ("$1,234.50", 1234.5),
        ("-$ 5.00", -5.0),
        ("5.00 CHF", 5.0),
        ("1 234,5 z\u0142", 1234.5),
        ("12,34,567", 1234567.0),
        (".5", 0.5),
        ("+41.5", 41.5),
        ("5.00-", -5.0),
        ("0.33", 1 / 3),
    ],
)
def test_a_number_is_shown_in_any_usual_format(drawn: str, value: float) -> None:
    assert shows_number(drawn, "General", value)


@pytest.mark.parametrize(
    ("drawn", "value"),
    [
        ("12", 41.5),
        ("2.5", -2.5),
        ("###", 5.0),
        ("12 (41.5)", 41.5),
        ("", 0.0),
        ("42.0", 41.5),
        ("41.5k", 41.5),
        ("\u221a41.5", 41.5),
        ("41.5\u00b3", 41.5),
        ("\u201441.5", 41.5),
        ("41.5 \u00d710\u00b3", 41.5),
        ("41,5", 415.0),
        ("4 15", 415.0),
        ("1.234", 1234.0),
        ("1,234", 1.234),
        ("1,234.5", 1.2345),
        ("0,500", 500.0),
        ("41.5 m2", 41.5),
        ("41.5%%", 0.415),
        ("\u066441.5", 41.5),
    ],
)
def test_another_number_is_not_shown(drawn: str, value: float) -> None:
    assert not shows_number(drawn, "General", value)


def test_a_number_typed_into_the_format_is_not_shown() -> None:
    assert shows_number("42", "0", 41.5)
    assert not shows_number("42", '"42"', 41.5)
    assert not shows_number("42", "\\4\\2", 41.5)
    assert shows_number("1.500", "0.000", 1.5)
    assert not shows_number("1.500", "0.000,", 1500.0)


@pytest.mark.parametrize(
    ("drawn", "number_format", "moment"),
    [
        ("2026-11-21", "YYYY-MM-DD", "2026-11-21"),
        ("11/21/26", "MM/DD/YY", "2026-11-21"),
        ("2:30 PM", "H:MM AM/PM", "14:30"),
        ("26:05", "[HH]:MM", "26:05"),
        ("21/11/2026", "DD/MM/YYYY", "2026-11-21"),
        ("5.11.2026", "D.M.YYYY", "2026-11-05"),
        ("05 Nov 26", "DD MMM YY", "2026-11-05"),
        ("21. November 2026", 'D". "MMMM YYYY', "2026-11-21"),
        ("2026-11-21 14:30:07", "YYYY-MM-DD HH:MM:SS", "2026-11-21T14:30:07"),
    ],
)
def test_a_moment_is_shown_by_its_parts(drawn: str, number_format: str, moment: str) -> None:
    value = moment_number(moment, NULL)
    assert value is not None
    assert shows_moment(drawn, number_format, value, NULL)


@pytest.mark.parametrize(
    ("drawn", "number_format"),
    [("46347", "General"), ("2026-11-22", "YYYY-MM-DD"), ("Dec 2026", '"Dec" YYYY'), ("", "")],
)
def test_another_moment_is_not_shown(drawn: str, number_format: str) -> None:
    value = moment_number("2026-11-21", NULL)
    assert value == 46347
    assert not shows_moment(drawn, number_format, value, NULL)


@pytest.mark.parametrize(
    ("drawn", "number_format", "moment"),
    [
        ("05/11/2026", "DD/MM/YYYY", "2026-11-05"),
        ("11.05.2026", "MM.DD.YYYY", "2026-11-05"),
        ("2026-05-11", "YYYY-DD-MM", "2026-11-05"),
        ("26/11/05", "YY/MM/DD", "2026-11-05"),
        ("02:30 PM", 'HH:MM" PM"', "02:30"),
        ("2:30", "H:MM", "14:30"),
        ("5", "D", "2026-11-05"),
        ("Saturday, 21 November", "DDDD, D MMMM", "2026-11-21"),
        ("11/2026", "MM/YYYY", "2026-11-05"),
        ("21 Nov 26", "DD MMM YY", "1926-11-21"),
        ("2026-11-21", "YYYY-MM-DD", "2026-11-21 14:30"),
        ("14:30", "HH:MM", "2026-11-21 14:30"),
        ("14:30", "HH:MM", "14:30:45"),
    ],
)
def test_what_reads_as_another_moment_is_not_shown(
    drawn: str, number_format: str, moment: str
) -> None:
    value = moment_number(moment, NULL)
    assert value is not None
    assert not shows_moment(drawn, number_format, value, NULL)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "9", "9:3", "9:30 x"])
def test_what_is_no_moment_has_no_number(text: str) -> None:
    assert moment_number(text, NULL) is None
