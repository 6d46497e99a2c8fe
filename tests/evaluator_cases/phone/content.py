"""Cases of the evaluators of the data of a phone's applications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.phone import content
from evaluators.phone.content import CONTACTS, EMAILS, PHONES, TASKS
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
from evaluators.testing.phone import PhoneFixture
from tests.evaluator_cases.phone.screen import answers
from tests.evaluator_cases.phone_ways import CYRILLIC_A, MARKED, row_within, ways

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

SMS = "content://sms"


def rows(uri: str, *records: Mapping[str, str]) -> State:
    """Give a provider rows, numbered from 1."""

    def put(fixture: PhoneFixture) -> None:
        for column in records[0] if records else ():
            values = {number: record[column] for number, record in enumerate(records, 1)}
            fixture.shell.put(uri, column, values)

    return put


def none_in(uri: str, *columns: str) -> State:
    """Remove all rows of a provider."""

    def put(fixture: PhoneFixture) -> None:
        for column in columns:
            fixture.shell.put(uri, column, {})

    return put


def tasks(*titled: tuple[str, str]) -> State:
    """Create tasks: title, and ``1`` when done."""
    return rows(TASKS, *({"title": title, "completed": done} for title, done in titled))


def people(
    names: Mapping[int, str],
    numbers: Mapping[int, tuple[str, str]] | None = None,
    emails: Mapping[int, tuple[str, str]] | None = None,
) -> State:
    """Create contacts by row, their numbers and addresses as owner and value."""

    def put(fixture: PhoneFixture) -> None:
        fixture.shell.put(CONTACTS, "display_name", names)
        for uri, values in ((PHONES, numbers or {}), (EMAILS, emails or {})):
            fixture.shell.put(uri, "contact_id", {row: owner for row, (owner, _) in values.items()})
            fixture.shell.put(uri, "data1", {row: value for row, (_, value) in values.items()})

    return put


def late(state: State) -> State:
    """Leave no time for the evaluator."""

    def put(fixture: PhoneFixture) -> None:
        state(fixture)
        fixture.timeout_s = 0.0

    return put


def all_of(*states: State) -> State:
    """Apply several states one after the other."""

    def act(fixture: PhoneFixture) -> None:
        for state in states:
            state(fixture)

    return act


def gone_singly(uri: str, column: str, row: int) -> State:
    """Delete a row before it is queried separately."""
    return answers(
        f"{ids_of(uri).removesuffix(' _id')} {column} --where _id={row}", "No result found.\n"
    )


def query(uri: str, column: str) -> str:
    """Return the command that queries a column."""
    return f"content query --uri {uri} --projection _id:{column}"


def prints(uri: str, column: str, output: str | int) -> State:
    """Make a provider of one row print an output for a column."""

    def put(fixture: PhoneFixture) -> None:
        fixture.shell.answers[ids_of(uri)] = "Row: 0 _id=1\n"
        fixture.shell.answers[query(uri, column)] = output

    return put


def ids_of(uri: str) -> str:
    """Return the command that queries the IDs of rows."""
    return f"content query --uri {uri} --projection _id"


def unreadable(uri: str, column: str, /, **args: Json) -> tuple[Case, ...]:
    """Return the cases of a provider whose output is invalid."""
    ids = ids_of(uri)
    return (
        missing("no reply", nothing, **args).expect_error(),
        missing("command fails", prints(uri, column, 1), **args).expect_error(),
        missing("query of IDs fails", answers(ids, 1), **args).expect_error(),
        corrupt(
            "error message", prints(uri, column, "Error while accessing provider:x\n"), **args
        ).expect_error(),
        corrupt(
            "error message instead of IDs",
            answers(ids, "Error while accessing provider:x\n"),
            **args,
        ).expect_error(),
        corrupt(
            "IDs out of order", answers(ids, "Row: 1 _id=1\nRow: 0 _id=2\n"), **args
        ).expect_error(),
        corrupt(
            "duplicate ID", answers(ids, "Row: 0 _id=1\nRow: 1 _id=1\n"), **args
        ).expect_error(),
        corrupt(
            "rows out of order", prints(uri, column, f"Row: 1 _id=1, {column}=a\n"), **args
        ).expect_error(),
        corrupt(
            "rows of a different column", prints(uri, column, "Row: 0 _id=1, x=a\n"), **args
        ).expect_error(),
        hostile(
            "row within a value, which a separate query does not return",
            prints(uri, column, f"Row: 0 _id=1, {column}=a\nRow: 1 _id=9, {column}=b\n"),
            **args,
        ).expect_error(),
    )


_MILK: dict[str, Any] = {"title": "Milk"}
_ANN: dict[str, Any] = {"name": "Ann"}
_BOTH: dict[str, Any] = {"name": "Ann", "number": "+41 44 555", "email": "a@x.org"}
_FULL = people(
    {1: "Ann", 2: "Bo"}, {5: ("1", "+41-44.555"), 6: ("2", "117")}, {8: ("1", "A@x.org")}
)
_SETTING: dict[str, Any] = {"namespace": "global", "key": "device_name", "value": "Lab"}
_GET = "settings get global device_name"
_WHERE: dict[str, Any] = {"uri": SMS, "where": {"address": "555", "body": "Hi"}}
_COUNT: dict[str, Any] = {**_WHERE, "count": 2}
_PACKAGES = "pm list packages"
_CASE: dict[str, Any] = {"*prints other": "only the letter case of column names changes"}

TABLES = (
    CaseTable(
        content.task_listed,
        PhoneFixture,
        (
            positive("open task", tasks(("Milk", "0")), **_MILK),
            positive(
                "one open task, one done", tasks(("Milk", "1"), (" Milk ", "0")), title="Milk "
            ),
            negative("different task", tasks(("Eggs", "0")), **_MILK),
            near_miss("task done", tasks(("Milk", "1")), **_MILK),
            near_miss("longer text", tasks(("Milk, eggs", "0")), **_MILK),
            near_miss("different letter case", tasks(("milk", "0")), **_MILK),
            empty("no tasks", none_in(TASKS, "title", "completed"), **_MILK),
            *ways(
                _MILK,
                {
                    "row within the title of a different task": tasks(
                        (row_within("title", "Milk"), "0")
                    ),
                    "letter from a different script": tasks(("Mi\u217ck", "0")),
                    "next to one that looks the same": tasks(("Milk", "0"), ("Mi\u200blk", "0")),
                    "completed one that looks the same": tasks(("Milk", "0"), ("Milk\ufe0f", "1")),
                },
                {
                    "invisible character": tasks(("Mi\u200blk", "0")),
                    "surrounding white space": tasks((" Milk\n", "0")),
                    "next to a title with two lines": tasks(
                        (row_within("title", "x"), "0"), ("Milk", "0")
                    ),
                    "next to a task deleted meanwhile": all_of(
                        tasks((row_within("title", "x"), "0"), ("Milk", "0")),
                        gone_singly(TASKS, "title", 1),
                    ),
                },
            ),
            another_way(
                "decomposed Unicode characters", tasks(("Cafe\u0301", "0")), title="Caf\u00e9"
            ),
            another_way(
                "title with two lines",
                tasks((row_within("title", "y"), "0")),
                title=row_within("title", "y"),
            ),
            *unreadable(TASKS, "title", **_MILK),
        ),
    ),
    CaseTable(
        content.task_completed,
        PhoneFixture,
        (
            positive("task done", tasks(("Milk", "1"), ("Eggs", "0")), **_MILK),
            positive("two tasks done", tasks(("Milk", "1"), ("Milk", "1")), **_MILK),
            negative("different task", tasks(("Eggs", "1")), **_MILK),
            near_miss("task open", tasks(("Milk", "0")), **_MILK),
            near_miss("one of two tasks open", tasks(("Milk", "1"), ("Milk", "0")), **_MILK),
            near_miss("longer text", tasks(("Milk, eggs", "1")), **_MILK),
            empty("no tasks", none_in(TASKS, "title", "completed"), **_MILK),
            *ways(
                _MILK,
                {
                    "row within the title of a different task": tasks(
                        (row_within("title", "Milk"), "1")
                    ),
                    "similar task with surrounding spaces is open": tasks(
                        ("Milk", "1"), (" Milk ", "0")
                    ),
                    "open one that looks the same": tasks(("Milk", "1"), ("Mi\u200blk", "0")),
                    "next to one that looks the same": tasks(("Milk", "1"), ("\u3164Milk", "1")),
                },
                {
                    "invisible character": tasks(("Mi\u200blk", "1")),
                    "surrounding white space": tasks((" Milk\n", "1")),
                    "next to a title with two lines": tasks(
                        (row_within("title", "x"), "0"), ("Milk", "1")
                    ),
                },
            ),
            *unreadable(TASKS, "title", **_MILK),
        ),
    ),
    CaseTable(
        content.contact_exists,
        PhoneFixture,
        (
            forged("two names that look the same", people({1: "Ann", 3: "A\u200bnn"}), name="Ann"),
            another_way("invisible character in the name", people({1: "A\u200bnn"}), name="Ann"),
            positive("matching name", _FULL, **_ANN),
            positive("matching name, number and e-mail address", _FULL, **_BOTH),
            positive(
                "surrounding spaces in the expected e-mail address",
                _FULL,
                name="Ann",
                email=" A@X.org ",
            ),
            positive(
                "surrounding spaces in the stored e-mail address",
                people({1: "Ann"}, {}, {8: ("1", " a@x.org ")}),
                name="Ann",
                email="a@x.org",
            ),
            positive("short name", people({1: "AleX"}), name="AleX"),
            positive(
                "CRLF line ends",
                all_of(
                    answers(ids_of(CONTACTS), "Row: 0 _id=1\r\nRow: 1 _id=2\r\n"),
                    answers(
                        query(CONTACTS, "display_name"),
                        "Row: 0 _id=1, display_name=Ann\r\nRow: 1 _id=2, display_name=Bo\r\n",
                    ),
                ),
                **_ANN,
            ),
            near_miss("contact without a name", people({1: "NULL"}), name="NULL"),
            corrupt(
                "empty line before the rows",
                prints(CONTACTS, "display_name", "\nRow: 0 _id=1, display_name=Ann\n"),
                **_ANN,
            ).expect_error(),
            corrupt(
                "duplicate contact",
                all_of(
                    answers(ids_of(CONTACTS), "Row: 0 _id=1\nRow: 1 _id=1\n"),
                    answers(
                        query(CONTACTS, "display_name"),
                        "Row: 0 _id=1, display_name=Ann\nRow: 1 _id=1, display_name=Ann\n",
                    ),
                ),
                **_ANN,
            ).expect_error(),
            corrupt(
                "text before the rows",
                prints(CONTACTS, "display_name", "Hm\nRow: 0 _id=1, display_name=Ann\n"),
                **_ANN,
            ).expect_error(),
            empty("empty output", answers(ids_of(CONTACTS), "\n"), **_ANN),
            hostile("no time left", late(_FULL), **_ANN).expect_error(),
            positive(
                "one of two contacts with the name",
                people({1: "Ann", 3: "Ann "}, {5: ("3", "117")}),
                name="Ann",
                number="1 1 7",
            ),
            negative("different contact", people({2: "Bo"}), **_ANN),
            near_miss("longer text", people({1: "Anna"}), **_ANN),
            near_miss("different letter case", people({1: "ann"}), **_ANN),
            near_miss("number of a different contact", _FULL, name="Ann", number="117"),
            near_miss("number without the plus sign", _FULL, name="Ann", number="41 44 555"),
            near_miss(
                "e-mail address of a different contact",
                people({1: "Ann", 2: "Bo"}, {}, {8: ("2", "a@x.org")}),
                name="Ann",
                email="a@x.org",
            ),
            near_miss(
                "number and e-mail address of two different contacts",
                people({1: "Ann", 3: "Ann"}, {5: ("1", "+4144555")}, {8: ("3", "a@x.org")}),
                **_BOTH,
            ),
            near_miss("different e-mail address", _FULL, name="Ann", email="b@x.org"),
            empty("no contacts", people({}), **_ANN),
            *ways(
                _ANN,
                {
                    "row within the name of a different contact": people(
                        {1: row_within("display_name", "Ann", "Bo")}
                    ),
                    "letter from a different script": people({1: "\u0410nn"}),
                },
                {
                    "surrounding white space": people({1: "Ann "}),
                    "decomposed Unicode characters": people({1: "Ann"}),
                },
            ),
            *ways(
                {"name": "Ann", "number": "+41 44 555"},
                {
                    "number in a row within a different number": people(
                        {1: "Ann"}, {5: ("1", row_within("data1", "+41 44 555", "1"))}
                    ),
                    "number with letters": people({1: "Ann"}, {5: ("1", "+41 44 555 x")}),
                    "only as a name": people({1: "Ann", 2: "+41 44 555"}, {5: ("2", "+41 44 555")}),
                },
                {
                    "00 instead of the plus sign": people({1: "Ann"}, {5: ("1", "0041 44 555")}),
                    "copied from a different application": people({1: "Ann"}, {5: ("1", MARKED)}),
                    "full-width digits": people(
                        {1: "Ann"}, {5: ("1", "+41 44 \uff15\uff15\uff15")}
                    ),
                },
            ),
            *unreadable(CONTACTS, "display_name", **_ANN),
        ),
        equivalent={
            "*data/phon*": "no number is expected, or the truncated part is of a different contact",
            "*data/emai*": "no e-mail address is expected, or the truncated part is of a different contact",
            "*contacts/contacts *: prints less": "the truncated part is of a different contact",
            "surrounding spaces in the expected e-mail address: args.email: cut": "a trailing space is ignored",
            "*: args.number: empty": "any number",
            "*: args.email: empty": "any e-mail address",
            "*: args.email: swap case": "the letter case of addresses is ignored",
            "matching name: *phones*": "numbers are ignored",
            "matching name: *emails*": "e-mail addresses are ignored",
            "one of two*emails*": "e-mail addresses are ignored",
        },
    ),
    CaseTable(
        content.setting_equals,
        PhoneFixture,
        (
            positive("matching value", answers(_GET, "Lab\n"), **_SETTING),
            negative("different value", answers(_GET, "Home\n"), **_SETTING),
            near_miss("additional letter", answers(_GET, "LabX\n"), **_SETTING),
            near_miss("longer value", answers(_GET, "Lab 2\n"), **_SETTING),
            near_miss("different letter case", answers(_GET, "lab\n"), **_SETTING),
            near_miss("not set", answers(_GET, "null\n"), **{**_SETTING, "value": "null"}),
            near_miss(
                "different namespace",
                answers("settings get system device_name", "Lab\n"),
                **_SETTING,
            ).expect_error(),
            empty("an empty value", answers(_GET, "\n"), **_SETTING),
            missing("command fails", answers(_GET, 1), **_SETTING).expect_error(),
            corrupt("NUL byte in the value", answers(_GET, "Lab\0\n"), **_SETTING),
            *ways(
                _SETTING,
                {
                    "letter from a different script": answers(_GET, f"L{CYRILLIC_A}b\n"),
                    "value in quotes": answers(_GET, '"Lab"\n'),
                    "value on the second line": answers(_GET, "x\nLab\n"),
                },
                {
                    "CRLF line ends": answers(_GET, "Lab\r\n"),
                    "without a line end": answers(_GET, "Lab"),
                },
            ),
            another_way(
                "integer with a decimal part", answers(_GET, "1.0\n"), **{**_SETTING, "value": "1"}
            ),
            another_way(
                "expected decimal part, stored integer",
                answers(_GET, "1\n"),
                **{**_SETTING, "value": "1.00"},
            ),
            near_miss("different number", answers(_GET, "1.1\n"), **{**_SETTING, "value": "1"}),
            near_miss(
                "expected value is not a number",
                answers(_GET, "Home\n"),
                **{**_SETTING, "value": "x"},
            ),
            hostile("additional lines", answers(_GET, "Lab\nLab\n"), **_SETTING),
        ),
    ),
    CaseTable(
        content.content_row_exists,
        PhoneFixture,
        (
            positive(
                "matching row",
                rows(SMS, {"address": "1", "body": "x"}, {"address": "555", "body": "Hi"}),
                **_WHERE,
            ),
            positive(
                "value with commas",
                rows(SMS, {"body": "a, body=b"}),
                uri=SMS,
                where={"body": "a, body=b"},
            ),
            negative("different row", rows(SMS, {"address": "1", "body": "x"}), **_WHERE),
            near_miss(
                "values of two different rows",
                rows(SMS, {"address": "555", "body": "x"}, {"address": "1", "body": "Hi"}),
                **_WHERE,
            ),
            near_miss("longer text", rows(SMS, {"address": "5551", "body": "Hi"}), **_WHERE),
            near_miss("empty expected columns", rows(SMS, {"address": "555"}), uri=SMS, where={}),
            empty("no rows", none_in(SMS, "address", "body"), **_WHERE),
            *ways(
                {"uri": SMS, "where": {"body": "Hi"}},
                {
                    "row within a text": rows(SMS, {"body": row_within("body", "Hi")}),
                    "invisible character": rows(SMS, {"body": "H\u200bi"}),
                },
                {
                    "next to a text that looks like a row": rows(
                        SMS, {"body": row_within("body", "x")}, {"body": "Hi"}
                    ),
                    "many rows": rows(SMS, *[{"body": "x"}] * 300, {"body": "Hi"}),
                },
            ),
            another_way(
                "empty expected value for NULL",
                rows(SMS, {"body": "NULL"}),
                uri=SMS,
                where={"body": ""},
            ),
            hostile(
                "row within a text, more rows than are queried separately",
                rows(SMS, *[{"body": row_within("body", "Hi")}] * 201),
                uri=SMS,
                where={"body": "Hi"},
            ).expect_error(),
            hostile(
                "row within a text, exactly as many rows as are queried separately",
                rows(SMS, *[{"body": row_within("body", "x")}] * 199, {"body": "Hi"}),
                uri=SMS,
                where={"body": "Hi"},
            ).expect_met(),
            *unreadable(SMS, "address", **_WHERE),
        ),
    ),
    CaseTable(
        content.content_row_count_equals,
        PhoneFixture,
        (
            positive(
                "two matching rows",
                rows(SMS, *[{"address": "555", "body": "Hi"}] * 2, {"address": "1", "body": "Hi"}),
                **_COUNT,
            ),
            positive(
                "no matching rows, and none expected",
                rows(SMS, {"address": "1", "body": "x"}),
                **{**_COUNT, "count": 0},
            ),
            negative("no matching rows", rows(SMS, {"address": "1", "body": "x"}), **_COUNT),
            near_miss("one matching row", rows(SMS, {"address": "555", "body": "Hi"}), **_COUNT),
            near_miss(
                "three matching rows", rows(SMS, *[{"address": "555", "body": "Hi"}] * 3), **_COUNT
            ),
            near_miss(
                "empty expected columns", rows(SMS, {"address": "555"}), uri=SMS, where={}, count=0
            ),
            empty("no rows", none_in(SMS, "address", "body"), **_COUNT),
            *ways(
                {"uri": SMS, "where": {"body": "Hi"}, "count": 2},
                {
                    "one row within a text": rows(
                        SMS, {"body": "Hi"}, {"body": row_within("body", "Hi")}
                    ),
                    "one row with two lines": rows(SMS, {"body": "Hi"}, {"body": "Hi\nHi"}),
                },
                {
                    "next to a text that looks like a third row": rows(
                        SMS, {"body": "Hi"}, {"body": "Hi"}, {"body": row_within("body", "Hi")}
                    ),
                    "next to other rows": rows(SMS, {"body": "Hi"}, {"body": "x"}, {"body": "Hi"}),
                },
            ),
            *unreadable(SMS, "address", **_COUNT),
        ),
        equivalent={
            "no matching rows, and none expected: content query*": "there are still no matching rows"
        },
    ),
    CaseTable(
        content.package_installed,
        PhoneFixture,
        (
            positive(
                "installed", answers(_PACKAGES, "package:org.b\npackage:org.a\r\n"), package="org.a"
            ),
            negative("different package", answers(_PACKAGES, "package:org.b\n"), package="org.a"),
            near_miss(
                "longer package name", answers(_PACKAGES, "package:org.a.b\n"), package="org.a"
            ),
            near_miss("shorter package name", answers(_PACKAGES, "package:org\n"), package="org.a"),
            near_miss("empty expected name", answers(_PACKAGES, "package:org.a\n"), package=""),
            empty("no packages", answers(_PACKAGES, ""), package="org.a"),
            missing("command fails", answers(_PACKAGES, 1), package="org.a").expect_error(),
            corrupt("output in a different format", answers(_PACKAGES, "org.a\n"), package="org.a"),
            *ways(
                {"package": "org.a"},
                {
                    "package with a similar name": answers(_PACKAGES, "package:org.a.copy\n"),
                    "letter from a different script": answers(
                        _PACKAGES, f"package:org.{CYRILLIC_A}\n"
                    ),
                    "different letter case": answers(_PACKAGES, "package:org.A\n"),
                },
                {
                    "installed next to an installer package": answers(
                        _PACKAGES, "package:org.a\npackage:org.a.installer\n"
                    ),
                    "CRLF line ends": answers(_PACKAGES, "package:org.a\r\n"),
                },
            ),
            hostile(
                "in the middle of a line",
                answers(_PACKAGES, "package:x package:org.a\n"),
                package="org.a",
            ),
        ),
    ),
)
