"""Cases of the evaluators of services: HTTP, mail, calendars and address books."""

from __future__ import annotations

from evaluators.desktop import dav, mail, web
from evaluators.testing.case import (
    CaseTable,
    State,
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
            positive("status 200", _page("x"), url=URL, status=200),
            positive("status 201", _page("", 201), url=URL, status=201),
            positive(
                "address without a path",
                _page("x", path="/"),
                url="http://localhost:{port}",
                status=200,
            ),
            corrupt(
                "different scheme", _page("x"), url=URL.replace("http", "ftp"), status=200
            ).expect_error(),
            corrupt(
                "TLS with a server that has none",
                _page("x"),
                url=URL.replace("http", "https"),
                status=200,
            ).expect_error(),
            negative("different status", _page("x", 500), url=URL, status=200),
            near_miss("a redirect is not followed", _page("x", 302), url=URL, status=200),
            near_miss("on a different path", _page("x", path="/a"), url=URL, status=200),
            corrupt(
                "reply is not HTTP", _raw(b"220 ftp ready\r\n"), url=URL, status=200
            ).expect_error(),
            corrupt(
                "address is not HTTP", nothing, url="file:///etc/hostname", status=200
            ).expect_error(),
            corrupt("address without a host", nothing, url="http:///a", status=200).expect_error(),
            *(
                corrupt(name, _page("x"), url=url, status=200).expect_error()
                for name, url in {
                    "address without a scheme": "//localhost:{port}/",
                    "port out of range": "http://localhost:99999/",
                    "port that is no number": "http://localhost:http/",
                    "space in the host": "http://local host:{port}/",
                    "empty segment": "http://localhost:{port}//",
                }.items()
            ),
            another_way(
                "characters that browsers encode",
                _page("x", path="/caf%C3%A9%20a?q=%C3%A9"),
                url="HTTP://LOCALHOST:{port}/caf\u00e9 a?q=\u00e9#x",
                status=200,
            ),
            missing("missing page", nothing, url=URL, status=200),
            missing("no server", nothing, url=CLOSED, status=200),
            empty("empty reply", _raw(b"\r\n\r\n"), url=URL, status=200).expect_error(),
            hostile(
                "endless header",
                _raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000),
                url=URL,
                status=200,
            ).expect_error(),
            *web_ways.status_cases(),
        ),
        equivalent={
            "*: server: empty": "the body is ignored",
            "*: server: cut": "the body is ignored",
            "*: server: other": "the body is ignored",
        },
    ),
    CaseTable(
        web.http_text_equals,
        WebFixture,
        (
            positive("exactly the text", _page("Zürich\n"), url=URL, text=" Zürich"),
            negative("different text", _page("Bern"), url=URL, text="Zürich"),
            near_miss("additional text", _page("Zürich HB"), url=URL, text="Zürich"),
            near_miss("in an error page", _page("Zürich", 404), url=URL, text="Zürich"),
            near_miss("different success status", _page("Zürich", 201), url=URL, text="Zürich"),
            corrupt("not UTF-8", _page("Zürich".encode("latin-1")), url=URL, text="Zürich"),
            missing("missing page", nothing, url=URL, text="not there"),
            empty("empty page", _page(""), url=URL, text="x"),
            hostile("page over the size limit", _page(b"x" * ((1 << 22) + 1)), url=URL, text=""),
            hostile(
                "exactly at the size limit", _page(b"x" * (1 << 22)), url=URL, text="x" * (1 << 22)
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
                "matching value",
                _page('{"items": [{"name": "Milk"}]}'),
                url=URL,
                pointer="/items/0/name",
                value="Milk",
            ),
            negative(
                "missing value",
                _page('{"items": []}'),
                url=URL,
                pointer="/items/0/name",
                value="Milk",
            ),
            near_miss(
                "text instead of a number", _page('{"n": "1"}'), url=URL, pointer="/n", value=1
            ),
            near_miss("in an error page", _page('{"n": 1}', 500), url=URL, pointer="/n", value=1),
            corrupt("invalid JSON", _page("{n: 1}"), url=URL, pointer="/n", value=1),
            missing("missing page", nothing, url=URL, pointer="", value=None),
            empty("empty page", _page(""), url=URL, pointer="", value=None),
            hostile("duplicate key", _page('{"n": 2, "n": 1}'), url=URL, pointer="/n", value=1),
            hostile("deeply nested", _page("[" * 100_000), url=URL, pointer="", value=None),
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
                "message in the folder",
                _mail("Lunch", "At noon?\r\n"),
                account=MAIL,
                folder="INBOX",
                subject=" Lunch",
            ),
            positive(
                "multiple spaces in the subject",
                _mail("Lunch at  noon", "Yes.\r\n"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch at noon",
                text=" Yes.\n",
            ),
            positive(
                "folder name with a quote and a backslash",
                _mail("Lunch", folder='a "b" \\ c'),
                account=MAIL,
                folder='a "b" \\ c',
                subject="Lunch",
            ),
            corrupt(
                "different scheme",
                _mail("Lunch"),
                account=MAIL.replace("imap", "http"),
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            corrupt(
                "TLS with a server that has none",
                _mail("Lunch"),
                account=MAIL.replace("imap", "imaps"),
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            positive(
                "matching sender and text",
                lambda b: (b.mail("x"), b.mail("Lunch", "At noon?\r\nBob\r\n")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="BOB@mail.test",
                text="At noon?\nBob",
            ),
            positive(
                "encoded subject",
                _mail("=?utf-8?q?Z=C3=BCrich?=", folder='S "1"'),
                account=MAIL,
                folder='S "1"',
                subject="Zürich",
            ),
            negative(
                "different subject", _mail("Dinner"), account=MAIL, folder="INBOX", subject="Lunch"
            ),
            near_miss(
                "reply to the message",
                _mail("Re: Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            near_miss(
                "in a different folder",
                _mail("Lunch", folder="Drafts"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            near_miss(
                "from a different sender",
                _mail("Lunch", head=FROM_EVE),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="bob@mail.test",
            ),
            near_miss(
                "expected address in the display name",
                _mail("Lunch", head=('From: "bob@mail.test" <eve@mail.test>',)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                sender="bob@mail.test",
            ),
            near_miss(
                "additional text",
                _mail("Lunch", "At noon? No."),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="At noon?",
            ),
            corrupt(
                "invalid message",
                lambda b: b.folders.update(INBOX=[("", b"\xff\0\xfe")]),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            corrupt(
                "unknown character set",
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
                "address is not IMAP",
                nothing,
                account="http://localhost",
                folder="INBOX",
                subject="x",
            ).expect_error(),
            corrupt(
                "address without a host", nothing, account="imap:INBOX", folder="INBOX", subject="x"
            ).expect_error(),
            corrupt(
                "wrong password",
                _mail("Lunch"),
                account="imap://ann:x@localhost:{port}",
                folder="INBOX",
                subject="Lunch",
            ).expect_error(),
            missing("missing folder", nothing, account=MAIL, folder="Sent", subject="Lunch"),
            missing(
                "no server",
                nothing,
                account="imap://ann:x@127.0.0.1:1",
                folder="INBOX",
                subject="x",
            ).expect_error(),
            empty("no messages", nothing, account=MAIL, folder="INBOX", subject=""),
            empty(
                "only an attachment, no text",
                lambda b: b.folders.update(
                    INBOX=[("", b"Subject: Lunch\r\nContent-Type: image/png\r\n\r\nx")]
                ),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="x",
            ),
            hostile(
                "second subject",
                _mail("Dinner\r\nSubject: Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            hostile(
                "message older than the limit",
                lambda b: [b.mail("Lunch" if n == 0 else "x") for n in range(501)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ),
            hostile(
                "oldest message within the limit",
                lambda b: [b.mail("Lunch" if n == 0 else "x") for n in range(500)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
            ).expect_met(),
            hostile(
                "message over the size limit",
                _mail("Lunch", "x" * (2 << 20)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                text="x" * (2 << 20),
            ),
            *mail_ways.in_folder_cases(),
        ),
        equivalent={
            "*: args.sender: swap case": "the letter case of an address is ignored",
            "*: args.sender: empty": "any sender",
            "*: args.text: empty": "any text",
            "*: args.folder: swap case": "no effect",
            "*: INBOX *: no flags": "flags are ignored",
            '*: S "1" *: no flags': "flags are ignored",
            "matching sender and text: INBOX 0: *": "a different message",
            "encoded*: other": "the letter case of an encoded subject is ignored",
        },
    ),
    CaseTable(
        mail.mail_sent_to,
        MailFixture,
        (
            positive(
                "two recipients in a different order",
                _mail("Lunch", head=("From: a@x.test", "To: zoe@mail.test", "Cc: bob@mail.test")),
                account=MAIL,
                folder="INBOX",
                subject=" Lunch ",
                recipients=["zoe@mail.test", "bob@mail.test"],
            ),
            positive(
                "one recipient",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ANN@mail.test"],
            ),
            positive(
                "two recipients",
                _mail("Lunch ", head=TO_TWO, folder="Sent"),
                account=MAIL,
                folder="Sent",
                subject="Lunch",
                recipients=["eve@mail.test", "bob@mail.test"],
            ),
            negative(
                "different recipient",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["eve@mail.test"],
            ),
            near_miss(
                "one additional recipient",
                _mail("Lunch", head=TO_TWO),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["bob@mail.test"],
            ),
            near_miss(
                "one missing recipient",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test", "bob@mail.test"],
            ),
            near_miss(
                "different subject",
                _mail("Lunch?"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test"],
            ),
            corrupt(
                "invalid message",
                lambda b: b.folders.update(INBOX=[("", b"\xff")]),
                account=MAIL,
                folder="INBOX",
                subject="",
                recipients=["ann@mail.test"],
            ),
            missing(
                "missing folder",
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
                "display name that looks like an address",
                _mail("Lunch", head=('To: "ann@mail.test" <eve@mail.test>',)),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                recipients=["ann@mail.test"],
            ),
            *mail_ways.sent_to_cases(),
        ),
        equivalent={"*: args.folder: swap case": "no effect", "*: no flags": "flags are ignored"},
    ),
    CaseTable(
        mail.mail_flagged,
        MailFixture,
        (
            positive(
                "message read",
                lambda b: (b.mail("Lunch", flags="\\Seen \\Answered"), b.mail("x")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch ",
                flag="\\seen",
            ),
            positive(
                "both messages flagged",
                lambda b: [b.mail("Lunch", flags="\\Flagged") for _ in range(2)],
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Flagged",
            ),
            negative(
                "message unread",
                _mail("Lunch"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "one of two messages read",
                lambda b: (b.mail("Lunch", flags="\\Seen"), b.mail("Lunch")),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "different flag",
                _mail("Lunch", flags="\\Flagged"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            near_miss(
                "flag name only as a prefix",
                _mail("Lunch", flags="\\Seen2"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            corrupt(
                "invalid message",
                lambda b: b.folders.update(INBOX=[("\\Seen", b"\xff")]),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            missing(
                "missing message",
                _mail("x", flags="\\Seen"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            missing(
                "missing folder",
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
                "flag in the text",
                _mail("Lunch", "FLAGS (\\Seen)"),
                account=MAIL,
                folder="INBOX",
                subject="Lunch",
                flag="\\Seen",
            ),
            *mail_ways.flagged_cases(),
        ),
        equivalent={
            "*: args.folder: swap case": "no effect",
            "message read: INBOX 1: *": "a different message",
            "*: args.flag: swap case": "the letter case of flags is ignored",
            "both messages flagged: INBOX *: [deo]*": "the other message is flagged",
        },
    ),
)

DAV = (
    CaseTable(
        dav.calendar_has_event,
        WebFixture,
        (
            positive(
                "surrounding spaces and lower-case parameter",
                _calendar(
                    _event("SUMMARY:Dentist", "DTSTART;tzid=Europe/Zurich: 20261124T093000 ")
                ),
                calendar=CALENDAR,
                summary="Dentist",
                start="2026-11-24T08:30Z",
            ),
            positive("local time", _calendar(DAY, DENTIST), **NINE),
            positive(
                "surrounding spaces, lower case and a quoted time zone",
                _calendar(
                    _event("SUMMARY: Dentist ", 'dtstart;TZID="Europe/Zurich":20261124T093000')
                    .replace("BEGIN:V", "begin:v")
                    .replace("END:V", "end:V")
                ),
                **NINE,
            ),
            positive(
                "title with two lines",
                _calendar(_event("SUMMARY:Dentist\\nagain", "DTSTART:20261124T083000Z")),
                calendar=CALENDAR,
                summary="Dentist\nagain",
                start="2026-11-24T08:30Z",
            ),
            near_miss(
                "second day of a two-day event",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-25",
            ),
            near_miss(
                "different time in UTC",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T09:30Z",
            ),
            positive(
                "matching end and location",
                _calendar(DENTIST),
                **NINE,
                end="2026-11-24T10:00",
                location="Bahnhofstr. 1, Zürich ",
            ),
            positive(
                "expected time in UTC",
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
                "all-day event",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-24",
                end="2026-11-26",
            ),
            positive(
                "floating time",
                _calendar(FLOATING),
                calendar=CALENDAR,
                summary="Run",
                start="2026-11-24T07:00",
            ),
            positive("folded line", _calendar(DENTIST.replace("Dentist", "Den\r\n tist")), **NINE),
            negative("different event", _calendar(FLOATING), **NINE),
            near_miss("different hour", _calendar(DENTIST.replace("T0930", "T1030")), **NINE),
            near_miss(
                "different day", _calendar(DENTIST.replace("1124T0930", "1125T0930")), **NINE
            ),
            near_miss(
                "same hour in UTC",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T08:30",
            ),
            near_miss(
                "floating time is not an instant",
                _calendar(FLOATING),
                calendar=CALENDAR,
                summary="Run",
                start="2026-11-24T07:00Z",
            ),
            near_miss(
                "time instead of a date",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="Dentist",
                start="2026-11-24",
            ),
            near_miss(
                "date instead of a time",
                _calendar(DAY),
                calendar=CALENDAR,
                summary="Fair",
                start="2026-11-24T00:00",
            ),
            near_miss(
                "additional text in the title",
                _calendar(DENTIST.replace("Dentist", "Dentist Ann")),
                **NINE,
            ),
            near_miss("different location", _calendar(DENTIST), **NINE, location="Bahnhofstr. 1"),
            near_miss("different end", _calendar(DENTIST), **NINE, end="2026-11-24T11:00"),
            near_miss(
                "no end",
                _calendar(UTC),
                calendar=CALENDAR,
                summary="Call",
                start="2026-11-24T08:30Z",
                end="2026-11-24T09:00Z",
            ),
            near_miss(
                "task instead of an event", _calendar(DENTIST.replace("VEVENT", "VTODO")), **NINE
            ),
            near_miss(
                "title and time of two different events",
                _calendar(DENTIST.replace("Dentist", "x") + DENTIST.replace("T0930", "T1130")),
                **NINE,
            ),
            near_miss(
                "title of the alarm",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="alarm",
                start="2026-11-24T09:30",
            ),
            corrupt("invalid time", _calendar(DENTIST.replace("T093000", "T99")), **NINE),
            corrupt(
                "unknown time zone",
                _calendar(DENTIST.replace("Europe/Zurich", "Mars/Base")),
                **NINE,
            ),
            corrupt("no start time", _calendar(_event("SUMMARY:Dentist")), **NINE),
            corrupt("truncated", _calendar(DENTIST[:120]), **NINE),
            corrupt("invalid XML", _report("<x"), **NINE).expect_error(),
            corrupt(
                "invalid expected time",
                _calendar(DENTIST),
                calendar=CALENDAR,
                summary="Dentist",
                start="noon",
            ).expect_error(),
            missing("missing calendar", nothing, **NINE),
            missing(
                "wrong password",
                _calendar(DENTIST),
                calendar="http://ann:x@localhost:{port}/cal/",
                summary="Dentist",
                start="2026-11-24T09:30",
            ).expect_error(),
            empty("no events", _calendar(), **NINE),
            hostile(
                "entity", _report('<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>'), **NINE
            ).expect_error(),
            hostile(
                "line breaks in a title",
                _calendar(_event("SUMMARY:x\\nSUMMARY:Dentist", "DTSTART:20261124T093000")),
                **NINE,
            ),
            hostile("page instead of a collection", _report("<x/>", 200), **NINE).expect_error(),
            *dav_ways.event_cases(),
        ),
        equivalent={
            "*: args.end: empty": "any end",
            "*: args.location: empty": "any location",
            "*: args.location: cut": "a trailing space",
            "*: args.start: swap case": "the evaluator raises, or it is the same time",
        },
    ),
    CaseTable(
        dav.calendar_lacks_event,
        WebFixture,
        (
            positive("only other events", _calendar(DAY), calendar=CALENDAR, summary="Dentist"),
            negative(
                "event present", _calendar(DAY, DENTIST), calendar=CALENDAR, summary="Dentist"
            ),
            near_miss(
                "surrounding spaces",
                _calendar(DENTIST.replace("Dentist", " Dentist ")),
                calendar=CALENDAR,
                summary=" Dentist",
            ),
            near_miss(
                "folded line",
                _calendar(DENTIST.replace("Dentist", "Den\r\n\ttist")),
                calendar=CALENDAR,
                summary="Dentist",
            ),
            corrupt(
                "invalid XML", _report("<x"), calendar=CALENDAR, summary="Dentist"
            ).expect_error(),
            missing(
                "missing calendar", nothing, calendar=CALENDAR, summary="Dentist"
            ).expect_error(),
            empty("no events", _calendar(), calendar=CALENDAR, summary="Dentist").expect_met(),
            hostile(
                "server error", _report("", 500), calendar=CALENDAR, summary="Dentist"
            ).expect_error(),
            *dav_ways.no_event_cases(),
        ),
        equivalent={
            "*: args.summary: *": "that event does not exist either",
            "*: server: other": "no effect",
        },
    ),
    CaseTable(
        dav.address_book_has,
        WebFixture,
        (
            positive(
                "surrounding spaces",
                _people(_card("FN: Bob Ray ", "EMAIL: bob@mail.test ")),
                address_book=PEOPLE,
                name="Bob Ray",
                email=" bob@mail.test",
            ),
            positive(
                "upper case in the card",
                _people(_card("FN:Bob Ray", "EMAIL:BOB@Mail.test")),
                address_book=PEOPLE,
                name="Bob Ray",
                email="bob@mail.test",
            ),
            positive(
                "matching name", _people(_card("FN:Eve"), BOB), address_book=PEOPLE, name="Bob Ray "
            ),
            positive(
                "matching e-mail address and phone number",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                email="BOB@mail.test",
                phone="+41 44 123 45 67",
            ),
            positive(
                "second phone number",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="+1 555",
            ),
            negative(
                "different name", _people(_card("FN:Eve")), address_book=PEOPLE, name="Bob Ray"
            ),
            near_miss(
                "additional text in the name",
                _people(BOB.replace("Ray\r", "Ray jr.\r")),
                address_book=PEOPLE,
                name="Bob Ray",
            ),
            near_miss(
                "different phone number",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="044 123 45 67",
            ),
            near_miss(
                "different e-mail address",
                _people(BOB),
                address_book=PEOPLE,
                name="Bob Ray",
                email="b@mail.test",
            ),
            near_miss(
                "phone number of a different card",
                _people(_card("FN:Bob Ray"), _card("FN:Eve", "TEL:+1555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="+1555",
            ),
            near_miss(
                "phone number in a note",
                _people(_card("FN:Bob Ray", "NOTE:+1555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="+1555",
            ),
            corrupt("truncated", _people(BOB[:40]), address_book=PEOPLE, name="Bob Ray"),
            missing("missing address book", nothing, address_book=PEOPLE, name="Bob Ray"),
            empty("no cards", _people(), address_book=PEOPLE, name=""),
            hostile(
                "additional END line",
                _people("END:X\r\nFN:Bob Ray\r\nEND:VCARD\r\n"),
                address_book=PEOPLE,
                name="Bob Ray",
            ),
            hostile(
                "plus sign inside the number",
                _people(_card("FN:Bob Ray", "TEL:1+555")),
                address_book=PEOPLE,
                name="Bob Ray",
                phone="1555",
            ).expect_met(),
            *dav_ways.card_cases(),
        ),
        equivalent={
            "*: args.email: *": "letter case is ignored, or any address matches",
            "*: args.phone: append": "letters are ignored",
            "*: args.phone: empty": "any phone number",
            "matching name: args.name: cut": "a trailing space is ignored",
        },
    ),
)

TABLES = (*WEB, *MAILS, *DAV)
