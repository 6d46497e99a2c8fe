"""A persona: the life of one person, and questions about it."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from provisioning.world.persona.generator import make_records
from provisioning.world.persona.queries import (
    Contacts,
    Events,
    Files,
    Mails,
    Messages,
    Month,
    Notes,
    Orders,
    Photos,
    Products,
    Visits,
)

if TYPE_CHECKING:
    from datetime import date, datetime

    from provisioning.world.persona.model.people import Person
    from provisioning.world.persona.model.records import PersonaRecords


@lru_cache(maxsize=8)
def persona(seed: int) -> Persona:
    """Return the persona of a seed.

    Example::

        lena = persona(7)
        order = lena.orders.in_month(lena.last_month).cheapest()
        mail = lena.mails.about(order).first()

    Raises:
        UsageError: the seed is out of range.
    """
    return Persona(make_records(seed))


class Persona:
    """The life of one person.

    Args:
        records: its records.
    """

    def __init__(self, records: PersonaRecords) -> None:
        self.records = records

    @property
    def person(self) -> Person:
        """Return the person."""
        return self.records.person

    @property
    def now(self) -> datetime:
        """Return the persona's present, UTC."""
        return self.records.now

    @property
    def today(self) -> date:
        """Return the persona's present day."""
        return self.now.date()

    @property
    def this_month(self) -> Month:
        """Return the present month."""
        return Month(self.now.year, self.now.month)

    @property
    def last_month(self) -> Month:
        """Return the month before the present one."""
        return self.this_month.before

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all records, the same in every process."""
        return self.records.digest

    @cached_property
    def contacts(self) -> Contacts:
        """Return the address book."""
        return Contacts(self.records.contacts)

    @cached_property
    def mails(self) -> Mails:
        """Return the mailbox."""
        return Mails(self.records.mails)

    @cached_property
    def messages(self) -> Messages:
        """Return the text messages."""
        return Messages(self.records.messages)

    @cached_property
    def events(self) -> Events:
        """Return the calendar."""
        return Events(self.records.events)

    @cached_property
    def products(self) -> Products:
        """Return the shop's catalogue."""
        return Products(self.records.products)

    @cached_property
    def orders(self) -> Orders:
        """Return the orders."""
        return Orders(self.records.orders)

    @cached_property
    def files(self) -> Files:
        """Return the documents."""
        return Files(self.records.files)

    @cached_property
    def notes(self) -> Notes:
        """Return the notes."""
        return Notes(self.records.notes)

    @cached_property
    def photos(self) -> Photos:
        """Return the photos."""
        return Photos(self.records.photos)

    @cached_property
    def visits(self) -> Visits:
        """Return the history of the browser."""
        return Visits(self.records.visits)
