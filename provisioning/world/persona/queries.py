"""Typed questions about a persona's records, such as for the parameters of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, overload

from foundation.errors import UsageError
from provisioning.world.persona.model.base import Record
from provisioning.world.persona.model.calendar import Event
from provisioning.world.persona.model.documents import File, Note, Photo, Visit
from provisioning.world.persona.model.mail import Mail, TextMessage
from provisioning.world.persona.model.people import Contact
from provisioning.world.persona.model.shop import Order, Product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date, datetime
    from typing import Self

    from provisioning.world.persona.model.calendar import Calendar
    from provisioning.world.persona.model.mail import Folder
    from provisioning.world.persona.model.people import Group
    from provisioning.world.persona.model.shop import OrderStatus

R = TypeVar("R", bound=Record)


class Month(NamedTuple):
    """A month of a year."""

    year: int
    month: int

    @property
    def before(self) -> Month:
        """Return the previous month."""
        return Month(self.year - 1, 12) if self.month == 1 else Month(self.year, self.month - 1)


class Records(Sequence[R], Generic[R]):
    """Records, in the persona's order; each method that selects returns the same type.

    Args:
        records: the records.
    """

    def __init__(self, records: Iterable[R]) -> None:
        self._records = tuple(records)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> R | Self:
        if isinstance(index, slice):
            return type(self)(self._records[index])
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def where(self, keep: Callable[[R], bool]) -> Self:
        """Return the records for which a function returns True."""
        return type(self)(record for record in self._records if keep(record))

    def with_id(self, record_id: str) -> R:
        """Return the record with an id.

        Raises:
            UsageError: there is none.
        """
        return self.where(lambda record: record.id == record_id).only()

    def only(self) -> R:
        """Return the only record.

        Raises:
            UsageError: there is none, or there are several.
        """
        if len(self) != 1:
            raise UsageError(f"Exactly one record was expected, and {len(self)} match.")
        return self._records[0]

    def least(self, by: Callable[[R], int]) -> R:
        """Return the record for which a function returns the smallest number.

        Raises:
            UsageError: there is none, or several have the smallest number.
        """
        smallest = min(map(by, self._records), default=0)
        return self.where(lambda record: by(record) == smallest).only()


class Dated(Records[R], ABC):
    """Records that belong to a time, in its order."""

    @staticmethod
    @abstractmethod
    def time_of(record: R) -> datetime:
        """Return the time of a record, UTC."""

    def before(self, when: datetime) -> Self:
        """Return the records before a time."""
        return self.where(lambda record: self.time_of(record) < when)

    def after(self, when: datetime) -> Self:
        """Return the records at a time or later."""
        return self.where(lambda record: self.time_of(record) >= when)

    def on(self, day: date) -> Self:
        """Return the records of a day."""
        return self.where(lambda record: self.time_of(record).date() == day)

    def in_month(self, month: Month) -> Self:
        """Return the records of a month."""
        return self.where(lambda record: _month_of(self.time_of(record)) == month)

    def first(self) -> R:
        """Return the earliest record.

        Raises:
            UsageError: there is none.
        """
        return self[:1].only()

    def last(self) -> R:
        """Return the latest record.

        Raises:
            UsageError: there is none.
        """
        return self[-1:].only()


class Contacts(Records[Contact]):
    """The address book."""

    def in_group(self, *groups: Group) -> Self:
        """Return the contacts of some groups."""
        return self.where(lambda contact: contact.group in groups)

    def related_as(self, relation: str) -> Self:
        """Return the contacts of a relation, such as ``mother`` or ``manager``."""
        return self.where(lambda contact: contact.relation == relation)

    def named(self, name: str) -> Contact:
        """Return the contact with a given and family name; no two have the same.

        Raises:
            UsageError: there is none.
        """
        return self.where(lambda contact: contact.name == name).only()


class Mails(Dated[Mail]):
    """The mailbox."""

    @staticmethod
    def time_of(record: Mail) -> datetime:
        """Return when it was sent."""
        return record.sent

    def in_folder(self, folder: Folder) -> Self:
        """Return the mails of a folder."""
        return self.where(lambda mail: mail.folder == folder)

    def unread(self) -> Self:
        """Return the mails that the person has not read."""
        return self.where(lambda mail: not mail.is_read)

    def sent_by(self, email: str) -> Self:
        """Return the mails from an address."""
        return self.where(lambda mail: mail.sender.email == email)

    def about(self, record: Record) -> Self:
        """Return the mails about an order, an event or a contact."""
        return self.where(lambda mail: mail.about == record.id)

    def thread_of(self, mail: Mail) -> Self:
        """Return all mails of a mail's thread."""
        return self.where(lambda other: other.thread == mail.thread)

    def containing(self, text: str) -> Self:
        """Return the mails with a text in subject or body."""
        return self.where(lambda mail: text in mail.subject or text in mail.body)


class Messages(Dated[TextMessage]):
    """Text messages."""

    @staticmethod
    def time_of(record: TextMessage) -> datetime:
        """Return when it was sent."""
        return record.sent

    def between(self, contact: Contact) -> Self:
        """Return the messages between the person and a contact."""
        return self.where(lambda message: message.contact == contact.id)


class Events(Dated[Event]):
    """The calendar; an event that repeats has the time of its first occurrence."""

    @staticmethod
    def time_of(record: Event) -> datetime:
        """Return when it starts."""
        return record.start

    def in_calendar(self, calendar: Calendar) -> Self:
        """Return the events of a calendar."""
        return self.where(lambda event: event.calendar == calendar)

    def with_guest(self, contact: Contact) -> Self:
        """Return the events to which a contact is invited."""
        return self.where(lambda event: contact.id in event.guests)


class Products(Records[Product]):
    """The shop's catalogue."""

    def in_category(self, name: str) -> Self:
        """Return the products of a category."""
        return self.where(lambda product: product.category == name)

    def in_stock(self) -> Self:
        """Return the products that can be delivered."""
        return self.where(lambda product: product.stock > 0)

    def cheapest(self) -> Product:
        """Return the product with the lowest price.

        Raises:
            UsageError: there is none, or several have that price.
        """
        return self.least(lambda product: product.price_cents)


class Orders(Dated[Order]):
    """The person's orders; no two have the same total."""

    @staticmethod
    def time_of(record: Order) -> datetime:
        """Return when it was placed."""
        return record.placed

    def with_status(self, *statuses: OrderStatus) -> Self:
        """Return the orders in some states."""
        return self.where(lambda order: order.status in statuses)

    def of_product(self, product: Product) -> Self:
        """Return the orders of a product."""
        return self.where(lambda order: product.id in {line.product for line in order.lines})

    def cheapest(self) -> Order:
        """Return the order with the lowest total.

        Raises:
            UsageError: there is none.
        """
        return self.least(lambda order: order.total_cents)

    def dearest(self) -> Order:
        """Return the order with the highest total.

        Raises:
            UsageError: there is none.
        """
        return self.least(lambda order: -order.total_cents)

    def total_cents(self) -> int:
        """Return the sum of all totals."""
        return sum(order.total_cents for order in self)


class Files(Dated[File]):
    """Documents."""

    @staticmethod
    def time_of(record: File) -> datetime:
        """Return when it was last changed."""
        return record.modified

    def below(self, folder: str) -> Self:
        """Return the files of a folder and its folders, such as ``Documents/Bank``."""
        return self.where(lambda file: file.path.startswith(f"{folder}/"))

    def at(self, path: str) -> File:
        """Return the file with a path.

        Raises:
            UsageError: there is none.
        """
        return self.where(lambda file: file.path == path).only()


class Notes(Dated[Note]):
    """Notes."""

    @staticmethod
    def time_of(record: Note) -> datetime:
        """Return when it was last changed."""
        return record.edited


class Photos(Dated[Photo]):
    """Photos."""

    @staticmethod
    def time_of(record: Photo) -> datetime:
        """Return when it was taken."""
        return record.taken

    def in_album(self, album: str) -> Self:
        """Return the photos of an album."""
        return self.where(lambda photo: photo.album == album)

    def showing(self, contact: Contact) -> Self:
        """Return the photos of a contact."""
        return self.where(lambda photo: contact.id in photo.people)


class Visits(Dated[Visit]):
    """History of the browser."""

    @staticmethod
    def time_of(record: Visit) -> datetime:
        """Return when the page was opened."""
        return record.visited


def _month_of(when: datetime) -> Month:
    return Month(when.year, when.month)
