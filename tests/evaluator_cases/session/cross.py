"""Cases of the evaluators that compare values of several machines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.session import cross
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
from evaluators.world.records import Page
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.invoice_pictures import forged_pages, honest_pages, invoice
from tests.evaluator_cases.sheet_books import formatted, xlsx

if TYPE_CHECKING:
    from evaluators.pictures import Pixels
    from evaluators.testing.case import State

FILE: dict[str, Any] = {"read": "file", "on": "desktop", "path": "~/a.txt"}
CONTACT: dict[str, Any] = {"read": "contact", "on": "phone", "name": "Ann", "field": "number"}
EMAIL: dict[str, Any] = {**CONTACT, "field": "email"}
SETTING: dict[str, Any] = {
    "read": "setting",
    "on": "phone",
    "namespace": "global",
    "key": "device_name",
}
GSETTING: dict[str, Any] = {"read": "gsetting", "on": "desktop", "name": "org.gnome.x key"}
CELL: dict[str, Any] = {"read": "cell", "on": "desktop", "path": "~/a.xlsx", "cell": "B2"}
ROW: dict[str, Any] = {
    "read": "content", "on": "phone", "uri": "content://sms", "column": "body",
    "where": "address", "equals": "555",
}  # fmt: skip
SHOWN: dict[str, Any] = {"read": "ui", "on": "phone", "package": "org.a", "resource_id": "title"}
ANSWER: dict[str, Any] = {"read": "answer"}
NUMBER: dict[str, Any] = {"left": FILE, "right": CONTACT, "way": "digits"}
NAME: dict[str, Any] = {"left": GSETTING, "right": SETTING}
URL = "https://news.example/rates"
PAGE: dict[str, Any] = {"read": "page", "on": "world", "url": URL, "element": "eur"}
RATE: dict[str, Any] = {"left": PAGE, "right": ANSWER, "way": "number"}


def rate(html: str, answer: str | None, url: str = URL) -> State:
    """Let a world's site show a page, and submit an answer."""

    def prepare(session: SessionFixture) -> None:
        session.world.pages[url] = Page(200, f"<html><body>{html}</body></html>")
        session.answer = answer

    return prepare


def state(  # noqa: C901, PLR0913 - what each part of a session holds
    file: str | bytes | None = None,
    *,
    people: dict[int, str] | None = None,
    numbers: dict[int, tuple[str, str]] | None = None,
    emails: dict[int, tuple[str, str]] | None = None,
    name: str | None = None,
    gsetting: str | None = None,
    answer: str | None = None,
    shown: str = "",
    sms: dict[int, tuple[str, str]] | None = None,
    cells: dict[str, Any] | None = None,
    results: dict[str, float | str] | None = None,
    hidden: dict[str, Any] | None = None,
    look: str = "",
    has_gsettings: bool = True,
) -> State:
    """Put values at the locations declared above."""

    def put(fixture: SessionFixture) -> None:
        if file is not None:
            fixture.desktop.write("~/a.txt", file)
        shell = fixture.shell
        if people is not None:
            shell.put(cross.CONTACTS, "display_name", people)
        for uri, rows in ((cross.PHONES, numbers), (cross.EMAILS, emails)):
            if rows is not None:
                shell.put(uri, "contact_id", {row: owner for row, (owner, _) in rows.items()})
                shell.put(uri, "data1", {row: value for row, (_, value) in rows.items()})
        if sms is not None:
            shell.put(
                "content://sms", "address", {row: address for row, (address, _) in sms.items()}
            )
            shell.put("content://sms", "body", {row: two for row, (_, two) in sms.items()})
        if name is not None:
            shell.answers["settings get global device_name"] = f"{name}\n"
        if gsetting is not None:
            fixture.settings["org.gnome.x key"] = gsetting
        fixture.has_gsettings = has_gsettings
        if shown:
            shell.show(f'text="{shown}" resource-id="org.a:id/title" package="org.a"')
        if cells is not None:
            fixture.desktop.write("~/a.xlsx", xlsx(cells, results, _change_of(hidden, look))())
        fixture.answer = answer

    return put


def _change_of(hidden: dict[str, Any] | None, look: str) -> Any:
    """Return what changes a workbook: a hidden first sheet, or a number format of B2."""
    if look:
        return formatted(B2={"number_format": look})
    return None if hidden is None else partial(_put_hidden_first, cells=hidden)


def _put_hidden_first(book: Any, cells: dict[str, Any]) -> None:
    """Insert a hidden sheet ``Old`` before the others."""
    sheet = book.create_sheet("Old", 0)
    for place, value in cells.items():
        sheet[place] = value
    sheet.sheet_state = "hidden"
    book.active = 1


def _ann(*numbers: str, file: str | bytes = "+41 44 555 01 73\n") -> State:
    rows = {10 + place: ("1", number) for place, number in enumerate(numbers)}
    return state(file, people={1: "Ann", 2: "Bo"}, numbers={**rows, 20: ("2", "555-0199")})


CAT = file_builders.noise(1)
_FILES: dict[str, Any] = {
    "left_on": "desktop",
    "left": "~/a.pdf",
    "right_on": "phone",
    "right": "/sdcard/a.pdf",
}
_PICTURES: dict[str, Any] = {
    "left_on": "desktop",
    "left": "~/a.png",
    "right_on": "phone",
    "right": "/sdcard/a.png",
}
_LINES: dict[str, Any] = {"value": SETTING, "file": FILE}


def both(left: bytes | None, right: bytes | None, name: str = "a.pdf") -> State:
    """Put a file on each machine; None omits it."""

    def put(fixture: SessionFixture) -> None:
        if left is not None:
            fixture.desktop.write(f"~/{name}", left)
        if right is not None:
            fixture.phone_files.write(f"/sdcard/{name}", right)

    return put


def _linked(fixture: SessionFixture) -> None:
    both(None, b"%PDF x")(fixture)
    fixture.desktop.write("/srv/a.pdf", b"%PDF x")
    fixture.desktop.link("~/a.pdf", "/srv/a.pdf")


def _huge(fixture: SessionFixture) -> None:
    fixture.desktop.huge("~/a.pdf")
    fixture.phone_files.huge("/sdcard/a.pdf")


def _picture(left: Pixels, right: Pixels, form: str = "PNG") -> State:
    return both(file_builders.encoded(left), file_builders.encoded(right, form), "a.png")


_BYTES: dict[str, Any] = {"*flip a byte": "single pixels are ignored",
          "*prints other": "only the letter case of ignored parts changes"}  # fmt: skip

TABLES = (
    CaseTable(
        cross.values_equal,
        SessionFixture,
        (
            positive("file and phone number of a contact", _ann("+41445550173"), **NUMBER),
            positive("second phone number", _ann("117", "+41 (44) 555-01-73"), **NUMBER),
            positive(
                "line of a file and e-mail address of a contact",
                state(
                    "x\nann@example.org\ny",
                    people={1: " Ann "},
                    emails={5: ("1", "Ann@Example.org")},
                ),
                left={**FILE, "line": 2},
                right=EMAIL,
                way="normal",
            ),
            positive("page of a world and answer", rate('<b id="eur">1.05</b>', "1.05"), **RATE),
            negative("other value on the page", rate('<b id="eur">1.06</b>', "1.05"), **RATE),
            near_miss("other element of the page", rate('<b id="usd">1.05</b>', "1.05"), **RATE),
            missing("no such page of a world", rate("1.05", "1.05", f"{URL}2"), **RATE),
            forged(
                "two values on the page",
                rate('<b id="eur">1.05</b><b id="eur">1</b>', "1.05"),
                **RATE,
            ),
            another_way("page with more digits", rate('<b id="eur">1.050</b>', "1.05"), **RATE),
            positive("two settings", state(name="Lab", gsetting="'Lab'"), **NAME),
            positive("number in a setting", state(name="150", gsetting="150"), **NAME),
            positive("quote in a setting", state(name="'", gsetting='"\'"'), **NAME),
            positive(
                "name with surrounding spaces",
                _ann("+41445550173"),
                left=FILE,
                right={**CONTACT, "name": " Ann "},
                way="digits",
            ),
            positive(
                "cell and answer",
                state(cells={"B2": 42}, answer="42.0"),
                left=CELL,
                right=ANSWER,
                way="number",
            ),
            positive(
                "decimal number in a cell",
                state(cells={"B2": 2.5}, answer="2.5"),
                left=CELL,
                right=ANSWER,
            ),
            positive(
                "named sheet",
                state(cells={"B2": "x"}, answer="x"),
                left={**CELL, "sheet": "Data"},
                right=ANSWER,
            ),
            positive(
                "message and screen",
                state(sms={1: ("556", "no"), 2: ("555", "Hello")}, shown="Hello"),
                left=ROW,
                right=SHOWN,
            ),
            positive(
                "the queried column itself",
                state(sms={1: ("555", "x")}, answer="555"),
                left={**ROW, "column": "address"},
                right=ANSWER,
            ),
            another_way(
                "cell and answer with a Unicode minus sign",
                state(cells={"B2": -0.5}, answer="\u2212.5"),
                left=CELL,
                right=ANSWER,
                way="number",
            ),
            another_way(
                "CRLF line ends",
                state("Lab\r\n", name="Lab"),
                left=FILE,
                right=SETTING,
            ),
            another_way(
                "phone number in groups",
                _ann("+41 44 555 01 73", file="+41445550173\n"),
                **NUMBER,
            ),
            forged(
                "letter from a different script", state(name="L\u0430b", gsetting="'Lab'"), **NAME
            ),
            forged(
                "value within a longer text",
                state("Lab Office", name="Lab"),
                left=FILE,
                right=SETTING,
            ),
            *(
                forged(name, made, left=CELL, right=ANSWER)
                for name, made in {
                    "stored result of a formula over empty cells": state(
                        cells={"B2": "=SUM(E2:E6)"}, results={"B2": 42}, answer="42"
                    ),
                    "number shown as another": state(cells={"B2": 42}, look='"7"', answer="42"),
                    "another shown as it": state(cells={"B2": 7}, look='"42"', answer="42"),
                }.items()
            ),
            another_way(
                "date, in ISO notation",
                state(cells={"B2": "=DATE(2026,11,21)"}, answer="2026-11-21"),
                left=CELL,
                right=ANSWER,
            ),
            another_way(
                "calculated result",
                state(
                    cells={"B2": "=SUM(C1:C2)", "C1": 40, "C2": 2}, results={"B2": 42}, answer="42"
                ),
                left=CELL,
                right=ANSWER,
            ),
            forged(
                "value on a hidden first sheet",
                state(cells={"B2": 7}, hidden={"B2": 42}, answer="42"),
                left=CELL,
                right=ANSWER,
            ),
            another_way(
                "value on the first visible sheet",
                state(cells={"B2": 42}, hidden={"B2": 7}, answer="42"),
                left=CELL,
                right=ANSWER,
            ),
            forged(
                "contact with a similar name",
                state("117", people={1: "Anna"}, numbers={1: ("1", "117")}),
                **NUMBER,
            ),
            forged("neither value exists", state(name="null", gsetting="''"), **NAME),
            forged(
                "answer over the length limit",
                state("x" * 4001, answer="x" * 4001),
                left=FILE,
                right=ANSWER,
            ),
            negative("different values", state(name="Lab", gsetting="'Other'"), **NAME),
            near_miss("different letter case", state(name="lab", gsetting="'Lab'"), **NAME),
            near_miss("longer value", state(name="Lab 2", gsetting="'Lab'"), **NAME),
            near_miss("number of a different contact", _ann("117", file="5550199"), **NUMBER),
            near_miss("number without the plus sign", _ann("41445550173"), **NUMBER),
            near_miss("one missing digit", _ann("+4144555017"), **NUMBER),
            near_miss(
                "different line",
                state("Lab\nx", name="Lab"),
                left={**FILE, "line": 2},
                right=SETTING,
            ),
            near_miss(
                "missing line", state("Lab", name="Lab"), left={**FILE, "line": 2}, right=SETTING
            ),
            near_miss(
                "different message",
                state(sms={1: ("555", "no"), 2: ("556", "Hello")}, shown="Hello"),
                left=ROW,
                right=SHOWN,
            ),
            near_miss(
                "cell of a different sheet",
                state(cells={"B2": "x"}, answer="x"),
                left={**CELL, "sheet": "More"},
                right=ANSWER,
            ),
            near_miss(
                "empty cell",
                state(cells={"B1": "x"}, answer="x"),
                left=CELL,
                right=ANSWER,
            ),
            near_miss(
                "words instead of a number",
                state("forty", answer="forty"),
                left=FILE,
                right=ANSWER,
                way="number",
            ),
            near_miss("no digits", state("-", answer="-"), left=FILE, right=ANSWER, way="digits"),
            missing(
                "no file",
                _ann("117"),
                left={**FILE, "path": "~/b.txt"},
                right=CONTACT,
                way="digits",
            ),
            missing("no contact", state("117", people={1: "Bo"}), **NUMBER),
            missing("no answer submitted", state("x"), left=FILE, right=ANSWER),
            missing("setting not set", state(name="null", gsetting="'null'"), **NAME),
            missing("missing key", state(name="Lab"), **NAME).expect_error(),
            missing(
                "gsettings missing", state(name="Lab", has_gsettings=False), **NAME
            ).expect_error(),
            missing(
                "unknown role", state("x"), left={**FILE, "on": "tablet"}, right=ANSWER
            ).expect_error(),
            missing(
                "desktop used as a phone",
                state("x"),
                left=FILE,
                right={**SETTING, "on": "desktop"},
            ).expect_error(),
            empty("empty setting", state(name="''", gsetting="''"), **NAME),
            corrupt("truncated setting", state(name="'", gsetting="'"), **NAME).expect_met(),
            empty("both empty", state("", answer=""), left=FILE, right=ANSWER),
            empty(
                "both only white space",
                state(" \n", answer=" "),
                left=FILE,
                right=ANSWER,
                way="normal",
            ),
            corrupt(
                "not UTF-8", state(b"\xff\xfe", answer="\ufffd\ufffd"), left=FILE, right=ANSWER
            ),
            corrupt(
                "corrupt workbook",
                lambda b: (b.desktop.write("~/a.xlsx", b"PK"), b.answered("1")),
                left=CELL,
                right=ANSWER,
            ),
            hostile(
                "file over the size limit",
                lambda b: (
                    b.desktop.write("~/a.txt", b"1" * (2 << 20)),
                    b.answered("1" * (2 << 20)),
                ),
                left=FILE,
                right=ANSWER,
            ),
        ),
        equivalent={
            **_BYTES,
            "cell and answer: answer: cut": "a trailing point is ignored",
        },
    ),
    CaseTable(
        cross.value_among_lines,
        SessionFixture,
        (
            positive("one of three lines", state("x\nLab\ny", name="Lab"), **_LINES),
            positive(
                "line number ignored",
                state("x\n Lab ", name="Lab"),
                **{**_LINES, "file": {**FILE, "line": 1}},
            ),
            positive("submitted answer", state("x\nLab", answer="Lab"), value=ANSWER, file=FILE),
            positive("different letter case", state("x\nLAB", name="Lab"), **_LINES, way="normal"),
            another_way("CRLF line ends", state("x\r\nLab\r\n", name="Lab"), **_LINES),
            another_way(
                "equal as a number", state("x\n+12.50", name="12.5"), **_LINES, way="number"
            ),
            forged("letter from a different script", state("x\nL\u0430b", name="Lab"), **_LINES),
            forged(
                "stored result of a formula over empty cells",
                state("42\n7", cells={"B2": "=SUM(E2:E6)"}, results={"B2": 42}),
                value=CELL,
                file=FILE,
            ),
            forged("all values on one line", state("Lab, Office, Home", name="Lab"), **_LINES),
            negative("missing line", state("x\ny", name="Lab"), **_LINES),
            near_miss("part of a line", state("x\nLab 2", name="Lab"), **_LINES),
            near_miss("split over two lines", state("La\nb", name="Lab"), **_LINES),
            near_miss(
                "different letter case with exact comparison", state("LAB", name="Lab"), **_LINES
            ),
            missing("no file", state(name="Lab"), **_LINES),
            missing("value not set", state("null", name="null"), **_LINES),
            empty("empty file and empty value", state("\n", name=""), **_LINES),
            corrupt("not UTF-8", state(b"Lab\n\xff", name="Lab"), **_LINES),
            hostile(
                "huge file", lambda b: (state(name="Lab")(b), b.desktop.huge("~/a.txt")), **_LINES
            ),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        cross.files_equal,
        SessionFixture,
        (
            positive("equal content", both(b"%PDF x", b"%PDF x"), **_FILES),
            another_way("one byte", both(b"x", b"x"), **_FILES),
            another_way("one mebibyte", both(b"x" * (1 << 20), b"x" * (1 << 20)), **_FILES),
            forged("same size, different content", both(b"%PDF x", b"%PDF y"), **_FILES),
            forged("same beginning", both(b"%PDF x", b"%PDF x" + bytes(9)), **_FILES),
            negative("different values", both(b"%PDF x", b"hello"), **_FILES),
            near_miss("additional byte", both(b"%PDF x", b"%PDF x\n"), **_FILES),
            near_miss("only on one machine", both(b"%PDF x", None), **_FILES),
            missing("no files", nothing, **_FILES),
            missing(
                "unknown role", both(b"x", b"x"), **{**_FILES, "right_on": "tablet"}
            ).expect_error(),
            empty("both empty", both(b"", b""), **_FILES),
            corrupt("truncated", both(b"%PDF x", b"%PD"), **_FILES),
            hostile("link to the file", _linked, **_FILES),
            hostile("both over the size limit", _huge, **_FILES),
        ),
    ),
    CaseTable(
        cross.pictures_equal,
        SessionFixture,
        (
            positive("same picture", _picture(CAT, CAT), **_PICTURES),
            positive(
                "scaled JPEG", _picture(CAT, file_builders.scaled(CAT, 80, 60), "JPEG"), **_PICTURES
            ),
            another_way("as BMP", _picture(CAT, CAT, "BMP"), **_PICTURES),
            another_way(
                "scaled up", _picture(CAT, file_builders.scaled(CAT, 320, 240)), **_PICTURES
            ),
            forged(
                "single colour with the same mean",
                _picture(CAT, np.full_like(CAT, int(CAT.mean()))),
                **_PICTURES,
            ),
            forged(
                "rotated by 180 degrees",
                _picture(CAT, np.ascontiguousarray(CAT[::-1])),
                **_PICTURES,
            ),
            *(
                forged(f"invoice: {name}", _picture(invoice(), page), **_PICTURES)
                for name, page in forged_pages().items()
            ),
            *(
                another_way(f"invoice: {name}", _picture(page, invoice(), "JPEG"), **_PICTURES)
                for name, page in honest_pages().items()
            ),
            negative("different picture", _picture(CAT, file_builders.noise(2)), **_PICTURES),
            near_miss("mirrored", _picture(CAT, np.ascontiguousarray(CAT[:, ::-1])), **_PICTURES),
            near_miss("cropped", _picture(CAT, CAT[:, :120]), **_PICTURES),
            missing("no files", nothing, **_PICTURES),
            missing(
                "only on the desktop", both(file_builders.encoded(CAT), None, "a.png"), **_PICTURES
            ),
            missing(
                "only on the phone", both(None, file_builders.encoded(CAT), "a.png"), **_PICTURES
            ),
            empty("both empty", both(b"", b"", "a.png"), **_PICTURES),
            corrupt(
                "both truncated",
                both(file_builders.encoded(CAT)[:99], file_builders.encoded(CAT)[:99], "a.png"),
                **_PICTURES,
            ),
            hostile("same text instead of pictures", both(b"cat", b"cat", "a.png"), **_PICTURES),
        ),
        equivalent=_BYTES,
    ),
)
