"""What the servers of a world return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredMail:
    r"""A mail in a folder.

    Attributes:
        uid: its number in the folder.
        flags: such as ``\Seen``.
        data: its source; headers only, if it was listed.
    """

    uid: str
    flags: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a site.

    Attributes:
        status: status of the response.
        html: its source.
    """

    status: int
    html: str


@dataclass(frozen=True, slots=True)
class OrderedItem:
    """One article of an order."""

    number: str
    name: str
    quantity: int
    price_cents: int


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """An order in the shop.

    Attributes:
        number: its number.
        status: its state, such as ``processing``.
        lines: its articles.
        total_cents: what is paid, with shipping.
        address: where to.
    """

    number: str
    status: str
    lines: tuple[OrderedItem, ...]
    total_cents: int
    address: str
