"""Test fixture of a world: what the servers of seed 7 have, in memory, and what a case changes."""

from __future__ import annotations

from dataclasses import replace
from email.message import EmailMessage
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from evaluators.testing.case import BaseFixture
from evaluators.world.records import OrderedItem, Page, StoredMail, StoredOrder
from evaluators.world.view import WorldView
from foundation.clock import FakeClock
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.persona import persona
from provisioning.world.state.collections import CONTACTS, calendar_of, card_of
from provisioning.world.state.mailbox import message_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evaluators.testing.case import StateMutation
    from evaluators.world.view import WorldSource
    from provisioning.world.persona.model.shop import Order

SEED = 7
TIMEOUT_S = 60.0
"""Time limit of an evaluator in a fixture."""


class WorldFixture(BaseFixture):
    r"""A world as its persona left it; a case adds, changes and removes.

    Attributes:
        sent: sources of the mails that left the world.
        pages: pages by address; others do not exist.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sent: list[bytes] = []
        self.pages: dict[str, Page] = {}

    @cached_property
    def mailbox(self) -> dict[str, list[StoredMail]]:
        """Return the mails by folder."""
        return {name: list(mails) for name, mails in _mailbox().items()}

    @cached_property
    def collections(self) -> dict[str, dict[str, str]]:
        """Return the members of calendars and of the address book, by collection and name."""
        return {name: dict(members) for name, members in _collections().items()}

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Return the documents by path."""
        return dict(_files())

    @cached_property
    def shop(self) -> list[StoredOrder]:
        """Return the orders."""
        return list(_orders())

    @property
    def source(self) -> WorldSource:
        """Return the source of its views."""
        return _Source(self)

    def subject(self) -> WorldView:
        """Create a view with an empty cache."""
        return WorldView(self.source, timeout_s=TIMEOUT_S, clock=FakeClock())

    def receive(self, folder: str, *flags: str, data: bytes | None = None, **headers: str) -> None:
        """Put a mail into a folder.

        Args:
            folder: the folder, which is made if it does not exist.
            flags: its flags.
            data: its source; by default, that of the headers and of the text ``text``.
            headers: its headers, with underscores for hyphens.
        """
        mails = self.mailbox.setdefault(folder, [])
        source = compose(**headers) if data is None else data
        mails.append(StoredMail(str(len(mails) + 1000), flags, source))

    def send(self, *addresses: str, data: bytes | None = None, **headers: str) -> None:
        """Let a mail leave the world to some addresses, as the SMTP server writes it."""
        source = compose(**headers) if data is None else data
        self.sent.append(f"Envelope-to: {', '.join(addresses)}\n".encode() + source)

    def member(self, collection: str, text: str, name: str = "new") -> None:
        """Put a member into a calendar or the address book."""
        self.collections.setdefault(collection, {})[name] = text

    def order(self, items: Mapping[str, int], number: str = "2603-8000000", **changes: str) -> None:
        """Add an order."""
        lines = tuple(OrderedItem(key, key, count, 100) for key, count in items.items())
        new = StoredOrder(number, "processing", lines, 100, "Somewhere 1")
        self.shop.insert(0, replace(new, **changes))  # type: ignore[arg-type] # texts only

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of what the case added, and the loss of everything of each kind."""
        mutations: list[StateMutation] = []
        known = {mail for mails in _mailbox().values() for mail in mails}
        for folder, mails in self.mailbox.items():
            for mail in [mail for mail in mails if mail not in known]:
                deleted = replace(mail, flags=(*mail.flags, "\\Deleted"))
                mutations.append((f"{folder}: mail gone", partial(mails.remove, mail)))
                mutations.append((f"{folder}: deleted", partial(_swap, mails, mail, deleted)))
        for name, members in self.collections.items():
            mutations += [
                (f"{name}: {member} gone", partial(members.pop, member, None))
                for member in set(members) - set(_collections().get(name, {}))
            ]
        for path in set(self.files) - set(_files()):
            mutations.append((f"{path}: gone", partial(self.files.pop, path)))
            mutations.append((f"{path}: other", partial(self.files.update, {path: b"other"})))
        for url in self.pages:
            mutations.append((f"{url}: gone", partial(self.pages.pop, url)))
        mutations += [
            ("sent mails: gone", self.sent.clear),
            ("new orders: gone", partial(self.shop.__setitem__, slice(None), list(_orders()))),
            ("mailbox: empty", partial(_clear, self.mailbox)),
            ("collections: empty", partial(_clear, self.collections)),
        ]
        return mutations


def compose(text: str = "Hello", **headers: str) -> bytes:
    """Return the source of a mail."""
    message = EmailMessage()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message.as_bytes()


class _Source:
    """An `evaluators.world.view.WorldSource` of a fixture."""

    seed = SEED

    def __init__(self, fixture: WorldFixture) -> None:
        self._fixture = fixture

    def folders(self) -> Sequence[str]:
        return sorted(self._fixture.mailbox)

    def heads(self, folder: str) -> Sequence[StoredMail] | None:
        mails = self._fixture.mailbox.get(folder)
        if mails is None:
            return None
        return [replace(mail, data=_head_of(mail.data)) for mail in mails]

    def mail(self, folder: str, uid: str) -> bytes | None:
        mails = self._fixture.mailbox[folder]
        return next((mail.data for mail in mails if mail.uid == uid), None)

    def outside(self) -> Sequence[bytes]:
        return self._fixture.sent

    def collection(self, name: str) -> str | None:
        members = self._fixture.collections.get(name)
        return None if members is None else "".join(members.values())

    def file(self, path: str) -> bytes | None:
        return self._fixture.files.get(path)

    def orders(self) -> Sequence[StoredOrder]:
        return self._fixture.shop

    def page(self, url: str) -> Page:
        return self._fixture.pages.get(url, Page(404, "<html><body>No such page</body></html>"))


def _head_of(data: bytes) -> bytes:
    return data.partition(b"\n\n")[0] + b"\n\n"


def _swap(mails: list[StoredMail], old: StoredMail, new: StoredMail) -> None:
    mails[mails.index(old)] = new


def _clear(parts: Mapping[str, list[StoredMail]] | Mapping[str, dict[str, str]]) -> None:
    for part in parts.values():
        part.clear()


@cache
def _mailbox() -> dict[str, tuple[StoredMail, ...]]:
    someone = persona(SEED)
    files = {file.path: file for file in someone.files}
    return {
        folder.value: tuple(
            StoredMail(
                str(number),
                ("\\Seen",) if mail.is_read else (),
                message_of(mail, files).as_bytes(),
            )
            for number, mail in enumerate(someone.mails.in_folder(folder), 1)
        )
        for folder in Folder
    }


@cache
def _collections() -> dict[str, dict[str, str]]:
    someone = persona(SEED)
    contacts = {contact.id: contact for contact in someone.contacts}
    members = {
        calendar.value: {
            event.id: calendar_of(event, someone, contacts).decode()
            for event in someone.events.in_calendar(calendar)
        }
        for calendar in Calendar
    }
    cards = {contact.id: card_of(contact).decode() for contact in someone.contacts}
    return {**members, CONTACTS: cards}


@cache
def _files() -> dict[str, bytes]:
    return {file.path: file.text.encode() for file in persona(SEED).files}


@cache
def _orders() -> tuple[StoredOrder, ...]:
    someone = persona(SEED)
    numbers = {product.id: product.number for product in someone.products}
    return tuple(_stored(order, numbers) for order in reversed(someone.orders))


def _stored(order: Order, numbers: Mapping[str, str]) -> StoredOrder:
    lines = tuple(
        OrderedItem(numbers[line.product], line.name, line.quantity, line.price_cents)
        for line in order.lines
    )
    return StoredOrder(
        order.number, order.status.value, lines, order.total_cents, str(order.address)
    )
