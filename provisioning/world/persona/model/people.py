"""The person, and the people and organisations that the person knows."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from provisioning.world.persona.model.base import Part, Record


class Group(StrEnum):
    """Why somebody is a contact."""

    FAMILY = "family"
    FRIENDS = "friends"
    COLLEAGUES = "colleagues"
    NEIGHBOURS = "neighbours"
    SERVICES = "services"


class Address(Part):
    """A postal address.

    Attributes:
        street: street and house number, in the country's order.
        postcode: in the country's format.
        town: name of the town.
        country: English name of the country.
    """

    street: str
    postcode: str
    town: str
    country: str

    def __str__(self) -> str:
        return f"{self.street}, {self.postcode} {self.town}, {self.country}"


class Organisation(Record):
    """A company, school or authority.

    Attributes:
        name: its name.
        email: the address that its mail comes from.
        site: its line of business, such as ``shop`` or ``newsletter``.
    """

    name: str
    email: str
    site: str


class Contact(Record):
    """Somebody in the person's address book.

    Attributes:
        given: given name.
        family: family name.
        email: unique among contacts.
        phone: in international format; unique among contacts.
        group: why the person knows them.
        relation: such as ``mother``, ``manager`` or ``dentist``.
        birthday: day of birth; None if it is unknown.
        address: postal address; None if it is unknown.
        organisation: employer, if known.
    """

    given: str
    family: str
    email: str
    phone: str
    group: Group
    relation: str
    birthday: date | None
    address: Address | None
    organisation: str

    @property
    def name(self) -> str:
        """Return given and family name."""
        return f"{self.given} {self.family}"


class Person(Record):
    """The person whose life fills the world.

    Attributes:
        given: given name.
        family: family name.
        email: address of the person's mailbox, and the name to sign in with.
        password: password of all accounts.
        phone: in international format.
        birthday: day of birth.
        home: postal address.
        employer: name of the employer.
        job: job title.
        locale: language and country, such as ``de-DE``; texts are in English.
        currency: ISO 4217 code of all prices.
        card: last digits of the card that pays orders.
    """

    given: str
    family: str
    email: str
    password: str
    phone: str
    birthday: date
    home: Address
    employer: str
    job: str
    locale: str
    currency: str
    card: str

    @property
    def name(self) -> str:
        """Return given and family name."""
        return f"{self.given} {self.family}"
