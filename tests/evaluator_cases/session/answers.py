"""Cases of the evaluators of the submitted answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.session import answers
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.session import SessionFixture

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json


def submit(answer: str) -> State:
    """Submit an answer."""
    return lambda fixture: setattr(fixture, "answer", answer)


def _common(right: str, **args: Json) -> tuple[Case, ...]:
    """Return the cases that are common to all evaluators of answers."""
    return (
        missing("no answer submitted", nothing, **args),
        empty("empty answer", submit(""), **args),
        empty("white space only", submit(" \n"), **args),
        corrupt("control characters", submit(f"{right[:1]}\0\x1b[1m{right[1:]}"), **args),
        hostile("right answer among others", submit(f"{right} or perhaps 99"), **args),
        hostile("all possible answers", submit(" ".join(map(str, range(3000)))), **args),
        hostile("a long answer", submit(right * 20_000), **args),
        forged("right answer, over the length limit", submit(right + " " * 4000), **args),
    )


_CUT: dict[str, str] = {
    "*: answer: cut": "only a space, a line break, a quote or a full stop was removed"
}
_DRESS = "the formatting of an answer is ignored"
_DRESSED_NUMBERS = {
    "leading zeros": "007",
    "plus sign": "+7",
    "zero-width spaces at the ends": "\u200b 7\ufeff ",
    "zero-width space before a full stop": "7\u200b.",
    "ideographic full stop": "7\u3002",
    "half-width ideographic full stop": "7\uff61",
    "in straight quotes": '"7"',
    "in typographic quotes": "\u201c7\u201d.",
    "in guillemets, with an inner full stop": "\u00ab7.\u00bb",
    "in bold, with an ideographic full stop": "**7**\u3002",
    "in bold and zero-width spaces": "\u200b**7**\u200b",
    "two trailing full stops": "7..",
    "full-width digit": "\uff17",
}
"""Notations of the number 7 that all evaluators of answers accept."""
_NOT_SEVEN = {
    "zero-width space between a zero and the digit": "0\u200b7",
    "quote at one end only": '"7',
    "leading ideographic full stop": "\u30027",
    "ideographic full stop as a decimal point": "7\u30020",
    "a trailing zero": "70",
    "superscript digit after a zero": "0\u2077",
    "two signs": "--7",
}
"""Texts that are not the number 7 for any evaluator of answers."""


def _numbers(key: str, expected: Json, **args: Json) -> tuple[Case, ...]:
    """Return the cases of the number 7 that are common to all evaluators of answers.

    Args:
        key: name of the argument with the expected answer.
        expected: the expected answer.
        args: further arguments.
    """
    named: dict[str, Any] = {key: expected, **args}
    return (
        *(
            another_way(f"number: {name}", submit(answer), **named)
            for name, answer in _DRESSED_NUMBERS.items()
        ),
        *(
            forged(f"number: {name}", submit(answer), **named)
            for name, answer in _NOT_SEVEN.items()
        ),
    )


_BERN: dict[str, Any] = {"expected": "Bern"}
_ITEMS: dict[str, Any] = {"expected": ["milk", "eggs", "green tea"]}
_DATE: dict[str, Any] = {"expected": "2026-11-05"}
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

TABLES = (
    CaseTable(
        answers.answer_equals,
        SessionFixture,
        (
            positive("same text", submit("Bern"), **_BERN),
            positive("different formatting", submit(' "bern." '), **_BERN),
            positive("full stop outside the quotes", submit("'\uff22ERN'."), **_BERN),
            positive("multiple white space", submit("New \n York"), expected=" new york."),
            positive("one letter", submit("x"), expected="x"),
            negative("different text", submit("Basel"), **_BERN),
            near_miss("part of the answer", submit("Ber"), **_BERN),
            near_miss("additional text", submit("Bern, Basel"), **_BERN),
            near_miss("whole sentence", submit("It is Bern"), **_BERN),
            near_miss("additional hyphen", submit("-Bern"), **_BERN),
            near_miss("space inside the word", submit("Be rn"), **_BERN),
            near_miss("different quote", submit('"'), expected="'"),
            empty("empty quotes", submit('""'), expected="''").expect_met(),
            near_miss("quote at one end only", submit('"Bern'), **_BERN),
            near_miss("only a closing quote", submit("Bern'"), **_BERN),
            another_way("full-width letters", submit("\uff22\uff45\uff52\uff4e"), **_BERN),
            another_way("in bold", submit("**Bern**"), **_BERN),
            another_way("as code with a full stop", submit("`Bern`."), **_BERN),
            another_way("in bold and quotes", submit('**"Bern"**\n'), **_BERN),
            another_way("expected markup", submit("**"), expected="**"),
            another_way("expected code", submit("`ls`"), expected="`ls`"),
            forged("two bold answers", submit("**Bern** or **Basel**"), **_BERN),
            forged("unclosed bold", submit("**Bern"), **_BERN),
            forged("single asterisks", submit("*Bern*"), **_BERN),
            another_way("no-break space", submit("New\u00a0York\r\n"), expected="New York"),
            forged("letter from a different script", submit("B\u0435rn"), **_BERN),
            forged(
                "different answer after an invisible character", submit("Bern\u200b Basel"), **_BERN
            ),
            another_way(
                "typographic apostrophe", submit("It\u2019s Ann\u2018s"), expected="it's Ann's"
            ),
            another_way("straight apostrophe", submit("it's"), expected="It\u2019s"),
            another_way("in guillemets", submit("\u00abBern\u00bb"), **_BERN),
            another_way("in German quotes", submit("\u201eBern\u201c."), **_BERN),
            another_way(
                "zero-width spaces and a soft hyphen", submit("\ufeffBe\u00adrn\u200b"), **_BERN
            ),
            another_way("superscript digit after a letter", submit("25 m\u00b2"), expected="25 m2"),
            another_way("circled number", submit("\u2462"), expected="3"),
            forged("superscript digit", submit("10\u00b2"), expected="102"),
            forged("superscript digit before a digit", submit("\u00b22"), expected="22"),
            forged("mixed fraction", submit("1\u00bd"), expected="11\u20442"),
            forged("subscript digit", submit("1\u2080"), expected="10"),
            *_numbers("expected", "7"),
            another_way("Unicode minus sign", submit("\u22125"), expected="-5"),
            another_way("expected with a Unicode minus sign", submit("-05"), expected="\u22125"),
            another_way("expected with leading zeros", submit("007."), expected="007"),
            forged("expected with leading zeros, which are missing", submit("7"), expected="007"),
            forged("expected with fewer leading zeros", submit("007"), expected="07"),
            another_way("expected with a plus sign", submit("+07"), expected="+7"),
            forged("plus sign that is missing", submit("7"), expected="+7"),
            forged("decimal places", submit("7.0"), expected="7"),
            forged("Unicode minus sign in a text", submit("A\u22121"), expected="A-1"),
            *_common("Bern", **_BERN),
        ),
        equivalent={"*: args.expected: swap case": _DRESS}
        | _CUT
        | {"multiple white space: args.expected: cut": "a trailing full stop is ignored"},
    ),
    CaseTable(
        answers.answer_exact,
        SessionFixture,
        (
            positive("same text", submit("x = {y: 1}"), expected="x = {y: 1}"),
            positive("surrounding white space", submit(" Bern\n"), expected="Bern "),
            negative("different text", submit("Basel"), **_BERN),
            near_miss("different letter case", submit("bern"), **_BERN),
            near_miss("additional full stop", submit("Bern."), **_BERN),
            near_miss("repeated text", submit("Bern Bern"), **_BERN),
            another_way("trailing CRLF", submit("Bern\r\n"), **_BERN),
            another_way("trailing no-break space", submit("Bern\u00a0"), **_BERN),
            forged("full-width letters", submit("\uff22\uff45\uff52\uff4e"), **_BERN),
            forged("trailing zero-width space", submit("Bern\u200b"), **_BERN),
            *_common("Bern", **_BERN),
        ),
        equivalent={"surrounding white space: args.expected: cut": "a trailing space is ignored"}
        | _CUT,
    ),
    CaseTable(
        answers.answer_one_of,
        SessionFixture,
        (
            positive("first accepted answer", submit("Bern"), accepted=["Bern", "Berne"]),
            positive("second accepted answer", submit("berne."), accepted=["Bern", "BERNE"]),
            negative("different answer", submit("Basel"), accepted=["Bern", "Berne"]),
            near_miss("both answers", submit("Bern Berne"), accepted=["Bern", "Berne"]),
            near_miss("part of an answer", submit("Ber"), accepted=["Bern", "Berne"]),
            near_miss("no accepted answers", submit("Bern"), accepted=[]),
            another_way("quoted", submit("\u201cBerne\u201d"), accepted=["Bern", "Berne"]),
            another_way("in bold", submit("**Berne**"), accepted=["Bern", "Berne"]),
            another_way("trailing CRLF", submit("BERN\r\n"), accepted=["Bern", "Berne"]),
            forged(
                "all answers on separate lines", submit("Bern\nBerne"), accepted=["Bern", "Berne"]
            ),
            forged(
                "letter from a different script", submit("B\u0435rn"), accepted=["Bern", "Berne"]
            ),
            *_numbers("accepted", ["8", "7"]),
            *_common("Bern", accepted=["Bern", "Berne"]),
        ),
        equivalent={
            "first accepted answer: args.accepted: drop": "the right answer remains",
            "*: args.accepted: repeat": "a repeated answer has no effect",
        }
        | _CUT,
    ),
    CaseTable(
        answers.answer_is_set,
        SessionFixture,
        (
            positive("separated by commas", submit("milk, eggs, green tea"), **_ITEMS),
            positive("different order and `and`", submit("Green tea, milk and eggs."), **_ITEMS),
            positive("bullet list", submit("- eggs\n* milk\n\u2022 green tea\n"), **_ITEMS),
            positive("numbered list", submit("1. eggs\n2) milk\n12. green tea"), **_ITEMS),
            positive("separated by semicolons", submit("eggs; milk ;green tea"), **_ITEMS),
            positive("comma before `and`", submit("eggs, milk, and green tea"), **_ITEMS),
            positive(
                "lines with `and` and a trailing line break",
                submit("eggs\nmilk\nand green tea\n"),
                **_ITEMS,
            ),
            positive(
                "two items with a comma and `AND`",
                submit("eggs, AND milk"),
                expected=["eggs", "milk"],
            ),
            positive("two items with `AND`", submit("eggs AND milk"), expected=["eggs", "milk"]),
            positive("one item", submit("milk"), expected=["Milk"]),
            positive("two items with `&`", submit("milk & eggs"), expected=["eggs", "milk"]),
            negative("different items", submit("bread, butter"), **_ITEMS),
            near_miss("one missing item", submit("milk, eggs"), **_ITEMS),
            near_miss("one additional item", submit("milk, eggs, green tea, bread"), **_ITEMS),
            near_miss("one duplicate item", submit("milk, eggs, eggs, green tea"), **_ITEMS),
            near_miss(
                "duplicate item instead of a missing one", submit("milk, eggs, eggs"), **_ITEMS
            ),
            near_miss("`and` before the only item", submit("and milk"), expected=["milk"]),
            near_miss("one misspelled item", submit("milk, egg, green tea"), **_ITEMS),
            near_miss("no separators", submit("milk eggs green tea"), **_ITEMS),
            near_miss("within a sentence", submit("They are milk, eggs, green tea"), **_ITEMS),
            near_miss("no expected items", submit("milk"), expected=[]),
            near_miss("no expected items, only a separator", submit(","), expected=[]),
            another_way(
                "`and` within an item",
                submit("oil, salt and pepper"),
                expected=["salt and pepper", "oil"],
            ),
            another_way(
                "`&` within the second of two joined items",
                submit("Oil and salt & pepper"),
                expected=["salt & pepper", "oil"],
            ),
            another_way(
                "`and` within the first of two joined items",
                submit("Salt and pepper and oil."),
                expected=["oil", "salt and pepper"],
            ),
            another_way("one item that contains `&`", submit("Tom & Ann"), expected=["tom & ann"]),
            another_way("CRLF line ends", submit("milk\r\neggs\r\ngreen tea\r\n"), **_ITEMS),
            another_way(
                "numbered list on one line", submit("1. milk, 2. eggs, 3. green tea"), **_ITEMS
            ),
            another_way("JSON", submit('["milk", "eggs", "green tea"]'), **_ITEMS),
            another_way(
                "JSON on a separate line", submit('\n["milk", "eggs", "green tea"] '), **_ITEMS
            ),
            another_way(
                "JSON formatted as code", submit('`["milk", "eggs", "green tea"]`'), **_ITEMS
            ),
            another_way(
                "each item in bold", submit("- **milk**\n- **eggs**\n- **green tea**"), **_ITEMS
            ),
            another_way(
                "bold items joined by `and`",
                submit("**milk**, **eggs** and **green tea**"),
                **_ITEMS,
            ),
            another_way(
                "items as code, joined by `and`",
                submit("`milk`, `eggs`, and `green tea`"),
                **_ITEMS,
            ),
            another_way(
                "item that contains a bracket", submit("x, y [2]"), expected=["x", "y [2]"]
            ),
            forged("unclosed bracket", submit("[milk, eggs, green tea"), **_ITEMS),
            another_way(
                "list with dashes", submit("\u2013 milk\n\u2014 eggs\n\u2013 green tea"), **_ITEMS
            ),
            another_way(
                "numbers in brackets", submit("(1) milk\n(2) eggs\n(3) green tea"), **_ITEMS
            ),
            another_way("list with letters", submit("a) milk\nb) eggs\n(c) green tea"), **_ITEMS),
            another_way(
                "numbers in a different order", submit("2. milk\n1. eggs\n3. green tea"), **_ITEMS
            ),
            another_way(
                "item that starts with a number", submit("1. FC, eggs"), expected=["1. fc", "eggs"]
            ),
            another_way(
                "item that starts with a letter",
                submit("x) one\ny) two"),
                expected=["x) one", "y) two"],
            ),
            forged("letters without brackets", submit("a milk, b eggs, c green tea"), **_ITEMS),
            forged("nested list", submit('[["milk", "eggs", "green tea"]]'), **_ITEMS),
            another_way("each item quoted", submit("'milk', \"eggs\" and 'green tea'"), **_ITEMS),
            another_way(
                "bullet list with a final `and`",
                submit("- milk\n- eggs\n- and green tea"),
                **_ITEMS,
            ),
            forged("item split at its `and`", submit("salt, pepper"), expected=["salt and pepper"]),
            forged(
                "items split at the wrong place",
                submit("oil and salt, pepper"),
                expected=["salt and pepper", "oil"],
            ),
            forged("one different item", submit("milk, eggs, black tea"), **_ITEMS),
            forged("additional `and`", submit("milk, eggs and and green tea"), **_ITEMS),
            forged("one of two items twice", submit("eggs and eggs"), expected=["milk", "eggs"]),
            *_numbers("expected", ["7"]),
            another_way(
                "leading zeros",
                submit("07, 010 and 3"),
                expected=["3", "7", "010"],
            ),
            another_way("leading zeros of a pair", submit("07 and 08"), expected=["8", "7"]),
            forged("leading zeros that are missing", submit("7, 10"), expected=["7", "010"]),
            *_common("milk, eggs, green tea", **_ITEMS),
        ),
        equivalent={"*: args.expected: swap case": _DRESS} | _CUT,
    ),
    CaseTable(
        answers.answer_is_list,
        SessionFixture,
        (
            positive("separated by commas", submit("milk, eggs, green tea"), **_ITEMS),
            positive("one item per line", submit("1. Milk\n2. Eggs\n3. Green tea"), **_ITEMS),
            positive("joined by `and`", submit("milk, eggs and green tea"), **_ITEMS),
            negative("different items", submit("bread, butter"), **_ITEMS),
            near_miss("different order", submit("eggs, milk, green tea"), **_ITEMS),
            near_miss("one missing item", submit("milk, eggs"), **_ITEMS),
            near_miss("one additional item", submit("milk, eggs, green tea, milk"), **_ITEMS),
            near_miss("one duplicate item", submit("milk, eggs, green tea, green tea"), **_ITEMS),
            near_miss("no expected items", submit(";"), expected=[]),
            another_way(
                "`and` within an item",
                submit("oil, salt and pepper"),
                expected=["oil", "salt and pepper"],
            ),
            another_way("semicolons and lines", submit("milk;\neggs;\ngreen tea"), **_ITEMS),
            another_way("joined by `&`", submit("milk & eggs"), expected=["milk", "eggs"]),
            forged(
                "numbers in the expected order, lines in a different order",
                submit("2. eggs\n1. milk"),
                expected=["milk", "eggs"],
            ),
            forged("last two items swapped", submit("milk, green tea and eggs"), **_ITEMS),
            forged(
                "numbers in reverse order", submit("2. milk\n1. eggs"), expected=["milk", "eggs"]
            ),
            another_way(
                "items that start with numbers",
                submit("2. Liga\n1. Liga"),
                expected=["2. Liga", "1. Liga"],
            ),
            forged(
                "numbers 10 and 9 in reverse order",
                submit("10. milk\n9. eggs"),
                expected=["milk", "eggs"],
            ),
            another_way(
                "repeated Markdown number",
                submit("1. milk\n1. eggs"),
                expected=["milk", "eggs"],
            ),
            another_way(
                "only some items numbered",
                submit("milk\n1. eggs\n- x"),
                expected=["milk", "eggs", "x"],
            ),
            another_way("leading zeros", submit("07, 08 and 09"), expected=["7", "8", "9"]),
            *_common("milk, eggs, green tea", **_ITEMS),
        ),
    ),
    CaseTable(
        answers.answer_is_number,
        SessionFixture,
        (
            positive("matching number", submit("41.5"), expected=41.5),
            positive("sign and surrounding spaces", submit(" +3.0 "), expected=3),
            positive("negative number", submit("-2.5"), expected=-2.5),
            positive("at the upper tolerance", submit("10.5"), expected=10, tolerance=0.5),
            positive("at the lower tolerance", submit("9.5"), expected=10, tolerance=0.5),
            negative("different number", submit("7"), expected=41.5),
            near_miss("above the tolerance", submit("10.6"), expected=10, tolerance=0.5),
            near_miss("below the tolerance", submit("9.4"), expected=10, tolerance=0.5),
            near_miss("opposite sign", submit("2.5"), expected=-2.5),
            near_miss("number as a word", submit("three"), expected=3),
            near_miss("number with a unit", submit("3 kg"), expected=3),
            near_miss("exponent", submit("3e0"), expected=3),
            near_miss("decimal comma", submit("3,0"), expected=3),
            near_miss("not a number", submit("nan"), expected=3),
            near_miss("infinity", submit("inf"), expected=3),
            near_miss("digits from a different script", submit("\u0663"), expected=3),
            near_miss("empty answer instead of zero", submit(""), expected=0),
            another_way("no digit before the decimal point", submit(".5"), expected=0.5),
            another_way("no digit after the decimal point", submit("5."), expected=5),
            another_way("in bold with a full stop", submit("**2.5**."), expected=2.5),
            another_way("trailing full stop", submit("2.5."), expected=2.5),
            another_way("full-width digits", submit("\uff12.\uff15"), expected=2.5),
            another_way("two trailing full stops", submit("2.5.."), expected=2.5),
            *_numbers("expected", 7),
            forged("superscript digit", submit("10\u00b2"), expected=102),
            forged("subscript digit", submit("1\u2080"), expected=10),
            forged("only a decimal point", submit("."), expected=0),
            another_way("Unicode minus sign", submit("\u22125"), expected=-5),
            another_way(
                "Unicode minus sign with a thousands separator",
                submit("\u22121,234"),
                expected=-1234,
                thousands=True,
            ),
            forged("Unicode minus sign at the end", submit("5\u2212"), expected=-5),
            another_way(
                "thousands separators",
                submit("-1,234,567.5"),
                expected=-1234567.5,
                thousands=True,
            ),
            another_way(
                "integer with a thousands separator", submit("1,234"), expected=1234, thousands=True
            ),
            another_way(
                "no thousands separators although allowed",
                submit("1234"),
                expected=1234,
                thousands=True,
            ),
            another_way(
                "tolerance that is not a binary fraction",
                submit("41.6"),
                expected=41.5,
                tolerance=0.1,
            ),
            forged("thousands separator that is not allowed", submit("1,234"), expected=1234),
            forged(
                "decimal comma with thousands separators",
                submit("1,5"),
                expected=15,
                thousands=True,
            ),
            forged("misplaced thousands separator", submit("12,34"), expected=1234, thousands=True),
            forged(
                "thousands separators after the decimal point",
                submit("1.234,567"),
                expected=1.234567,
                thousands=True,
            ),
            forged("decimal point without digits", submit("."), expected=0),
            forged("two signs", submit("--5"), expected=5),
            forged("range that contains the number", submit("0-9"), expected=5, tolerance=5),
            *_common("41.5", expected=41.5),
        ),
        equivalent={
            "*: args.tolerance: more": "a larger tolerance accepts everything that a smaller one accepts",
            "at the upper tolerance: args.expected: more": "still within the tolerance",
            "at the lower tolerance: args.expected: less": "still within the tolerance",
        }
        | _CUT,
    ),
    CaseTable(
        answers.answer_is_date,
        SessionFixture,
        (
            positive("ISO", submit("2026-11-05"), **_DATE),
            positive("month as a word", submit("5 November 2026"), **_DATE),
            positive("ordinal day", submit("the 5th of Nov 2026"), **_DATE),
            positive("month first", submit("Nov. 5, 2026"), **_DATE),
            positive("month first, ordinal", submit("November 5th 2026"), **_DATE),
            positive("separated by dots", submit("05.11.2026"), **_DATE),
            positive("separated by slashes", submit("5/11/2026"), **_DATE, day_first=True),
            positive("slashes, month first", submit("11/05/2026"), **_DATE, day_first=False),
            positive("with a weekday", submit("Thursday, 5 November 2026"), **_DATE),
            positive("abbreviated September", submit("Sept 3, 2026"), expected="2026-09-03"),
            *(
                positive(f"in {name}", submit(f"3 {name} 2026"), expected=f"2026-{number:02}-03")
                for number, name in enumerate(_MONTHS, 1)
            ),
            *(
                positive(
                    f"on {name}", submit(f"{name}, Nov {day} 2026"), expected=f"2026-11-0{day}"
                )
                for day, name in enumerate(_WEEK, 2)
            ),
            negative("different date", submit("2025-01-01"), **_DATE),
            near_miss("the next day", submit("2026-11-06"), **_DATE),
            near_miss("the next year", submit("2027-11-05"), **_DATE),
            near_miss("month and day swapped", submit("2026-05-11"), **_DATE),
            near_miss("slashes, day first", submit("11/05/2026"), **_DATE, day_first=True),
            near_miss(
                "slashes, day first, when the month is first",
                submit("5/11/2026"),
                **_DATE,
                day_first=False,
            ),
            near_miss("dots, month first", submit("11.05.2026"), **_DATE, day_first=False),
            near_miss("wrong weekday", submit("Friday, 5 November 2026"), **_DATE),
            near_miss("no year", submit("5 November"), **_DATE),
            near_miss("year with two digits", submit("05.11.26"), **_DATE),
            near_miss("invalid day", submit("2026-02-30"), **_DATE),
            near_miss("invalid month", submit("5 Nonember 2026"), **_DATE),
            near_miss("whole sentence", submit("It was on 2026-11-05"), **_DATE),
            another_way("weekday without a comma", submit("Thursday 5 November 2026"), **_DATE),
            another_way("in bold", submit("**5 November 2026**"), **_DATE),
            another_way("as code", submit("`2026-11-05`"), **_DATE),
            another_way("abbreviated weekday", submit("Thu., 5 Nov. 2026"), **_DATE),
            another_way("weekday after the date", submit("5 November 2026 (Thursday)"), **_DATE),
            another_way("ISO with slashes", submit("2026/11/05"), **_DATE),
            another_way("ISO with dots", submit("2026.11.5"), **_DATE),
            another_way("month name between hyphens", submit("05-Nov-2026"), **_DATE),
            another_way("year first, month name", submit("2026-Nov-05"), **_DATE),
            another_way("ordinal day with a point", submit("5. November 2026"), **_DATE),
            another_way(
                "weekday and an article", submit("Thursday, the 5th of November 2026"), **_DATE
            ),
            another_way(
                "day above 12 before the month", submit("21/11/2026"), expected="2026-11-21"
            ),
            another_way(
                "day above 12 after the month", submit("11-21-2026"), expected="2026-11-21"
            ),
            another_way("same day and month number", submit("3/3/2026"), expected="2026-03-03"),
            another_way(
                "hyphens, with a stated order", submit("05-11-2026"), **_DATE, day_first=True
            ),
            another_way(
                "article, and a weekday after the date", submit("the 5th of Nov 2026, Thu"), **_DATE
            ),
            another_way(
                "month first, and a weekday after the date",
                submit("November 5, 2026 (Thursday)"),
                **_DATE,
            ),
            another_way("day 13", submit("13/11/2026"), expected="2026-11-13"),
            another_way("month first, with an article", submit("November the 5th, 2026"), **_DATE),
            another_way(
                "day above 12, with a stated order",
                submit("21/11/2026"),
                expected="2026-11-21",
                day_first=True,
            ),
            another_way("day 12 and month 12", submit("12/12/2026"), expected="2026-12-12"),
            forged(
                "dots, month first, with a day above 12",
                submit("11.21.2026"),
                expected="2026-11-21",
            ),
            forged(
                "day first, although the month is first",
                submit("21/11/2026"),
                expected="2026-11-21",
                day_first=False,
            ),
            forged(
                "month first, although the day is first",
                submit("11-21-2026"),
                expected="2026-11-21",
                day_first=True,
            ),
            forged("day and month above 12", submit("13/13/2026"), expected="2026-01-13"),
            forged("ambiguous day 12", submit("12/11/2026"), expected="2026-11-12"),
            forged("ambiguous month 12", submit("11/12/2026"), expected="2026-11-12"),
            forged("ambiguous 12, read as the month", submit("12/11/2026"), expected="2026-12-11"),
            forged("ambiguous slashes", submit("5/11/2026"), **_DATE),
            forged("ambiguous hyphens", submit("11-05-2026"), **_DATE),
            forged("two dates", submit("2026-11-05 2026-11-06"), **_DATE),
            forged("two different weekdays", submit("Thu 5 Nov 2026 Fri"), **_DATE),
            forged("wrong weekday after the date", submit("2026-11-05 (Friday)"), **_DATE),
            forged("weekday without a date", submit("Thursday"), **_DATE),
            forged("word that is not a month", submit("5 and 2026"), **_DATE),
            forged("year with five digits", submit("5 Nov 20260"), **_DATE),
            forged("mixed separators", submit("2026-11/05"), **_DATE),
            *_common("2026-11-05", **_DATE),
        ),
    ),
    CaseTable(
        answers.answer_matches,
        SessionFixture,
        (
            positive("matching format", submit("AB1234"), pattern="[A-Z]{2}[0-9]{4}"),
            positive("surrounding white space", submit(" AB1234\n"), pattern="[A-Z]{2}[0-9]{4}"),
            negative("different text", submit("hello"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("additional digit", submit("AB12345"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("additional text before it", submit("xAB1234"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("second line", submit("AB1234\nx"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("different letter case", submit("ab1234"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("empty answer that matches the pattern", submit(" "), pattern=".*"),
            near_miss("no answer, pattern matches empty text", nothing, pattern=".*"),
            corrupt("invalid regular expression", submit("AB1234"), pattern="[A-Z").expect_error(),
            another_way("surrounding CRLF", submit("\r\nAB1234\r\n"), pattern="AB[0-9]+"),
            another_way("trailing no-break space", submit("AB1234\u00a0"), pattern="AB[0-9]+"),
            forged(
                "digits from a different script", submit("AB\u0661234"), pattern="[A-Z]{2}[0-9]{4}"
            ),
            forged(
                "matching format on a separate line",
                submit("x\nAB1234"),
                pattern="[A-Z]{2}[0-9]{4}",
            ),
            *_common("AB1234", pattern="[A-Z]{2}[0-9]{4}"),
        ),
        equivalent=_CUT,
    ),
)
