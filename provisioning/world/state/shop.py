"""The shop of a persona as its site stores it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from provisioning.world.persona.making.shopping import shipping_terms
from provisioning.world.state.archive import StateFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.world.persona.model.shop import Order
    from provisioning.world.persona.persona import Persona

SHOP = "sites/shop"
"""Folder of the shop in the state; each order is a file below ``orders``."""


def shop_files(persona: Persona) -> Iterator[StateFile]:
    """Return the files of the shop: catalogue and customer, orders, and an empty cart."""
    now_s = int(persona.now.timestamp())
    yield _file("catalogue.json", _catalogue(persona), now_s)
    yield _file("cart.json", {}, now_s)
    numbers = {product.id: product.number for product in persona.products}
    for order in persona.orders:
        placed_s = int(order.placed.timestamp())
        yield _file(f"orders/{order.number}.json", _order(order, numbers), placed_s)


def order_path(number: str) -> str:
    """Return the path of an order in the state."""
    return f"{SHOP}/orders/{number}.json"


def _file(name: str, value: object, mtime_s: int) -> StateFile:
    text = json.dumps(value, indent=1, sort_keys=True)
    return StateFile(f"{SHOP}/{name}", text.encode(), mtime_s)


def _catalogue(persona: Persona) -> dict[str, Any]:
    person = persona.person
    shop = next(known for known in persona.records.organisations if known.site == "shop")
    free_cents, shipping_cents = shipping_terms(person.currency)
    return {
        "name": shop.name,
        "email": shop.email,
        "currency": person.currency,
        "free_shipping_cents": free_cents,
        "shipping_cents": shipping_cents,
        "now": persona.now.isoformat(),
        "customer": {
            "name": person.name,
            "given": person.given,
            "email": person.email,
            "address": str(person.home),
            "card": person.card,
        },
        "products": [product.model_dump(mode="json") for product in persona.products],
    }


def _order(order: Order, numbers: dict[str, str]) -> dict[str, Any]:
    lines = [{**line.model_dump(), "number": numbers[line.product]} for line in order.lines]
    return {
        "number": order.number,
        "placed": order.placed.isoformat(),
        "lines": lines,
        "shipping_cents": order.shipping_cents,
        "total_cents": order.total_cents,
        "status": order.status.value,
        "delivered": order.delivered and order.delivered.isoformat(),
        "address": str(order.address),
    }
