"""Cases of evaluators of what a phone's applications keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.phone import content
from evaluators.phone.content import CONTACTS, EMAILS, PHONES, TASKS
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
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
    """Let a provider have rows, numbered from 1."""

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
    """Leave no time to look."""

    def put(fixture: PhoneFixture) -> None:
        state(fixture)
        fixture.timeout_s = 0.0

    return put


def all_of(*states: State) -> State:
    """Put several states one after the other."""

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
    """Return the command that asks for a column."""
    return f"content query --uri {uri} --projection _id:{column}"


def prints(uri: str, column: str, output: str | int) -> State:
    """Let a provider of one row print something for a column."""

    def put(fixture: PhoneFixture) -> None:
        fixture.shell.answers[ids_of(uri)] = "Row: 0 _id=1\n"
        fixture.shell.answers[query(uri, column)] = output

    return put


def ids_of(uri: str) -> str:
    """Return the command that asks for the ids of rows."""
    return f"content query --uri {uri} --projection _id"


def unreadable(uri: str, column: str, /, **args: Json) -> tuple[Case, ...]:
    """Make the cases of a provider that does not answer as one."""
    ids = ids_of(uri)
    return (
        missing("no answer", nothing, **args).expect_error(),
        missing("it fails", prints(uri, column, 1), **args).expect_error(),
        missing("its ids fail", answers(ids, 1), **args).expect_error(),
        corrupt(
            "an error's words", prints(uri, column, "Error while accessing provider:x\n"), **args
        ).expect_error(),
        corrupt(
            "an error's words for ids", answers(ids, "Error while accessing provider:x\n"), **args
        ).expect_error(),
        corrupt(
            "ids out of order", answers(ids, "Row: 1 _id=1\nRow: 0 _id=2\n"), **args
        ).expect_error(),
        corrupt("an id twice", answers(ids, "Row: 0 _id=1\nRow: 1 _id=1\n"), **args).expect_error(),
        corrupt(
            "rows out of order", prints(uri, column, f"Row: 1 _id=1, {column}=a\n"), **args
        ).expect_error(),
        corrupt(
            "rows of another column", prints(uri, column, "Row: 0 _id=1, x=a\n"), **args
        ).expect_error(),
        hostile(
            "a row within a value, which is not there alone",
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
_CASE: dict[str, Any] = {"*prints other": "letter case of names of columns"}

TABLES = (
    CaseTable(
        content.task_listed,
        PhoneFixture,
        (
            positive("open", tasks(("Milk", "0")), **_MILK),
            positive("one open, one done", tasks(("Milk", "1"), (" Milk ", "0")), title="Milk "),
            negative("another", tasks(("Eggs", "0")), **_MILK),
            near_miss("done", tasks(("Milk", "1")), **_MILK),
            near_miss("longer", tasks(("Milk, eggs", "0")), **_MILK),
            near_miss("other case", tasks(("milk", "0")), **_MILK),
            empty("no tasks", none_in(TASKS, "title", "completed"), **_MILK),
            *ways(
                _MILK,
                {
                    "a row within another's title": tasks((row_within("title", "Milk"), "0")),
                    "a letter of another script": tasks(("Mi\u217ck", "0")),
                    "an invisible character": tasks(("Mi\u200blk", "0")),
                },
                {
                    "blanks around": tasks((" Milk\n", "0")),
                    "beside a title of two lines": tasks(
                        (row_within("title", "x"), "0"), ("Milk", "0")
                    ),
                    "one deleted meanwhile": all_of(
                        tasks((row_within("title", "x"), "0"), ("Milk", "0")),
                        gone_singly(TASKS, "title", 1),
                    ),
                },
            ),
            another_way("accents apart", tasks(("Cafe\u0301", "0")), title="Caf\u00e9"),
            another_way(
                "of two lines",
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
            positive("done", tasks(("Milk", "1"), ("Eggs", "0")), **_MILK),
            positive("two done", tasks(("Milk", "1"), ("Milk", "1")), **_MILK),
            negative("another", tasks(("Eggs", "1")), **_MILK),
            near_miss("open", tasks(("Milk", "0")), **_MILK),
            near_miss("one open", tasks(("Milk", "1"), ("Milk", "0")), **_MILK),
            near_miss("longer", tasks(("Milk, eggs", "1")), **_MILK),
            empty("no tasks", none_in(TASKS, "title", "completed"), **_MILK),
            *ways(
                _MILK,
                {
                    "a row within another's title": tasks((row_within("title", "Milk"), "1")),
                    "one with blanks around is open": tasks(("Milk", "1"), (" Milk ", "0")),
                    "an invisible character": tasks(("Mi\u200blk", "1")),
                },
                {
                    "blanks around": tasks((" Milk\n", "1")),
                    "beside a title of two lines": tasks(
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
            positive("by name", _FULL, **_ANN),
            positive("by all", _FULL, **_BOTH),
            positive("blanks around the address", _FULL, name="Ann", email=" A@X.org "),
            positive(
                "blanks around the phone's address",
                people({1: "Ann"}, {}, {8: ("1", " a@x.org ")}),
                name="Ann",
                email="a@x.org",
            ),
            positive("a name that ends so", people({1: "AleX"}), name="AleX"),
            positive(
                "other ends of lines",
                all_of(
                    answers(ids_of(CONTACTS), "Row: 0 _id=1\r\nRow: 1 _id=2\r\n"),
                    answers(
                        query(CONTACTS, "display_name"),
                        "Row: 0 _id=1, display_name=Ann\r\nRow: 1 _id=2, display_name=Bo\r\n",
                    ),
                ),
                **_ANN,
            ),
            near_miss("no name", people({1: "NULL"}), name="NULL"),
            corrupt(
                "an empty line before the rows",
                prints(CONTACTS, "display_name", "\nRow: 0 _id=1, display_name=Ann\n"),
                **_ANN,
            ).expect_error(),
            corrupt(
                "a contact twice",
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
                "words before the rows",
                prints(CONTACTS, "display_name", "Hm\nRow: 0 _id=1, display_name=Ann\n"),
                **_ANN,
            ).expect_error(),
            empty("nothing printed", answers(ids_of(CONTACTS), "\n"), **_ANN),
            hostile("no time left", late(_FULL), **_ANN).expect_error(),
            positive(
                "one of two of that name",
                people({1: "Ann", 3: "Ann "}, {5: ("3", "117")}),
                name="Ann",
                number="1 1 7",
            ),
            negative("another", people({2: "Bo"}), **_ANN),
            near_miss("longer", people({1: "Anna"}), **_ANN),
            near_miss("other case", people({1: "ann"}), **_ANN),
            near_miss("another's number", _FULL, name="Ann", number="117"),
            near_miss("no plus", _FULL, name="Ann", number="41 44 555"),
            near_miss(
                "another's address",
                people({1: "Ann", 2: "Bo"}, {}, {8: ("2", "a@x.org")}),
                name="Ann",
                email="a@x.org",
            ),
            near_miss(
                "number and address of two",
                people({1: "Ann", 3: "Ann"}, {5: ("1", "+4144555")}, {8: ("3", "a@x.org")}),
                **_BOTH,
            ),
            near_miss("another address", _FULL, name="Ann", email="b@x.org"),
            empty("no contacts", people({}), **_ANN),
            *ways(
                _ANN,
                {
                    "a row within another's name": people(
                        {1: row_within("display_name", "Ann", "Bo")}
                    ),
                    "a letter of another script": people({1: "\u0410nn"}),
                },
                {
                    "blanks around": people({1: "Ann "}),
                    "accents apart": people({1: "Ann"}),
                },
            ),
            *ways(
                {"name": "Ann", "number": "+41 44 555"},
                {
                    "the number of a row within another's": people(
                        {1: "Ann"}, {5: ("1", row_within("data1", "+41 44 555", "1"))}
                    ),
                    "a number with letters": people({1: "Ann"}, {5: ("1", "+41 44 555 x")}),
                    "in the name only": people(
                        {1: "Ann", 2: "+41 44 555"}, {5: ("2", "+41 44 555")}
                    ),
                },
                {
                    "00 for the plus": people({1: "Ann"}, {5: ("1", "0041 44 555")}),
                    "copied from another application": people({1: "Ann"}, {5: ("1", MARKED)}),
                    "wide digits": people({1: "Ann"}, {5: ("1", "+41 44 \uff15\uff15\uff15")}),
                },
            ),
            *unreadable(CONTACTS, "display_name", **_ANN),
        ),
        equivalent={
            "*data/phon*": "no number is asked for, or what is cut off is another's",
            "*data/emai*": "no address is asked for, or what is cut off is another's",
            "*contacts/contacts *: prints less": "what is cut off is another's",
            "blanks around the address: args.email: cut": "a blank at the end does not count",
            "*: args.number: empty": "any number",
            "*: args.email: empty": "any address",
            "*: args.email: swap case": "letter case of addresses does not count",
            "by name: *phones*": "numbers do not count",
            "by name: *emails*": "addresses do not count",
            "one of two*emails*": "addresses do not count",
        },
    ),
    CaseTable(
        content.setting_equals,
        PhoneFixture,
        (
            positive("equal", answers(_GET, "Lab\n"), **_SETTING),
            negative("another", answers(_GET, "Home\n"), **_SETTING),
            near_miss("a letter more", answers(_GET, "LabX\n"), **_SETTING),
            near_miss("longer", answers(_GET, "Lab 2\n"), **_SETTING),
            near_miss("other case", answers(_GET, "lab\n"), **_SETTING),
            near_miss("not set", answers(_GET, "null\n"), **{**_SETTING, "value": "null"}),
            near_miss(
                "another table", answers("settings get system device_name", "Lab\n"), **_SETTING
            ).expect_error(),
            empty("an empty value", answers(_GET, "\n"), **_SETTING),
            missing("it fails", answers(_GET, 1), **_SETTING).expect_error(),
            corrupt("bytes", answers(_GET, "Lab\0\n"), **_SETTING),
            *ways(
                _SETTING,
                {
                    "a letter of another script": answers(_GET, f"L{CYRILLIC_A}b\n"),
                    "in quotes": answers(_GET, '"Lab"\n'),
                    "a line that reads so": answers(_GET, "x\nLab\n"),
                },
                {
                    "lines that end otherwise": answers(_GET, "Lab\r\n"),
                    "without an end of line": answers(_GET, "Lab"),
                },
            ),
            another_way(
                "a number as a fraction", answers(_GET, "1.0\n"), **{**_SETTING, "value": "1"}
            ),
            another_way(
                "a fraction as a number", answers(_GET, "1\n"), **{**_SETTING, "value": "1.00"}
            ),
            near_miss("another number", answers(_GET, "1.1\n"), **{**_SETTING, "value": "1"}),
            near_miss("no number", answers(_GET, "Home\n"), **{**_SETTING, "value": "x"}),
            hostile("further lines", answers(_GET, "Lab\nLab\n"), **_SETTING),
        ),
    ),
    CaseTable(
        content.content_row_exists,
        PhoneFixture,
        (
            positive(
                "a row",
                rows(SMS, {"address": "1", "body": "x"}, {"address": "555", "body": "Hi"}),
                **_WHERE,
            ),
            positive(
                "a value with commas",
                rows(SMS, {"body": "a, body=b"}),
                uri=SMS,
                where={"body": "a, body=b"},
            ),
            negative("another", rows(SMS, {"address": "1", "body": "x"}), **_WHERE),
            near_miss(
                "values of two rows",
                rows(SMS, {"address": "555", "body": "x"}, {"address": "1", "body": "Hi"}),
                **_WHERE,
            ),
            near_miss("longer", rows(SMS, {"address": "5551", "body": "Hi"}), **_WHERE),
            near_miss("no columns asked for", rows(SMS, {"address": "555"}), uri=SMS, where={}),
            empty("no rows", none_in(SMS, "address", "body"), **_WHERE),
            *ways(
                {"uri": SMS, "where": {"body": "Hi"}},
                {
                    "a row within a text": rows(SMS, {"body": row_within("body", "Hi")}),
                    "an invisible character": rows(SMS, {"body": "H\u200bi"}),
                },
                {
                    "beside a text that looks like a row": rows(
                        SMS, {"body": row_within("body", "x")}, {"body": "Hi"}
                    ),
                    "many": rows(SMS, *[{"body": "x"}] * 300, {"body": "Hi"}),
                },
            ),
            another_way(
                "nothing for NULL", rows(SMS, {"body": "NULL"}), uri=SMS, where={"body": ""}
            ),
            hostile(
                "a row within a text, of more than are read one by one",
                rows(SMS, *[{"body": row_within("body", "Hi")}] * 201),
                uri=SMS,
                where={"body": "Hi"},
            ).expect_error(),
            hostile(
                "a row within a text, of as many as are read one by one",
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
                "two",
                rows(SMS, *[{"address": "555", "body": "Hi"}] * 2, {"address": "1", "body": "Hi"}),
                **_COUNT,
            ),
            positive(
                "none of that kind",
                rows(SMS, {"address": "1", "body": "x"}),
                **{**_COUNT, "count": 0},
            ),
            negative("none", rows(SMS, {"address": "1", "body": "x"}), **_COUNT),
            near_miss("one", rows(SMS, {"address": "555", "body": "Hi"}), **_COUNT),
            near_miss("three", rows(SMS, *[{"address": "555", "body": "Hi"}] * 3), **_COUNT),
            near_miss(
                "no columns asked for", rows(SMS, {"address": "555"}), uri=SMS, where={}, count=0
            ),
            empty("no rows", none_in(SMS, "address", "body"), **_COUNT),
            *ways(
                {"uri": SMS, "where": {"body": "Hi"}, "count": 2},
                {
                    "one within a text": rows(
                        SMS, {"body": "Hi"}, {"body": row_within("body", "Hi")}
                    ),
                    "one in two lines": rows(SMS, {"body": "Hi"}, {"body": "Hi\nHi"}),
                },
                {
                    "beside a text that looks like a third": rows(
                        SMS, {"body": "Hi"}, {"body": "Hi"}, {"body": row_within("body", "Hi")}
                    ),
                    "beside others": rows(SMS, {"body": "Hi"}, {"body": "x"}, {"body": "Hi"}),
                },
            ),
            *unreadable(SMS, "address", **_COUNT),
        ),
        equivalent={"none of that kind: content query*": "there are still none of that kind"},
    ),
    CaseTable(
        content.package_installed,
        PhoneFixture,
        (
            positive(
                "installed", answers(_PACKAGES, "package:org.b\npackage:org.a\r\n"), package="org.a"
            ),
            negative("another", answers(_PACKAGES, "package:org.b\n"), package="org.a"),
            near_miss("longer", answers(_PACKAGES, "package:org.a.b\n"), package="org.a"),
            near_miss("shorter", answers(_PACKAGES, "package:org\n"), package="org.a"),
            near_miss("no name asked for", answers(_PACKAGES, "package:org.a\n"), package=""),
            empty("none", answers(_PACKAGES, ""), package="org.a"),
            missing("it fails", answers(_PACKAGES, 1), package="org.a").expect_error(),
            corrupt("other words", answers(_PACKAGES, "org.a\n"), package="org.a"),
            *ways(
                {"package": "org.a"},
                {
                    "another one of that title": answers(_PACKAGES, "package:org.a.copy\n"),
                    "a letter of another script": answers(_PACKAGES, f"package:org.{CYRILLIC_A}\n"),
                    "in another letter case": answers(_PACKAGES, "package:org.A\n"),
                },
                {
                    "by an application's installer": answers(
                        _PACKAGES, "package:org.a\npackage:org.a.installer\n"
                    ),
                    "lines that end otherwise": answers(_PACKAGES, "package:org.a\r\n"),
                },
            ),
            hostile(
                "within a line", answers(_PACKAGES, "package:x package:org.a\n"), package="org.a"
            ),
        ),
    ),
)
