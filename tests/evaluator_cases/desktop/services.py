"""Cases of evaluators of services: HTTP, mail, calendars and address books."""

from __future__ import annotations

from evaluators.desktop import dav, mail, web
from evaluators.testing.case import (
    CaseTable,
    State,
    corrupt,
    empty,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from tests.evaluator_cases.desktop_ways import dav as dav_ways
from tests.evaluator_cases.desktop_ways import mail as mail_ways
from tests.evaluator_cases.desktop_ways import web as web_ways
from tests.evaluator_cases.servers import MailFixture, WebFixture

URL = "http://localhost:{port}/a?b=c"
CLOSED = "http://127.0.0.1:1/"
MAIL = "imap://ann:p%40ss@localhost:{port}"
CALENDAR = "http://ann:p%40ss@localhost:{port}/cal/"
PEOPLE = "http://ann:p%40ss@localhost:{port}/people/"
FROM_EVE = ("From: eve@mail.test", "To: ann@mail.test")
TO_TWO = ("From: ann@mail.test", "To: Bob <Bob@mail.test>", "Cc: eve@mail.test")


def _page(body: str | bytes, status: int = 200, path: str = "/a?b=c") -> State:
    return lambda b: b.page(path, body, status)


def _raw(data: bytes) -> State:
    return lambda b: setattr(b, "raw", data)


def _mail(subject: str, text: str = "", **kept: object) -> State:
    return lambda b: b.mail(subject, text, **kept)


def _event(*lines: str, name: str = "VEVENT") -> str:
    rows = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"BEGIN:{name}",
        "UID:1",
        *lines,
        f"END:{name}",
        "END:VCALENDAR",
        "",
    )
    return "\r\n".join(rows)


def _calendar(*texts: str) -> State:
    return lambda b: b.collection("/cal/", "calendar", *texts)


def _card(*lines: str) -> str:
    return "\r\n".join(("BEGIN:VCARD", "VERSION:3.0", *lines, "END:VCARD", ""))


def _people(*texts: str) -> State:
    return lambda b: b.collection("/people/", "people", *texts)


def _report(body: str, status: int = 207, path: str = "/cal/") -> State:
    return lambda b: b.page(path, body, status, "REPORT")


DENTIST = _event(
    "SUMMARY:Dentist",
    "DTSTART;TZID=Europe/Zurich:20261124T093000",
    "DTEND;TZID=Europe/Zurich:20261124T100000",
    "LOCATION:Bahnhofstr. 1\\, Zürich",
    "BEGIN:VALARM",
    "SUMMARY:alarm",
    "END:VALARM",
)
DAY = _event("SUMMARY:Fair", "DTSTART;VALUE=DATE:20261124", "DTEND;VALUE=DATE:20261126")
UTC = _event("SUMMARY:Call", "DTSTART:20261124T083000Z")
FLOATING = _event("SUMMARY:Run", "DTSTART:20261124T070000")
BOB = _card(
    "FN:Bob Ray",
    "N:Ray;Bob;;;",
    "EMAIL;TYPE=HOME:bob@mail.test",
    "item1.TEL;TYPE=CELL:+41 (44) 123-45-67",
    "TEL:tel:+1555",
)
NINE = {"calendar": CALENDAR, "summary": "Dentist", "start": "2026-11-24T09:30"}

WEB = (
    CaseTable(
        web.http_status_is,
        WebFixture,
        (
            positive("there", _page("x"), url=URL, status=200),
            positive("made", _page("", 201), url=URL, status=201),
            positive("no path", _page("x", path="/"), url="http://localhost:{port}", status=200),
            corrupt(
                "another scheme", _page("x"), url=URL.replace("http", "ftp"), status=200
            ).expect_error(),
            corrupt(
                "TLS asked of a server without",
                _page("x"),
                url=URL.replace("http", "https"),
                status=200,
            ).expect_error(),
            negative("another", _page("x", 500), url=URL, status=200),
            near_miss("a redirect is not followed", _page("x", 302), url=URL, status=200),
            near_miss("on another path", _page("x", path="/a"), url=URL, status=200),
            corrupt("no HTTP", _raw(b"220 ftp ready\r\n"), url=URL, status=200).expect_error(),
            corrupt(
                "no address of HTTP", nothing, url="file:///etc/hostname", status=200
            ).expect_error(),
            corrupt("no host", nothing, url="http:///a", status=200).expect_error(),
            missing("no such page", nothing, url=URL, status=200),
            missing("nobody listens", nothing, url=CLOSED, status=200),
            empty("an empty answer", _raw(b"\r\n\r\n"), url=URL, status=200).expect_error(),
            hostile(
                "an endless head",
                _raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000),
                url=URL,
                status=200,
            ).expect_error(),
            *web_ways.status_cases(),
        ),
        equivalent={
            "*: server: empty": "the body does not count",
            "*: server: cut": "the body does not count",
            "*: server: other": "the body does not count",
        },
    ),
    CaseTable(
        web.http_text_equals,
        WebFixture,
        (
            positive("the text", _page("Zürich\n"), url=URL, text=" Zürich"),
            negative("another", _page("Bern"), url=URL, text="Zürich"),
            near_miss("more", _page("Zürich HB"), url=URL, text="Zürich"),
            near_miss("in an error", _page("Zürich", 404), url=URL, text="Zürich"),
            near_miss("another success", _page("Zürich", 201), url=URL, text="Zürich"),
            corrupt("no UTF-8", _page("Zürich".encode("latin-1")), url=URL, text="Zürich"),
            missing("no such page", nothing, url=URL, text="not there"),
            empty("empty", _page(""), url=URL, text="x"),
            hostile("huge", _page(b"x" * ((1 << 22) + 1)), url=URL, text=""),
            hostile(
                "as large as is read", _page(b"x" * (1 << 22)), url=URL, text="x" * (1 << 22)
            ).expect_met(),
            *web_ways.text_cases(),
        ),
        equivalent={},
    ),
    CaseTable(
        web.http_json_equals,
        WebFixture,
        (
            positive(
                "a value",
                _page('{"items": [{"name": "Milk"}]}'),
                url=URL,
                pointer="/items/0/name",
                value="Milk",
            ),
            negative(
                "another", _page('{"items": []}'), url=URL, pointer="/items/0/name", value="Milk"
            ),
            near_miss("a text for a number", _page('{"n": "1"}'), url=URL, pointer="/n", value=1),
            near_miss("in an error", _page('{"n": 1}', 500), url=URL, pointer="/n", value=1),
            corrupt("no JSON", _page("{n: 1}"), url=URL, pointer="/n", value=1),
            missing("no such page", nothing, url=URL, pointer="", value=None),
            empty("empty", _page(""), url=URL, pointer="", value=None),
            hostile("a key twice", _page('{"n": 2, "n": 1}'), url=URL, pointer="/n", value=1),
            hostile("deep", _page("[" * 100_000), url=URL, pointer="", value=None),
            *web_ways.json_cases(),
        ),
        equivalent={},
    ),
)

MAILS = (
    CaseTable(
        mail.mail_in_folder,
        MailFixture,
        (
            positive(
                "there",
                _mail("Lunch", "At noon?\r\n"),
                account=MAIL,
                folder="INBOX",
                subject=" Lunch",
            ),
            positive(
                "words and blanks",
                _mail("Lunch at  noon", "Yes.\r\n"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch at noon",
                text=" Yes.\n",
            ),
            positive(
                "a folder with a quote and a backslash",
                _mail("Lunch", folder='a "b" \\ c'),
                account=MAIL,
                folder='a "b" \\ c',
                subject="Lunch",
            ),
            corrupt(
                "another scheme",
                _mail("Lunch"),
                account=MAIL.replace("imap", "http"),
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            corrupt(
                "TLS asked of a server without",
                _mail("Lunch"),
                account=MAIL.replace("imap", "imaps"),
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            positive(
                "sender and text",
                lambda b: (b.mail("x"), b.mail("Lunch", "At noon?\r\nBob\r\n")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="BOB@mail.test",
                text="At noon?\nBob",
            ),
            positive(
                "an encoded subject",
                _mail("=?utf-8?q?Z=C3=BCrich?=", folder='S "1"'),
                account=MAIL,
                folder='S "1"',
                subject="Zürich",
            ),
            negative("another", _mail("Dinner"), account=MAIL, folder="INBOX", subject="Lunch"),
            near_miss(
                "an answer to it", _mail("Re: Lunch"), account=MAIL, folder="INBOX", subject="Lunch"
            ),
            near_miss(
                "in another folder",
                _mail("Lunch", folder="Drafts"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            near_miss(
                "from another",
                _mail("Lunch", head=FROM_EVE),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="bob@mail.test",
            ),
            near_miss(
                "an address in the name",
                _mail("Lunch", head=('From: "bob@mail.test" <eve@mail.test>',)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="bob@mail.test",
            ),
            near_miss(
                "more text",
                _mail("Lunch", "At noon? No."),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="At noon?",
            ),
            corrupt(
                "no message",
                lambda b: b.folders.update(INBOX=[("", b"\xff\0\xfe")]),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            corrupt(
                "an unknown character set",
                lambda b: b.folders.update(
                    INBOX=[
                        (
                            "",
                            b"Subject: Lunch\r\nContent-Type: text/plain; charset=none\r\n\r\nx\xff",
                        )
                    ]
                ),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="x",
            ),
            corrupt(
                "no address of IMAP",
                nothing,
                account="http://localhost",
                folder="INBOX",
                subject="x",
            ).expect_error(),
            corrupt(
                "no host", nothing, account="imap:INBOX", folder="INBOX", subject="x"
            ).expect_error(),
            corrupt(
                "another password",
                _mail("Lunch"),
                account="imap://ann:x@localhost:{port}",
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            missing("no such folder", nothing, account=MAIL, folder="Sent", subject="Lunch"),
            missing(
                "nobody listens",
                nothing,
                account="imap://ann:x@127.0.0.1:1",
                folder="INBOX",
                subject="x",
            ).expect_error(),
            empty("no messages", nothing, account=MAIL, folder="INBOX", subject=""),
            empty(
                "only a file, no text",
                lambda b: b.folders.update(
                    INBOX=[("", b"Subject: Lunch\r\nContent-Type: image/png\r\n\r\nx")]
                ),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="x",
            ),
            hostile(
                "a second subject",
                _mail("Dinner\r\nSubject: Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            hostile(
                "old ones are not read",
                lambda b: [b.mail("Lunch" if n == 0 else "x") for n in range(501)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            hostile(
                "the oldest that is read",
                lambda b: [b.mail("Lunch" if n == 0 else "x") for n in range(500)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ).expect_met(),
            hostile(
                "huge",
                _mail("Lunch", "x" * (2 << 20)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="x" * (2 << 20),
            ),
            *mail_ways.in_folder_cases(),
        ),
        equivalent={
            "*: args.sender: swap case": "letter case of an address does not count",
            "*: args.sender: empty": "any sender",
            "*: args.text: empty": "any text",
            "*: args.folder: swap case": "nothing",
            "*: INBOX *: no flags": "flags do not count",
            '*: S "1" *: no flags': "flags do not count",
            "sender and text: INBOX 0: *": "another message",
            "an encoded*: other": "an encoded subject in other case is the same",
        },
    ),
    CaseTable(
        mail.mail_sent_to,
        MailFixture,
        (
            positive(
                "two, the other way round",
                _mail("Lunch", head=("From: a@x.test", "To: zoe@mail.test", "Cc: bob@mail.test")),
                account=MAIL,
                folder="INBOX",
                subject=" Lunch ",
                recipients=["zoe@mail.test", "bob@mail.test"],
            ),
            positive(
                "one",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ANN@mail.test"],
            ),
            positive(
                "two",
                _mail("Lunch ", head=TO_TWO, folder="Sent"),
                account=MAIL,
                folder="Sent",
                subject="Lunch",
                recipients=["eve@mail.test", "bob@mail.test"],
            ),
            negative(
                "another",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["eve@mail.test"],
            ),
            near_miss(
                "one more",
                _mail("Lunch", head=TO_TWO),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["bob@mail.test"],
            ),
            near_miss(
                "one less",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test", "bob@mail.test"],
            ),
            near_miss(
                "another subject",
                _mail("Lunch?"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test"],
            ),
            corrupt(
                "no message",
                lambda b: b.folders.update(INBOX=[("", b"\xff")]),
                account=MAIL,
                folder="INBOX",
                subject="",
                recipients=["ann@mail.test"],
            ),
            missing(
                "no such folder",
                nothing,
                account=MAIL,
                folder="Sent",
                subject="Lunch",
                recipients=[],
            ),
            empty(
                "no recipients",
                _mail("Lunch", head=()),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test"],
            ),
            hostile(
                "the name looks like an address",
                _mail("Lunch", head=('To: "ann@mail.test" <eve@mail.test>',)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test"],
            ),
            *mail_ways.sent_to_cases(),
        ),
        equivalent={"*: args.folder: swap case": "nothing", "*: no flags": "flags do not count"},
    ),
    CaseTable(
        mail.mail_flagged,
        MailFixture,
        (
            positive(
                "read",
                lambda b: (b.mail("Lunch", flags="\\Seen \\Answered"), b.mail("x")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch ",
                flag="\\seen",
            ),
            positive(
                "both",
                lambda b: [b.mail("Lunch", flags="\\Flagged") for _ in range(2)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Flagged",
            ),
            negative(
                "unread",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "one of two",
                lambda b: (b.mail("Lunch", flags="\\Seen"), b.mail("Lunch")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "another flag",
                _mail("Lunch", flags="\\Flagged"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "part of a flag",
                _mail("Lunch", flags="\\Seen2"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            corrupt(
                "no message",
                lambda b: b.folders.update(INBOX=[("\\Seen", b"\xff")]),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            missing(
                "no such message",
                _mail("x", flags="\\Seen"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            missing(
                "no such folder",
                nothing,
                account=MAIL,
                folder="Sent",
                subject="Lunch",
                flag="\\Seen",
            ),
            empty(
                "no messages", nothing, account=MAIL, folder="INBOX", subject="Lunch", flag="\\Seen"
            ),
            hostile(
                "a flag in the text",
                _mail("Lunch", "FLAGS (\\Seen)"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            *mail_ways.flagged_cases(),
        ),
        equivalent={
            "*: args.folder: swap case": "nothing",
            "read: INBOX 1: *": "another message",
            "*: args.flag: swap case": "letter case of flags does not count",
            "both: INBOX *: [deo]*": "the other one is flagged",
        },
    ),
)

DAV = (
    CaseTable(
        dav.calendar_has_event,
        WebFixture,
        (
            positive(
                "blanks, small letters",
                _calendar(
                    _event("SUMMARY:Dentist", "DTSTART;tzid=Europe/Zurich: 20261124T093000 ")
                ),
                calendar=CALENDAR,
                summary="Dentist",
                start="2026-11-24T08:30Z",
            ),
            positive("local time", _calendar(DAY, DENTIST), **NINE),
            positive(
                "blanks around, small letters, a quoted zone",
                _calendar(
                    _event("SUMMARY: Dentist ", 'dtstart;TZID="Europe/Zurich":20261124T093000')
                    .replace("BEGIN:V", "begin:v")
                    .replace("END:V", "end:V")
                ),
                **NINE,
            ),
            positive(
                "two lines",
                _calendar(_event("SUMMARY:Dentist\\nagain", "DTSTART:20261124T083000Z")),
                calendar=CALENDAR,
                summary="Dentist\nagain",
                start="2026-11-24T08:30Z",
            ),
            near_miss(
                "the next day of two",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-25",
            ),
            near_miss(
                "another time in UTC",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T09:30Z",
            ),
            positive(
                "end and place",
                _calendar(DENTIST),
                **NINE,
                end="2026-11-24T10:00",
                location="Bahnhofstr. 1, Zürich ",
            ),
            positive(
                "as an instant",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary=" Dentist",
                start="2026-11-24T08:30Z",
            ),
            positive(
                "in UTC",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T09:30+01:00",
            ),
            positive(
                "whole days",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-24",
                end="2026-11-26",
            ),
            positive(
                "floating",
                _calendar(FLOATING),
                calendar=CALENDAR,
                summary="Run",
                start="2026-11-24T07:00",
            ),
            positive(
                "a folded line", _calendar(DENTIST.replace("Dentist", "Den\r\n tist")), **NINE
            ),
            negative("another", _calendar(FLOATING), **NINE),
            near_miss("another hour", _calendar(DENTIST.replace("T0930", "T1030")), **NINE),
            near_miss("another day", _calendar(DENTIST.replace("1124T0930", "1125T0930")), **NINE),
            near_miss(
                "that hour in UTC",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T08:30",
            ),
            near_miss(
                "a floating time is no instant",
                _calendar(FLOATING),
                calendar=CALENDAR,
                summary="Run",
                start="2026-11-24T07:00Z",
            ),
            near_miss(
                "a time for a day",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="Dentist",
                start="2026-11-24",
            ),
            near_miss(
                "a day for a time",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-24T00:00",
            ),
            near_miss(
                "more in the title", _calendar(DENTIST.replace("Dentist", "Dentist Ann")), **NINE
            ),
            near_miss("another place", _calendar(DENTIST), **NINE, location="Bahnhofstr. 1"),
            near_miss("another end", _calendar(DENTIST), **NINE, end="2026-11-24T11:00"),
            near_miss(
                "no end",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T08:30Z",
                end="2026-11-24T09:00Z",
            ),
            near_miss("a task", _calendar(DENTIST.replace("VEVENT", "VTODO")), **NINE),
            near_miss(
                "title and time of two events",
                _calendar(DENTIST.replace("Dentist", "x") + DENTIST.replace("T0930", "T1130")),
                **NINE,
            ),
            near_miss(
                "the alarm's title",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="alarm",
                start="2026-11-24T09:30",
            ),
            corrupt("no time", _calendar(DENTIST.replace("T093000", "T99")), **NINE),
            corrupt(
                "no such zone", _calendar(DENTIST.replace("Europe/Zurich", "Mars/Base")), **NINE
            ),
            corrupt("no start", _calendar(_event("SUMMARY:Dentist")), **NINE),
            corrupt("cut", _calendar(DENTIST[:120]), **NINE),
            corrupt("no XML", _report("<x"), **NINE).expect_error(),
            corrupt(
                "no time asked",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="Dentist",
                start="noon",
            ).expect_error(),
            missing("no such calendar", nothing, **NINE),
            missing(
                "another password",
                _calendar(DENTIST),
                calendar="http://ann:x@localhost:{port}/cal/",
                summary="Dentist",
                start="2026-11-24T09:30",
            ).expect_error(),
            empty("no events", _calendar(), **NINE),
            hostile(
                "an entity", _report('<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>'), **NINE
            ).expect_error(),
            hostile(
                "lines in a title",
                _calendar(_event("SUMMARY:x\\nSUMMARY:Dentist", "DTSTART:20261124T093000")),
                **NINE,
            ),
            hostile("a page for a collection", _report("<x/>", 200), **NINE).expect_error(),
            *dav_ways.event_cases(),
        ),
        equivalent={
            "*: args.end: empty": "any end",
            "*: args.location: empty": "any place",
            "*: args.location: cut": "a blank at the end",
            "*: args.start: swap case": "raises or is the same time",
        },
    ),
    CaseTable(
        dav.calendar_lacks_event,
        WebFixture,
        (
            positive("others only", _calendar(DAY), calendar=CALENDAR, summary="Dentist"),
            negative("it is there", _calendar(DAY, DENTIST), calendar=CALENDAR, summary="Dentist"),
            near_miss(
                "blanks around",
                _calendar(DENTIST.replace("Dentist", " Dentist ")),
                calendar=CALENDAR,
                summary=" Dentist",
            ),
            near_miss(
                "folded",
                _calendar(DENTIST.replace("Dentist", "Den\r\n\ttist")),
                calendar=CALENDAR,
                summary="Dentist",
            ),
            corrupt("no XML", _report("<x"), calendar=CALENDAR, summary="Dentist").expect_error(),
            missing(
                "no such calendar", nothing, calendar=CALENDAR, summary="Dentist"
            ).expect_error(),
            empty("no events", _calendar(), calendar=CALENDAR, summary="Dentist").expect_met(),
            hostile(
                "an error", _report("", 500), calendar=CALENDAR, summary="Dentist"
            ).expect_error(),
            *dav_ways.no_event_cases(),
        ),
        equivalent={
            "*: args.summary: *": "that is not there either",
            "*: server: other": "nothing",
        },
    ),
    CaseTable(
        dav.address_book_has,
        WebFixture,
        (
            positive(
                "blanks around",
                _people(_card("FN: Bob Ray ", "EMAIL: bob@mail.test ")),
                address_book=PEOPLE,
                name="Bob Ray",
                email=" bob@mail.test",
            ),
            positive(
                "capital letters in the card",
                _people(_card("FN:Bob Ray", "EMAIL:BOB@Mail.test")),
                address_book=PEOPLE,
                name="Bob Ray",
                email="bob@mail.test",
            ),
            positive(
                "by name", _people(_card("FN:Eve"), BOB), address_book=PEOPLE, name="Bob Ray "
            ),
            positive(
                "e-mail and phone",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                email="BOB@mail.test",
                phone="+41 44 123 45 67",
            ),
            positive(
                "the other phone", _people(BOB), address_book=PEOPLE, name="Bob Ray", phone="+1 555"
            ),
            negative("another", _people(_card("FN:Eve")), address_book=PEOPLE, name="Bob Ray"),
            near_miss(
                "more in the name",
                _people(BOB.replace("Ray\r", "Ray jr.\r")),
                address_book=PEOPLE,
                name="Bob Ray",
            ),
            near_miss(
                "another phone",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="044 123 45 67",
            ),
            near_miss(
                "another e-mail",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                email="b@mail.test",
            ),
            near_miss(
                "phone of another card",
                _people(_card("FN:Bob Ray"), _card("FN:Eve", "TEL:+1555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="+1555",
            ),
            near_miss(
                "a phone as a note",
                _people(_card("FN:Bob Ray", "NOTE:+1555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="+1555",
            ),
            corrupt("cut", _people(BOB[:40]), address_book=PEOPLE, name="Bob Ray"),
            missing("no such book", nothing, address_book=PEOPLE, name="Bob Ray"),
            empty("no cards", _people(), address_book=PEOPLE, name=""),
            hostile(
                "an end too many",
                _people("END:X\r\nFN:Bob Ray\r\nEND:VCARD\r\n"),
                address_book=PEOPLE,
                name="Bob Ray",
            ),
            hostile(
                "a plus in the middle",
                _people(_card("FN:Bob Ray", "TEL:1+555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="1555",
            ).expect_met(),
            *dav_ways.card_cases(),
        ),
        equivalent={
            "*: args.email: *": "letter case does not count, or any",
            "*: args.phone: append": "a letter does not count",
            "*: args.phone: empty": "any phone",
            "by name: args.name: cut": "a blank at the end does not count",
        },
    ),
)

TABLES = (*WEB, *MAILS, *DAV)
