"""Evaluators of a world's address book, which ask its CardDAV server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.ical import components
from evaluators.world.texts import digits_of, has_text, is_same_text

if TYPE_CHECKING:
    from evaluators.desktop.ical import Property
    from evaluators.world.view import WorldView


@evaluator(on="world")
def has_contact(
    world: WorldView,
    name: str,
    *,
    email: str = "",
    phone: str = "",
    birthday: str = "",
    organisation: str = "",
    address: str = "",
) -> bool:
    """Return whether the person's address book has a contact with the given properties.

    Proves the state, not who caused it.

    Example:
        ``{on: world, check: has_contact, with: {name: Bob Ray, phone: +41 44 123 45 67}}``

    Args:
        world: the world.
        name: the complete displayed name.
        email: one of the contact's addresses, case-insensitive; empty matches any.
        phone: one of the contact's numbers, of which digits and a leading plus count; empty matches
            any.
        birthday: as ``YYYY-MM-DD``; empty matches any.
        organisation: the complete name of the employer; empty matches any.
        address: part of a postal address, such as its street or town; empty matches any.
    """
    return any(
        is_same_text(_value(card, "FN"), name)
        and (not email.strip() or email.strip().lower() in _emails(card))
        and (not digits_of(phone) or digits_of(phone) in _phones(card))
        and birthday.replace("-", "") in {"", _value(card, "BDAY").replace("-", "")}
        and (
            not organisation.strip() or is_same_text(_value(card, "ORG").rstrip(";"), organisation)
        )
        and (not address.strip() or any(has_text(text, address) for text in _addresses(card)))
        for card in _cards(world)
    )


@evaluator(on="world")
def lacks_contact(world: WorldView, name: str) -> bool:
    """Return whether the person's address book has no contact with a name.

    An address book that does not exist, or that cannot be parsed, is unmet.

    Example:
        ``{on: world, check: lacks_contact, with: {name: Bob Ray}}``

    Args:
        world: the world.
        name: the complete displayed name.
    """
    if not world.contacts():
        return False
    try:
        cards = components(world.contacts(), "VCARD")
    except ValueError:
        return False
    return not any(is_same_text(_value(card, "FN"), name) for card in cards)


@evaluator(on="world")
def keeps_contacts(world: WorldView, besides: list[str] | None = None) -> bool:
    """Return whether the address book still has all contacts of the persona, unchanged.

    Unchanged are name, address of mail and telephone number. For nodes with ``mode: keep``; new
    contacts are no difference.

    Example:
        ``{on: world, check: keeps_contacts, with: {besides: [Bob Ray]}}``

    Args:
        world: the world.
        besides: names of contacts that may be gone or changed.
    """
    there = {
        (_value(card, "FN"), email, phone)
        for card in _cards(world)
        for email in _emails(card)
        for phone in _phones(card)
    }
    return all(
        (contact.name, contact.email.lower(), digits_of(contact.phone)) in there
        for contact in world.persona.contacts
        if contact.name not in (besides or ())
    )


def _cards(world: WorldView) -> list[list[Property]]:
    try:
        return components(world.contacts(), "VCARD")
    except ValueError:
        return []


def _value(card: list[Property], name: str) -> str:
    """Return a property's value; empty if there is none, or several."""
    values = [line.value for line in card if line.name == name]
    return values[0] if len(values) == 1 else ""


def _emails(card: list[Property]) -> set[str]:
    return {
        line.value.strip().lower().removeprefix("mailto:") for line in card if line.name == "EMAIL"
    }


def _phones(card: list[Property]) -> set[str]:
    return {digits_of(line.value) for line in card if line.name == "TEL"}


def _addresses(card: list[Property]) -> list[str]:
    return [
        ", ".join(part for part in line.value.split(";") if part)
        for line in card
        if line.name == "ADR"
    ]
