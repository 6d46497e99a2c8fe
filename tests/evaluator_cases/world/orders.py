"""Cases of the evaluators of a world's shop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    empty,
    forged,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.world import SEED, WorldFixture
from evaluators.world import orders
from evaluators.world.records import OrderedItem
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from evaluators.testing.case import State

PEN, CUP = (product.number for product in persona(SEED).products[:2])
TWO: dict[str, Any] = {"items": [{"article": PEN, "quantity": 2}]}
KNOWN = persona(SEED).orders.last()
NEW = "2603-8000000"
_READ = {
    CaseKind.CORRUPT: "the shop writes its orders",
    CaseKind.HOSTILE: "the shop writes its orders, and refuses other articles and quantities",
}


def order(items: dict[str, int], **changes: str) -> State:
    """Place an order."""
    return lambda world: world.order(items, **changes)


def mailed(items: dict[str, int], *flags: str, number: str = NEW) -> State:
    """Place an order, which the shop confirms by mail."""

    def prepare(world: WorldFixture) -> None:
        world.order(items, number)
        world.receive("INBOX", *flags, Subject=f"Your order {number}")

    return prepare


def split(world: WorldFixture) -> None:
    """Place an order with two lines of one article."""
    world.order({PEN: 1})
    line = OrderedItem(PEN, "Pen", 1, 100)
    world.shop[0] = replace(world.shop[0], lines=(line, line))


def known(**changes: str) -> State:
    """Change the last order of the persona."""

    def change(world: WorldFixture) -> None:
        world.shop[0] = replace(world.shop[0], **changes)  # type: ignore[arg-type] # texts only

    return change


def clear(world: WorldFixture) -> None:
    """Remove all orders."""
    world.shop.clear()


def status(value: str, number: str = NEW) -> dict[str, Any]:
    """Return arguments."""
    return {"number": number, "status": value}


TABLES = (
    CaseTable(
        orders.has_order,
        WorldFixture,
        (
            positive("placed", order({PEN: 2}), **TWO),
            positive(
                "two articles",
                order({PEN: 1, CUP: 3}),
                items=[{"article": CUP, "quantity": 3}, {"article": PEN}],
            ),
            positive("cancelled", order({PEN: 2}, status="cancelled"), **TWO, status="cancelled"),
            negative("nothing placed", nothing, **TWO),
            negative("no such article", nothing, items=[{"article": "none"}]).expect_error(),
            near_miss("other quantity", order({PEN: 3}), **TWO),
            near_miss("other article", order({CUP: 2}), **TWO),
            near_miss("further article", order({PEN: 2, CUP: 1}), **TWO),
            near_miss("cancelled, but to be delivered", order({PEN: 2}, status="cancelled"), **TWO),
            missing("all orders gone", clear, **TWO),
            empty("order without articles", order({}), **TWO),
            forged(
                "in two orders",
                lambda world: (world.order({PEN: 1}), world.order({PEN: 1}, "2603-8000001")),
                **TWO,
            ),
            forged("an order of the persona", order({PEN: 2}, number=KNOWN.number), **TWO),
            another_way("two lines", split, **TWO),
            another_way(
                "second order",
                lambda world: (world.order({PEN: 2}), world.order({CUP: 1}, "2603-8000001")),
                **TWO,
            ),
        ),
        inapplicable=_READ,
    ),
    CaseTable(
        orders.has_order_mail,
        WorldFixture,
        (
            positive("confirmed", mailed({PEN: 2}), **TWO),
            positive("starred", mailed({PEN: 2}, "\\Flagged"), **TWO, flagged=True),
            negative("not ordered", nothing, **TWO),
            near_miss("other articles", mailed({PEN: 3}), **TWO),
            near_miss("not starred", mailed({PEN: 2}), **TWO, flagged=True),
            near_miss("read", mailed({PEN: 2}, "\\Seen"), **TWO, seen=False),
            missing("no mail", order({PEN: 2}), **TWO),
            missing(
                "no order", lambda world: world.receive("INBOX", Subject=f"Your order {NEW}"), **TWO
            ),
            empty("order without articles", mailed({}), **TWO),
            forged(
                "of an order that the persona had", mailed({PEN: 2}, number=KNOWN.number), **TWO
            ),
            forged("deleted", mailed({PEN: 2}, "\\Deleted"), **TWO),
            another_way(
                "read and starred", mailed({PEN: 2}, "\\Seen", "\\Flagged"), **TWO, flagged=True
            ),
            another_way(
                "two articles",
                mailed({PEN: 2, CUP: 1}),
                items=[{"article": CUP}, {"article": PEN, "quantity": 2}],
            ),
        ),
        inapplicable=_READ,
    ),
    CaseTable(
        orders.order_has_status,
        WorldFixture,
        (
            positive("placed", order({PEN: 2}), **status("processing")),
            positive("of the persona", nothing, **status(KNOWN.status.value, KNOWN.number)),
            negative("other state", order({PEN: 2}), **status("cancelled")),
            near_miss(
                "another order", order({PEN: 2}, number="2603-8000001"), **status("processing")
            ),
            missing("no such order", nothing, **status("processing")),
            empty("no orders", clear, **status(KNOWN.status.value, KNOWN.number)),
            forged(
                "letter case of the state",
                order({PEN: 2}, status="Processing"),
                **status("processing"),
            ),
            forged("part of the number", order({PEN: 2}, number=NEW[:-1]), **status("processing")),
            another_way("order without articles", order({}), **status("processing")),
            another_way(
                "changed since", known(status="returned"), **status("returned", KNOWN.number)
            ),
        ),
        inapplicable=_READ,
    ),
    CaseTable(
        orders.has_no_new_order,
        WorldFixture,
        (
            positive("nothing placed", nothing),
            negative("placed", order({PEN: 2})),
            near_miss(
                "one of two cancelled",
                lambda world: (
                    world.order({PEN: 2}),
                    world.order({CUP: 1}, "2603-8000001", status="cancelled"),
                ),
            ),
            empty("order without articles", order({})),
            forged("delivered", order({PEN: 2}, status="delivered")),
            forged("returned", order({PEN: 2}, status="returned")),
            another_way("cancelled", order({PEN: 2}, status="cancelled")),
            another_way("an order of the persona changed", known(status="returned")),
        ),
        inapplicable={**_READ, CaseKind.MISSING: "without orders, nothing is new"},
    ),
    CaseTable(
        orders.keeps_orders,
        WorldFixture,
        (
            positive("nothing changed", nothing),
            positive("one that may change", known(status="lost"), besides=[KNOWN.number]),
            negative("all gone", clear),
            near_miss("one changed", known(status="lost")),
            missing("one gone", lambda world: world.shop.pop()),
            empty("all gone, one may be", clear, besides=[KNOWN.number]),
            forged("renumbered", known(number=NEW)),
            forged("replaced", lambda world: (world.shop.pop(), world.order({PEN: 1}))),
            another_way("new order", order({PEN: 2})),
            another_way("other sequence", lambda world: world.shop.reverse()),
        ),
        inapplicable=_READ,
    ),
)
