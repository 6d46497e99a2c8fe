"""All records of a persona."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from foundation.files import digest_json
from provisioning.world.persona.model.base import Part
from provisioning.world.persona.model.calendar import Event
from provisioning.world.persona.model.documents import Bookmark, File, Note, Photo, Visit
from provisioning.world.persona.model.mail import Mail, TextMessage
from provisioning.world.persona.model.people import Contact, Organisation, Person
from provisioning.world.persona.model.shop import Order, Product


class PersonaRecords(Part):
    """The life of one person; dated records are in the order of time.

    Attributes:
        seed: the seed that it was made from.
        now: the persona's present, UTC; it is never that of the host.
        person: the person.
        organisations: whom mail comes from, besides contacts.
        contacts: the address book.
        mails: the mailbox.
        messages: text messages.
        events: the calendar.
        products: the shop's catalogue.
        orders: the person's orders.
        files: documents.
        notes: notes.
        photos: photos.
        visits: history of the browser.
        bookmarks: bookmarks of the browser.
    """

    seed: int
    now: datetime
    person: Person
    organisations: tuple[Organisation, ...]
    contacts: tuple[Contact, ...]
    mails: tuple[Mail, ...]
    messages: tuple[TextMessage, ...]
    events: tuple[Event, ...]
    products: tuple[Product, ...]
    orders: tuple[Order, ...]
    files: tuple[File, ...]
    notes: tuple[Note, ...]
    photos: tuple[Photo, ...]
    visits: tuple[Visit, ...]
    bookmarks: tuple[Bookmark, ...]

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of all records, the same in every process."""
        return digest_json(self.model_dump(mode="json"))
