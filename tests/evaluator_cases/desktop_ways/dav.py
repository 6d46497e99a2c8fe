"""Forged calendars and address books, and legitimate ones that other programs create."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged, hostile

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json
    from tests.evaluator_cases.servers import WebFixture

_CALENDAR = "http://ann:p%40ss@localhost:{port}/cal/"
_PEOPLE = "http://ann:p%40ss@localhost:{port}/people/"
_ZURICH = "DTSTART;TZID=Europe/Zurich:20261124T093000"
_LIMIT = "<D:response><D:status>HTTP/1.1 507 Insufficient Storage</D:status></D:response></D:multistatus>"


def _calendar(*events: str, more: str = "") -> str:
    rows = ["BEGIN:VCALENDAR", "VERSION:2.0", more, *events, "END:VCALENDAR", ""]
    return "\r\n".join(row for row in rows if row) + "\r\n"


def _event(*lines: str) -> str:
    return "\r\n".join(("BEGIN:VEVENT", "UID:1", *lines, "END:VEVENT"))


def _has(*events: str, more: str = "") -> State:
    return lambda b: b.collection("/cal/", "calendar", _calendar(*events, more=more))


def _dentist(
    *lines: str, start: str = _ZURICH, title: str = "SUMMARY:Dentist", more: str = ""
) -> State:
    return _has(_event(title, start, *lines), more=more)


def _in_utc(b: WebFixture) -> None:
    """Serve an event in UTC to a desktop in the time zone of Zürich."""
    b.folder_at("/etc")
    b.at("/etc/localtime").symlink_to("/usr/share/zoneinfo/Europe/Zurich")
    _dentist(start="DTSTART:20261124T083000Z")(b)


def _part_only(b: WebFixture) -> None:
    """Serve a truncated collection that returns only some events."""
    _has(_event("SUMMARY:x", _ZURICH))(b)
    status, body = b.pages["REPORT /cal/"]
    b.pages["REPORT /cal/"] = (status, body.replace(b"</D:multistatus>", _LIMIT.encode()))


def _huge(path: str, kind: str, text: str) -> State:
    """Serve a collection of more than 4 MiB."""
    return lambda b: b.collection(path, kind, text, *["x" * (1 << 20)] * 5)


def event_cases() -> tuple[Case, ...]:
    """Return cases of `calendar_has_event`."""
    args: dict[str, Json] = {
        "calendar": _CALENDAR,
        "summary": "Dentist",
        "start": "2026-11-24T09:30",
    }
    till: dict[str, Json] = {**args, "end": "2026-11-24T10:45"}
    day: dict[str, Json] = {"calendar": _CALENDAR, "summary": "Dentist", "start": "2026-11-24"}
    instant: dict[str, Json] = {**args, "start": "2026-11-24T08:30Z"}
    daily = "RRULE:FREQ=DAILY;COUNT=3"
    outlook = "W. Europe Standard Time"
    alike = _event("SUMMARY:Den\u200btist", "DTSTART:20261125T083000Z")
    return (
        forged(
            "next to one that looks the same",
            _has(_event("SUMMARY:Dentist", _ZURICH), alike),
            **args,
        ),
        another_way("invisible character", _dentist(title="SUMMARY:Den\u2060tist"), **args),
        forged("cancelled event", _dentist("STATUS: cancelled"), **args),
        forged("in a cancellation message", _dentist(more="METHOD:cancel"), **args),
        forged("in a reply message", _dentist(more="METHOD:REPLY"), **args),
        forged("with a second title", _dentist("SUMMARY:Party"), **args),
        forged("with a second start", _dentist("DTSTART:20261125T083000Z"), **args),
        forged("with two states", _dentist("STATUS:CONFIRMED", "STATUS:CANCELLED"), **args),
        *(
            forged(f"with duplicate line {line}", _dentist(line, line), **args)
            for line in ("DTEND:20261124T093000Z", "DURATION:PT1H", "LOCATION:x")
        ),
        *(
            another_way(
                f"in a message with method {method}", _dentist(more=f"METHOD:{method}"), **args
            )
            for method in ("PUBLISH", " request ", "ADD")
        ),
        forged(
            "series without its first event",
            _dentist(daily, "EXDATE;TZID=Europe/Zurich:20261123T093000,x,20261124T093000"),
            **args,
        ),
        forged(
            "series whose first event was moved",
            _has(
                _event("SUMMARY:Dentist", _ZURICH, daily),
                _event(
                    "SUMMARY:Dentist",
                    "RECURRENCE-ID;TZID=Europe/Zurich:20261124T093000",
                    "DTSTART;TZID=Europe/Zurich:20261124T143000",
                ),
            ),
            **args,
        ),
        forged(
            "in an unknown component",
            _has("BEGIN:X-OLD", _event("SUMMARY:Dentist", _ZURICH), "END:X-OLD"),
            **args,
        ),
        forged(
            "same hour in a different time zone",
            _dentist(start="DTSTART;TZID=Asia/Tokyo:20261124T093000"),
            **instant,
        ),
        forged("invalid duration", _dentist("DURATION:PT75"), **till),
        forged(
            "in UTC, on a desktop in a different time zone",
            _in_utc,
            **{**args, "start": "2026-11-24T08:30"},
        ),
        forged(
            "in a parameter of a different line",
            _dentist(title='X-A;B=":SUMMARY:Dentist":x'),
            **args,
        ),
        hostile(
            "over the size limit",
            _huge("/cal/", "calendar", _calendar(_event("SUMMARY:Dentist", _ZURICH))),
            **args,
        ),
        another_way(
            "with a duration", _dentist("LOCATION:x", "DURATION:PT1H15M"), **till, location=" "
        ),
        another_way("with a long duration", _dentist("DURATION:P0DT0H74M60S"), **till),
        another_way(
            "all-day event without an end",
            _dentist(start="DTSTART;VALUE=DATE:20261124"),
            **day,
            end="2026-11-25",
        ),
        another_way(
            "all-day event with a duration",
            _dentist("DURATION:P1W", start="DTSTART;VALUE=DATE:20261124"),
            **day,
            end="2026-12-01",
        ),
        another_way("event without an end", _dentist(), **args, end="2026-11-24T09:30"),
        another_way(
            "time zone name of Evolution",
            _dentist(
                start="DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Zurich:20261124T093000"
            ),
            **instant,
        ),
        another_way(
            "time zone name of Outlook",
            _dentist(
                start=f'DTSTART;TZID="{outlook}":20261124T093000',
                more=f"BEGIN:VTIMEZONE\r\nTZID:{outlook}\r\nEND:VTIMEZONE",
            ),
            **args,
        ),
        another_way("in UTC, on a desktop in Zürich", _in_utc, **args),
        another_way(
            "with parameters",
            _dentist(title='SUMMARY;ALTREP="http://x:1/a;b";LANGUAGE=de:Dentist'),
            **args,
        ),
        another_way(
            "moved event of a series",
            _has(
                _event("SUMMARY:Dentist", "DTSTART:20261123T083000Z", daily),
                _event("SUMMARY:Dentist", "RECURRENCE-ID:20261123T083000Z", _ZURICH),
            ),
            **args,
        ),
        another_way(
            "changed event of a series",
            _has(
                _event("SUMMARY:x", _ZURICH, daily),
                _event("SUMMARY:Dentist", "RECURRENCE-ID:20261124T083000Z", _ZURICH),
            ),
            **args,
        ),
        another_way("unclosed quote", _dentist(title='SUMMARY;X="a:Dentist'), **args),
        another_way(
            "property names in lower case",
            lambda b: b.collection(
                "/cal/",
                "calendar",
                _calendar(_event("SUMMARY:Dentist", _ZURICH))
                .replace("VE", "ve")
                .replace("VC", "vc"),
            ),
            **args,
        ),
        another_way("first event of a series", _dentist(daily, "EXDATE:20261125T083000Z"), **args),
        another_way(
            "next to a truncated object",
            lambda b: b.collection(
                "/cal/",
                "calendar",
                "BEGIN:VCALENDAR",
                _calendar(_event("SUMMARY:Dentist", _ZURICH)),
            ),
            **args,
        ),
    )


def no_event_cases() -> tuple[Case, ...]:
    """Return cases of `calendar_lacks_event`."""
    args: dict[str, Json] = {"calendar": _CALENDAR, "summary": "Dentist"}
    return (
        forged("only a cancelled event", _dentist("STATUS:CANCELLED"), **args),
        forged("only part of the calendar", _part_only, **args),
        forged("as the second title", _dentist(title="SUMMARY:x\r\nSUMMARY:Dentist"), **args),
        forged("over the size limit", _huge("/cal/", "calendar", "x"), **args),
        forged("invisible character", _dentist(title="SUMMARY:Den\u200btist"), **args),
        forged("no-break space", _dentist(title="SUMMARY:\u00a0Dentist"), **args),
        forged("with parameters", _dentist(title='SUMMARY;ALTREP="a:b":Dentist'), **args),
        forged(
            "unclosed object",
            lambda b: b.collection("/cal/", "calendar", _calendar(_event("SUMMARY:Dentist"))[:60]),
            **args,
        ),
        forged("mismatched component end", _has("BEGIN:A", "END:B", _event("SUMMARY:x")), **args),
        another_way("renamed event", _dentist(title="SUMMARY:Dentist (moved)"), **args),
        another_way(
            "task with the title",
            lambda b: b.collection(
                "/cal/", "calendar", _calendar("BEGIN:VTODO\r\nSUMMARY:Dentist\r\nEND:VTODO")
            ),
            **args,
        ),
        another_way("event without a title", _has(_event(_ZURICH)), **args),
    )


def card_cases() -> tuple[Case, ...]:
    """Return cases of `address_book_has`."""
    args: dict[str, Json] = {"address_book": _PEOPLE, "name": "Bob Ray"}
    phone: dict[str, Json] = {**args, "phone": "+41 44 123 45 67"}

    def people(*lines: str) -> State:
        card = "\r\n".join(("BEGIN:VCARD", "VERSION:4.0", *lines, "END:VCARD", ""))
        return lambda b: b.collection("/people/", "people", "BEGIN:VCARD", card)

    two = ("FN:Bob Ray", "END:VCARD\r\nBEGIN:VCARD", "VERSION:4.0", "FN:Bob\ufe0f Ray")
    return (
        forged("next to one that looks the same", people(*two), **args),
        another_way("invisible character", people("FN:Bob R\u200bay"), **args),
        forged("group with the name", people("FN:Bob Ray", "KIND:group"), **args),
        forged(
            "group in the format of older address books",
            people("FN:Bob Ray", "X-ADDRESSBOOKSERVER-KIND:Group"),
            **args,
        ),
        forged(
            "agent of a different contact",
            people("FN:Eve", "BEGIN:VCARD", "FN:Bob Ray", "END:VCARD"),
            **args,
        ),
        forged("folded note", people("FN:Eve", "NOTE:x", " FN:Bob Ray"), **args),
        forged("note with line breaks", people("FN:Eve", "NOTE:x\\nFN:Bob Ray"), **args),
        forged("number in a label", people("FN:Bob Ray", "TEL;X-LABEL=+41441234567:1"), **phone),
        forged(
            "number with additional digits", people("FN:Bob Ray", "TEL:+41 44 123 45 678"), **phone
        ),
        forged(
            "number without the plus sign", people("FN:Bob Ray", "TEL:41 44 123 45 67"), **phone
        ),
        hostile(
            "over the size limit",
            _huge("/people/", "people", "BEGIN:VCARD\r\nFN:Bob Ray\r\nEND:VCARD"),
            **args,
        ),
        another_way("explicit individual", people("FN:Bob Ray", "KIND: Individual"), **args),
        another_way("organisation", people("FN:Bob Ray", "KIND:org"), **args),
        another_way("empty kind", people("FN:Bob Ray", "KIND:"), **args),
        another_way(
            "number as a URI",
            people("FN:Bob Ray", "TEL;VALUE=uri:tel:+41-44-123-45-67"),
            **phone,
        ),
        another_way(
            "number with 00 instead of the plus sign",
            people("FN:Bob Ray", 'TEL;TYPE="voice,cell":0041 44 123 45 67'),
            **phone,
        ),
        another_way(
            "e-mail address as a URI",
            people(
                "FN;ALTID=1:Robert", "FN;ALTID=1:Bob\u00a0Ray", "EMAIL;PREF=1:mailto:Bob@mail.test"
            ),
            **args,
            email="bob@mail.test",
        ),
        another_way(
            "any e-mail address and phone number",
            people("FN:Bob Ray"),
            **args,
            email=" ",
            phone="-",
        ),
    )
