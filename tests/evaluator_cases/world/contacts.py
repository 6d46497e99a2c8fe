"""Cases of the evaluators of a world's address book."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseKind,
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
from evaluators.testing.world import SEED, WorldFixture
from evaluators.world import contacts
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from evaluators.testing.case import State

BOB: dict[str, Any] = {"name": "Bob Ray", "email": "bob@ray.example", "phone": "+41 44 123 45 67"}
KNOWN = persona(SEED).contacts[0]
ROWS = {
    "FN": "Bob Ray",
    "EMAIL;TYPE=INTERNET": "Bob@ray.example",
    "TEL;TYPE=CELL": "0041 44 1234567",
    "BDAY": "1980-05-01",
    "ORG": "Ray Ltd",
    "ADR;TYPE=HOME": ";;Main Street 5;Berne;;3000;Switzerland",
}


def card(*more: str, **changes: str) -> State:
    """Put a contact into the address book; properties are named by their first part."""
    rows = [
        f"{name}:{changes.get(name.partition(';')[0], value)}"
        for name, value in ROWS.items()
        if changes.get(name.partition(";")[0], value)
    ]
    text = "\r\n".join(["BEGIN:VCARD", "VERSION:3.0", *rows, *more, "END:VCARD", ""])
    return lambda world: world.member("contacts", text)


def known(old: str, new: str) -> State:
    """Change the known contact."""

    def change(world: WorldFixture) -> None:
        text = world.collections["contacts"][KNOWN.id]
        assert old in text
        world.collections["contacts"][KNOWN.id] = text.replace(old, new)

    return change


def lose(world: WorldFixture) -> None:
    """Remove the known contact."""
    del world.collections["contacts"][KNOWN.id]


def renew(world: WorldFixture) -> None:
    """Replace the known contact by one with its name."""
    lose(world)
    card(FN=KNOWN.name)(world)


def clear(world: WorldFixture) -> None:
    """Remove all contacts."""
    world.collections["contacts"] = {}


def gone(world: WorldFixture) -> None:
    """Remove the address book."""
    del world.collections["contacts"]


TABLES = (
    CaseTable(
        contacts.has_contact,
        WorldFixture,
        (
            positive("name, address and number", card(), **BOB),
            positive(
                "all properties",
                card(),
                **BOB,
                birthday="1980-05-01",
                organisation="Ray Ltd",
                address="Main Street 5",
            ),
            positive("a contact of the persona", nothing, name=KNOWN.name, phone=KNOWN.phone),
            negative("no such contact", nothing, **BOB),
            near_miss("part of the name", card(FN="Bob Rayner"), **BOB),
            near_miss("other address", card(EMAIL="bob@other.example"), **BOB),
            near_miss("other number", card(TEL="+41 44 123 45 68"), **BOB),
            near_miss("other birthday", card(BDAY="1981-05-01"), **BOB, birthday="1980-05-01"),
            near_miss("no birthday", card(BDAY=""), **BOB, birthday="1980-05-01"),
            near_miss("other employer", card(ORG="Ray"), **BOB, organisation="Ray Ltd"),
            near_miss("other street", card(ADR=";;Side Street;;;;"), **BOB, address="Main Street"),
            corrupt(
                "not closed",
                lambda world: world.member("contacts", "BEGIN:VCARD\r\nFN:Bob Ray"),
                **BOB,
            ),
            missing("no address book", gone, **BOB),
            empty("empty address book", clear, **BOB),
            hostile("two names", card("FN:Someone"), **BOB),
            forged("in the note", card("NOTE:Bob Ray", FN="x"), **BOB),
            forged(
                "on two contacts",
                lambda world: (card(TEL="1")(world), world.member("contacts", _other(), "b")),
                **BOB,
            ),
            another_way("short date", card(BDAY="19800501"), **BOB, birthday="1980-05-01"),
            another_way("further number", card("TEL;TYPE=HOME:5"), **BOB),
            another_way("with a group", card("item1.EMAIL:other@ray.example"), **BOB),
        ),
    ),
    CaseTable(
        contacts.lacks_contact,
        WorldFixture,
        (
            positive("no such contact", nothing, name="Bob Ray"),
            negative("there", card(), name="Bob Ray"),
            near_miss("a contact of the persona", nothing, name=KNOWN.name),
            corrupt(
                "not closed", lambda world: world.member("contacts", "BEGIN:VCARD"), name="Bob Ray"
            ),
            missing("no address book", gone, name="Bob Ray"),
            empty("empty address book", clear, name="Bob Ray"),
            forged("invisible character", card(FN="Bob\u200b Ray"), name="Bob Ray"),
            forged("white space", card(FN="Bob  Ray "), name="Bob Ray"),
            another_way("renamed", card(FN="Bob Rayner"), name="Bob Ray"),
            another_way("removed", lose, name=KNOWN.name),
        ),
        inapplicable={CaseKind.HOSTILE: "the cases of has_contact have hostile cards"},
    ),
    CaseTable(
        contacts.keeps_contacts,
        WorldFixture,
        (
            positive("nothing changed", nothing),
            positive("one that may be gone", lose, besides=[KNOWN.name]),
            negative("all gone", clear),
            near_miss("one gone", lose),
            near_miss("one renamed", known(f"FN:{KNOWN.name}", "FN:Someone")),
            near_miss("number changed", known(KNOWN.phone, "+1 555 0100")),
            corrupt("not closed", lambda world: world.member("contacts", "BEGIN:VCARD")),
            missing("no address book", gone),
            empty("empty address book, one may be gone", clear, besides=[KNOWN.name]),
            forged("another one has its name", renew),
            forged("address removed", known(KNOWN.email, "")),
            another_way("new contact", card()),
            another_way(
                "number with other spaces", known(KNOWN.phone, KNOWN.phone.replace(" ", "-"))
            ),
        ),
        inapplicable={CaseKind.HOSTILE: "the cases of has_contact have hostile cards"},
    ),
)


def _other() -> str:
    return "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bob Ray\r\nTEL:+41441234567\r\nEND:VCARD\r\n"
