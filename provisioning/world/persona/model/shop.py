"""The shop's catalogue, and the person's orders."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from provisioning.world.persona.model.base import Part, Record
from provisioning.world.persona.model.people import Address


class Product(Record):
    """A product of the shop.

    Attributes:
        number: article number, unique in the catalogue.
        name: unique in the catalogue.
        brand: its maker.
        category: name of the category.
        price_cents: price in hundredths of the persona's currency.
        rating_tenths: average rating, 10 to 50.
        stock: pieces in stock.
        description: one paragraph.
    """

    number: str
    name: str
    brand: str
    category: str
    price_cents: int
    rating_tenths: int
    stock: int
    description: str


class OrderStatus(StrEnum):
    """The state of an order."""

    PROCESSING = "processing"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"
    RETURNED = "returned"


class OrderLine(Part):
    """One article of an order.

    Attributes:
        product: id of the product.
        name: its name.
        quantity: number of pieces.
        price_cents: price of one piece when ordered.
    """

    product: str
    name: str
    quantity: int
    price_cents: int


class Order(Record):
    """An order in the shop.

    Attributes:
        number: number on mails and pages.
        placed: when it was placed, UTC.
        lines: articles.
        shipping_cents: cost of shipping.
        status: its state at the persona's present.
        delivered: day of delivery; None if it was not delivered.
        address: where to.
    """

    number: str
    placed: datetime
    lines: tuple[OrderLine, ...]
    shipping_cents: int
    status: OrderStatus
    delivered: date | None
    address: Address

    @property
    def total_cents(self) -> int:
        """Return what was paid, with shipping."""
        return sum(line.quantity * line.price_cents for line in self.lines) + self.shipping_cents
