"""Cases of evaluators of the submitted answer."""

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
    """Hand in an answer."""
    return lambda fixture: setattr(fixture, "answer", answer)


def _common(right: str, **args: Json) -> tuple[Case, ...]:
    """Make the cases that every evaluator of answers has."""
    return (
        missing("no answer", nothing, **args),
        empty("an empty answer", submit(""), **args),
        empty("blanks", submit(" \n"), **args),
        corrupt("control characters in it", submit(f"{right[:1]}\0\x1b[1m{right[1:]}"), **args),
        hostile("the right one among others", submit(f"{right} or perhaps 99"), **args),
        hostile("every answer there is", submit(" ".join(map(str, range(3000)))), **args),
        hostile("a long answer", submit(right * 20_000), **args),
        forged("the right one, longer than is accepted", submit(right + " " * 4000), **args),
    )


_CUT: dict[str, str] = {
    "*: answer: cut": "only a blank, a line break, a quote or a full stop was cut"
}
_DRESS = "dress of an answer does not count"
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
            positive("the same", submit("Bern"), **_BERN),
            positive("another dress", submit(' "bern." '), **_BERN),
            positive("a full stop outside of quotes", submit("'\uff22ERN'."), **_BERN),
            positive("blanks within", submit("New \n York"), expected=" new york."),
            positive("one letter", submit("x"), expected="x"),
            negative("another", submit("Basel"), **_BERN),
            near_miss("part of it", submit("Ber"), **_BERN),
            near_miss("more", submit("Bern, Basel"), **_BERN),
            near_miss("a sentence", submit("It is Bern"), **_BERN),
            near_miss("a hyphen", submit("-Bern"), **_BERN),
            near_miss("a blank within", submit("Be rn"), **_BERN),
            near_miss("a quote, but another one", submit('"'), expected="'"),
            empty("nothing within quotes", submit('""'), expected="''").expect_met(),
            near_miss("a quote at one end", submit('"Bern'), **_BERN),
            near_miss("another quote at the other end", submit("Bern'"), **_BERN),
            another_way("full-width letters", submit("\uff22\uff45\uff52\uff4e"), **_BERN),
            another_way("in bold", submit("**Bern**"), **_BERN),
            another_way("as code, a full stop", submit("`Bern`."), **_BERN),
            another_way("in bold and quotes", submit('**"Bern"**\n'), **_BERN),
            another_way("markup that is asked for", submit("**"), expected="**"),
            another_way("code that is asked for", submit("`ls`"), expected="`ls`"),
            forged("two in bold", submit("**Bern** or **Basel**"), **_BERN),
            forged("in bold at one end", submit("**Bern"), **_BERN),
            forged("an asterisk at each end", submit("*Bern*"), **_BERN),
            another_way(
                "copied with a fixed blank", submit("New\u00a0York\r\n"), expected="New York"
            ),
            forged("a letter of another script", submit("B\u0435rn"), **_BERN),
            forged("another one behind an invisible mark", submit("Bern\u200b Basel"), **_BERN),
            another_way(
                "a typographic apostrophe", submit("It\u2019s Ann\u2018s"), expected="it's Ann's"
            ),
            another_way("a straight apostrophe", submit("it's"), expected="It\u2019s"),
            another_way("between guillemets", submit("\u00abBern\u00bb"), **_BERN),
            another_way("in German quotes", submit("\u201eBern\u201c."), **_BERN),
            another_way(
                "blanks of no width, a soft hyphen", submit("\ufeffBe\u00adrn\u200b"), **_BERN
            ),
            another_way("a raised digit behind a letter", submit("25 m\u00b2"), expected="25 m2"),
            another_way("a circled number alone", submit("\u2462"), expected="3"),
            forged("a power", submit("10\u00b2"), expected="102"),
            forged("a raised digit before one", submit("\u00b22"), expected="22"),
            forged("a mixed fraction", submit("1\u00bd"), expected="11\u20442"),
            forged("a lowered digit", submit("1\u2080"), expected="10"),
            *_common("Bern", **_BERN),
        ),
        equivalent={"*: args.expected: swap case": _DRESS}
        | _CUT
        | {"blanks within: args.expected: cut": "a full stop at the end does not count"},
    ),
    CaseTable(
        answers.answer_exact,
        SessionFixture,
        (
            positive("the same", submit("x = {y: 1}"), expected="x = {y: 1}"),
            positive("blanks around", submit(" Bern\n"), expected="Bern "),
            negative("another", submit("Basel"), **_BERN),
            near_miss("other case", submit("bern"), **_BERN),
            near_miss("a full stop", submit("Bern."), **_BERN),
            near_miss("more", submit("Bern Bern"), **_BERN),
            another_way("a line break of another system", submit("Bern\r\n"), **_BERN),
            another_way("copied with a fixed blank at the end", submit("Bern\u00a0"), **_BERN),
            forged("full-width letters", submit("\uff22\uff45\uff52\uff4e"), **_BERN),
            forged("a mark of its own after it", submit("Bern\u200b"), **_BERN),
            *_common("Bern", **_BERN),
        ),
        equivalent={"blanks around: args.expected: cut": "a blank at the end does not count"}
        | _CUT,
    ),
    CaseTable(
        answers.answer_one_of,
        SessionFixture,
        (
            positive("the first", submit("Bern"), accepted=["Bern", "Berne"]),
            positive("the second", submit("berne."), accepted=["Bern", "BERNE"]),
            negative("another", submit("Basel"), accepted=["Bern", "Berne"]),
            near_miss("both", submit("Bern Berne"), accepted=["Bern", "Berne"]),
            near_miss("part of one", submit("Ber"), accepted=["Bern", "Berne"]),
            near_miss("none accepted", submit("Bern"), accepted=[]),
            another_way("quoted", submit("\u201cBerne\u201d"), accepted=["Bern", "Berne"]),
            another_way("in bold", submit("**Berne**"), accepted=["Bern", "Berne"]),
            another_way("copied with a line break", submit("BERN\r\n"), accepted=["Bern", "Berne"]),
            forged("all, one a line", submit("Bern\nBerne"), accepted=["Bern", "Berne"]),
            forged("a letter of another script", submit("B\u0435rn"), accepted=["Bern", "Berne"]),
            *_common("Bern", accepted=["Bern", "Berne"]),
        ),
        equivalent={
            "the first: args.accepted: drop": "the right one stays",
            "*: args.accepted: repeat": "one said twice is one",
        }
        | _CUT,
    ),
    CaseTable(
        answers.answer_is_set,
        SessionFixture,
        (
            positive("commas", submit("milk, eggs, green tea"), **_ITEMS),
            positive("other order, and", submit("Green tea, milk and eggs."), **_ITEMS),
            positive("bullets on lines", submit("- eggs\n* milk\n\u2022 green tea\n"), **_ITEMS),
            positive("numbers on lines", submit("1. eggs\n2) milk\n12. green tea"), **_ITEMS),
            positive("semicolons", submit("eggs; milk ;green tea"), **_ITEMS),
            positive("a comma before and", submit("eggs, milk, and green tea"), **_ITEMS),
            positive(
                "lines, and, a line break at the end",
                submit("eggs\nmilk\nand green tea\n"),
                **_ITEMS,
            ),
            positive(
                "two with a comma and AND", submit("eggs, AND milk"), expected=["eggs", "milk"]
            ),
            positive("two with AND", submit("eggs AND milk"), expected=["eggs", "milk"]),
            positive("one", submit("milk"), expected=["Milk"]),
            positive("two with and", submit("milk & eggs"), expected=["eggs", "milk"]),
            negative("others", submit("bread, butter"), **_ITEMS),
            near_miss("one too few", submit("milk, eggs"), **_ITEMS),
            near_miss("one too many", submit("milk, eggs, green tea, bread"), **_ITEMS),
            near_miss("one twice", submit("milk, eggs, eggs, green tea"), **_ITEMS),
            near_miss("one twice for another", submit("milk, eggs, eggs"), **_ITEMS),
            near_miss("and before the only one", submit("and milk"), expected=["milk"]),
            near_miss("one misspelt", submit("milk, egg, green tea"), **_ITEMS),
            near_miss("no separators", submit("milk eggs green tea"), **_ITEMS),
            near_miss("words around", submit("They are milk, eggs, green tea"), **_ITEMS),
            near_miss("none expected", submit("milk"), expected=[]),
            near_miss("none expected, none said", submit(","), expected=[]),
            another_way(
                "and within an item",
                submit("oil, salt and pepper"),
                expected=["salt and pepper", "oil"],
            ),
            another_way(
                "and within the last of two, joined by and",
                submit("Oil and salt & pepper"),
                expected=["salt & pepper", "oil"],
            ),
            another_way(
                "and within the first of two, joined by and",
                submit("Salt and pepper and oil."),
                expected=["oil", "salt and pepper"],
            ),
            another_way("the only one, with and", submit("Tom & Ann"), expected=["tom & ann"]),
            another_way(
                "lines of another system", submit("milk\r\neggs\r\ngreen tea\r\n"), **_ITEMS
            ),
            another_way("numbers on one line", submit("1. milk, 2. eggs, 3. green tea"), **_ITEMS),
            another_way("JSON", submit('["milk", "eggs", "green tea"]'), **_ITEMS),
            another_way(
                "JSON on its own line", submit('\n["milk", "eggs", "green tea"] '), **_ITEMS
            ),
            another_way("JSON as code", submit('`["milk", "eggs", "green tea"]`'), **_ITEMS),
            another_way(
                "each in bold", submit("- **milk**\n- **eggs**\n- **green tea**"), **_ITEMS
            ),
            another_way(
                "in bold, joined", submit("**milk**, **eggs** and **green tea**"), **_ITEMS
            ),
            another_way("in bold, and", submit("`milk`, `eggs`, and `green tea`"), **_ITEMS),
            another_way("a bracket of an item's own", submit("x, y [2]"), expected=["x", "y [2]"]),
            forged("a bracket left open", submit("[milk, eggs, green tea"), **_ITEMS),
            another_way("dashes", submit("\u2013 milk\n\u2014 eggs\n\u2013 green tea"), **_ITEMS),
            another_way(
                "numbers in brackets", submit("(1) milk\n(2) eggs\n(3) green tea"), **_ITEMS
            ),
            another_way("letters", submit("a) milk\nb) eggs\n(c) green tea"), **_ITEMS),
            another_way("numbers in any order", submit("2. milk\n1. eggs\n3. green tea"), **_ITEMS),
            another_way("an item with a number", submit("1. FC, eggs"), expected=["1. fc", "eggs"]),
            another_way(
                "an item with a letter", submit("x) one\ny) two"), expected=["x) one", "y) two"]
            ),
            forged("a letter without a bracket", submit("a milk, b eggs, c green tea"), **_ITEMS),
            forged("lists in a list", submit('[["milk", "eggs", "green tea"]]'), **_ITEMS),
            another_way("each quoted", submit("'milk', \"eggs\" and 'green tea'"), **_ITEMS),
            another_way(
                "bullets and a last and", submit("- milk\n- eggs\n- and green tea"), **_ITEMS
            ),
            forged(
                "an item broken at its and", submit("salt, pepper"), expected=["salt and pepper"]
            ),
            forged(
                "two items joined to one",
                submit("oil and salt, pepper"),
                expected=["salt and pepper", "oil"],
            ),
            forged("as many of others", submit("milk, eggs, black tea"), **_ITEMS),
            forged("an and too many", submit("milk, eggs and and green tea"), **_ITEMS),
            forged("one of two, twice", submit("eggs and eggs"), expected=["milk", "eggs"]),
            *_common("milk, eggs, green tea", **_ITEMS),
        ),
        equivalent={"*: args.expected: swap case": _DRESS} | _CUT,
    ),
    CaseTable(
        answers.answer_is_list,
        SessionFixture,
        (
            positive("commas", submit("milk, eggs, green tea"), **_ITEMS),
            positive("lines", submit("1. Milk\n2. Eggs\n3. Green tea"), **_ITEMS),
            positive("and", submit("milk, eggs and green tea"), **_ITEMS),
            negative("others", submit("bread, butter"), **_ITEMS),
            near_miss("other order", submit("eggs, milk, green tea"), **_ITEMS),
            near_miss("one too few", submit("milk, eggs"), **_ITEMS),
            near_miss("one too many", submit("milk, eggs, green tea, milk"), **_ITEMS),
            near_miss("one twice", submit("milk, eggs, green tea, green tea"), **_ITEMS),
            near_miss("none expected", submit(";"), expected=[]),
            another_way(
                "and within an item",
                submit("oil, salt and pepper"),
                expected=["oil", "salt and pepper"],
            ),
            another_way("semicolons and lines", submit("milk;\neggs;\ngreen tea"), **_ITEMS),
            another_way("joined by &", submit("milk & eggs"), expected=["milk", "eggs"]),
            forged(
                "numbered in the right order, listed in another",
                submit("2. eggs\n1. milk"),
                expected=["milk", "eggs"],
            ),
            forged("the last two swapped around and", submit("milk, green tea and eggs"), **_ITEMS),
            forged(
                "numbers against the order", submit("2. milk\n1. eggs"), expected=["milk", "eggs"]
            ),
            another_way(
                "numbers of the items' own",
                submit("2. Liga\n1. Liga"),
                expected=["2. Liga", "1. Liga"],
            ),
            forged("ten before nine", submit("10. milk\n9. eggs"), expected=["milk", "eggs"]),
            another_way(
                "the same number, as Markdown has it",
                submit("1. milk\n1. eggs"),
                expected=["milk", "eggs"],
            ),
            another_way(
                "some numbered", submit("milk\n1. eggs\n- x"), expected=["milk", "eggs", "x"]
            ),
            *_common("milk, eggs, green tea", **_ITEMS),
        ),
    ),
    CaseTable(
        answers.answer_is_number,
        SessionFixture,
        (
            positive("the number", submit("41.5"), expected=41.5),
            positive("signs and blanks", submit(" +3.0 "), expected=3),
            positive("negative", submit("-2.5"), expected=-2.5),
            positive("near enough above", submit("10.5"), expected=10, tolerance=0.5),
            positive("near enough below", submit("9.5"), expected=10, tolerance=0.5),
            negative("another", submit("7"), expected=41.5),
            near_miss("not near enough", submit("10.6"), expected=10, tolerance=0.5),
            near_miss("not near enough below", submit("9.4"), expected=10, tolerance=0.5),
            near_miss("the other sign", submit("2.5"), expected=-2.5),
            near_miss("a word", submit("three"), expected=3),
            near_miss("a unit", submit("3 kg"), expected=3),
            near_miss("an exponent", submit("3e0"), expected=3),
            near_miss("a comma", submit("3,0"), expected=3),
            near_miss("no number", submit("nan"), expected=3),
            near_miss("endless", submit("inf"), expected=3),
            near_miss("digits of another script", submit("\u0663"), expected=3),
            near_miss("a blank for nothing", submit(""), expected=0),
            another_way("no digit before the point", submit(".5"), expected=0.5),
            another_way("no digit after the point", submit("5."), expected=5),
            another_way("in bold, a full stop", submit("**2.5**."), expected=2.5),
            another_way("a full stop", submit("2.5."), expected=2.5),
            another_way("full-width digits", submit("\uff12.\uff15"), expected=2.5),
            forged("two full stops", submit("2.5.."), expected=2.5),
            forged("a power", submit("10\u00b2"), expected=102),
            forged("a lowered digit", submit("1\u2080"), expected=10),
            forged("a point alone", submit("."), expected=0),
            another_way("a real minus sign", submit("\u22125"), expected=-5),
            another_way(
                "commas between thousands",
                submit("-1,234,567.5"),
                expected=-1234567.5,
                thousands=True,
            ),
            another_way("a comma, a whole number", submit("1,234"), expected=1234, thousands=True),
            another_way("no commas though allowed", submit("1234"), expected=1234, thousands=True),
            another_way(
                "a tolerance that is no binary fraction",
                submit("41.6"),
                expected=41.5,
                tolerance=0.1,
            ),
            forged("a comma that the task does not allow", submit("1,234"), expected=1234),
            forged("a comma for the point", submit("1,5"), expected=15, thousands=True),
            forged("a comma in another place", submit("12,34"), expected=1234, thousands=True),
            forged(
                "commas after the point", submit("1.234,567"), expected=1.234567, thousands=True
            ),
            forged("a lone point", submit("."), expected=0),
            forged("two signs", submit("--5"), expected=5),
            forged("a range that holds it", submit("0-9"), expected=5, tolerance=5),
            *_common("41.5", expected=41.5),
        ),
        equivalent={
            "*: args.tolerance: more": "a larger tolerance takes what a smaller one does",
            "near enough above: args.expected: more": "still near enough",
            "near enough below: args.expected: less": "still near enough",
        }
        | _CUT,
    ),
    CaseTable(
        answers.answer_is_date,
        SessionFixture,
        (
            positive("ISO", submit("2026-11-05"), **_DATE),
            positive("words", submit("5 November 2026"), **_DATE),
            positive("ordinal", submit("the 5th of Nov 2026"), **_DATE),
            positive("month first", submit("Nov. 5, 2026"), **_DATE),
            positive("month first, ordinal", submit("November 5th 2026"), **_DATE),
            positive("dots", submit("05.11.2026"), **_DATE),
            positive("slashes", submit("5/11/2026"), **_DATE, day_first=True),
            positive("slashes, month first", submit("11/05/2026"), **_DATE, day_first=False),
            positive("a weekday", submit("Thursday, 5 November 2026"), **_DATE),
            positive("September", submit("Sept 3, 2026"), expected="2026-09-03"),
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
            negative("another", submit("2025-01-01"), **_DATE),
            near_miss("the next day", submit("2026-11-06"), **_DATE),
            near_miss("the next year", submit("2027-11-05"), **_DATE),
            near_miss("month and day swapped", submit("2026-05-11"), **_DATE),
            near_miss("slashes, day first", submit("11/05/2026"), **_DATE, day_first=True),
            near_miss(
                "slashes, month first, meant otherwise",
                submit("5/11/2026"),
                **_DATE,
                day_first=False,
            ),
            near_miss("dots are never month first", submit("11.05.2026"), **_DATE, day_first=False),
            near_miss("a wrong weekday", submit("Friday, 5 November 2026"), **_DATE),
            near_miss("no year", submit("5 November"), **_DATE),
            near_miss("two digits", submit("05.11.26"), **_DATE),
            near_miss("no such day", submit("2026-02-30"), **_DATE),
            near_miss("no such month", submit("5 Nonember 2026"), **_DATE),
            near_miss("a sentence", submit("It was on 2026-11-05"), **_DATE),
            another_way("a weekday without a comma", submit("Thursday 5 November 2026"), **_DATE),
            another_way("in bold", submit("**5 November 2026**"), **_DATE),
            another_way("as code", submit("`2026-11-05`"), **_DATE),
            another_way("a short weekday", submit("Thu., 5 Nov. 2026"), **_DATE),
            another_way("a weekday after it", submit("5 November 2026 (Thursday)"), **_DATE),
            another_way("ISO with slashes", submit("2026/11/05"), **_DATE),
            another_way("ISO with dots", submit("2026.11.5"), **_DATE),
            another_way("a month between hyphens", submit("05-Nov-2026"), **_DATE),
            another_way("the year first, a month's name", submit("2026-Nov-05"), **_DATE),
            another_way("an ordinal with a point", submit("5. November 2026"), **_DATE),
            another_way(
                "a weekday and an article", submit("Thursday, the 5th of November 2026"), **_DATE
            ),
            another_way(
                "a day over 12 before the month", submit("21/11/2026"), expected="2026-11-21"
            ),
            another_way(
                "a day over 12 after the month", submit("11-21-2026"), expected="2026-11-21"
            ),
            another_way("the same day and month", submit("3/3/2026"), expected="2026-03-03"),
            another_way("hyphens, the order stated", submit("05-11-2026"), **_DATE, day_first=True),
            another_way(
                "an article, and a weekday after it", submit("the 5th of Nov 2026, Thu"), **_DATE
            ),
            another_way(
                "month first, and a weekday after it",
                submit("November 5, 2026 (Thursday)"),
                **_DATE,
            ),
            another_way("the first day over 12", submit("13/11/2026"), expected="2026-11-13"),
            another_way("month first, an article", submit("November the 5th, 2026"), **_DATE),
            another_way(
                "over 12, the order stated",
                submit("21/11/2026"),
                expected="2026-11-21",
                day_first=True,
            ),
            another_way("the 12th of the 12th", submit("12/12/2026"), expected="2026-12-12"),
            forged("dots, month first", submit("11.21.2026"), expected="2026-11-21"),
            forged(
                "day first, though the task has the month first",
                submit("21/11/2026"),
                expected="2026-11-21",
                day_first=False,
            ),
            forged(
                "month first, though the task has the day first",
                submit("11-21-2026"),
                expected="2026-11-21",
                day_first=True,
            ),
            forged("both over 12", submit("13/13/2026"), expected="2026-01-13"),
            forged("the 12th of a month", submit("12/11/2026"), expected="2026-11-12"),
            forged("a 12th month", submit("11/12/2026"), expected="2026-11-12"),
            forged("the 12th, which may be a month", submit("12/11/2026"), expected="2026-12-11"),
            forged("slashes that may be either", submit("5/11/2026"), **_DATE),
            forged("hyphens that may be either", submit("11-05-2026"), **_DATE),
            forged("two dates", submit("2026-11-05 2026-11-06"), **_DATE),
            forged("a weekday before and another after", submit("Thu 5 Nov 2026 Fri"), **_DATE),
            forged("a wrong weekday after it", submit("2026-11-05 (Friday)"), **_DATE),
            forged("a weekday without a date", submit("Thursday"), **_DATE),
            forged("a word that is no month", submit("5 and 2026"), **_DATE),
            forged("a year of five digits", submit("5 Nov 20260"), **_DATE),
            forged("mixed separators", submit("2026-11/05"), **_DATE),
            *_common("2026-11-05", **_DATE),
        ),
    ),
    CaseTable(
        answers.answer_matches,
        SessionFixture,
        (
            positive("the form", submit("AB1234"), pattern="[A-Z]{2}[0-9]{4}"),
            positive("blanks around", submit(" AB1234\n"), pattern="[A-Z]{2}[0-9]{4}"),
            negative("another", submit("hello"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("more", submit("AB12345"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("before it", submit("xAB1234"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("a second line", submit("AB1234\nx"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("other case", submit("ab1234"), pattern="[A-Z]{2}[0-9]{4}"),
            near_miss("nothing, though the pattern takes it", submit(" "), pattern=".*"),
            near_miss("none, though the pattern takes it", nothing, pattern=".*"),
            corrupt("no pattern", submit("AB1234"), pattern="[A-Z").expect_error(),
            another_way(
                "lines of another system around", submit("\r\nAB1234\r\n"), pattern="AB[0-9]+"
            ),
            another_way("a fixed blank at the end", submit("AB1234\u00a0"), pattern="AB[0-9]+"),
            forged("digits of another script", submit("AB\u0661234"), pattern="[A-Z]{2}[0-9]{4}"),
            forged(
                "the form on a line of its own", submit("x\nAB1234"), pattern="[A-Z]{2}[0-9]{4}"
            ),
            *_common("AB1234", pattern="[A-Z]{2}[0-9]{4}"),
        ),
        equivalent=_CUT,
    ),
)
