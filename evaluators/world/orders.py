"""Evaluators of a world's shop, which ask the shop itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluators.decorators import evaluator
from evaluators.world.mails import mail_is_marked
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from evaluators.world.records import StoredOrder
    from evaluators.world.view import WorldView

Status = Literal["processing", "shipped", "delivered", "cancelled", "returned"]


class Item(BaseModel):
    """An article of an order.

    Attributes:
        article: its number.
        quantity: number of pieces.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    article: str
    quantity: Annotated[int, Field(ge=1)] = 1


@evaluator(on="world")
def has_order(world: WorldView, items: list[Item], status: Status = "processing") -> bool:
    """Return whether exactly these articles were ordered, in one order that the persona did not have.

    Example:
        ``{on: world, check: has_order, with: {items: [{article: "10234", quantity: 2}]}}``

    Args:
        world: the world.
        items: articles by number, with quantities; the order has no other ones.
        status: state of the order.

    Raises:
        EvaluationError: the catalogue has no such article.
    """
    known = {product.number for product in world.persona.products}
    if unknown := [item.article for item in items if item.article not in known]:
        raise EvaluationError(f"The shop has no article {unknown[0]}.")
    return any(
        order.status == status and _quantities(order) == _wanted(items)
        for order in _new_orders(world)
    )


@evaluator(on="world")
def has_order_mail(
    world: WorldView,
    items: list[Item],
    seen: bool | None = None,  # noqa: FBT001
    flagged: bool | None = None,  # noqa: FBT001
) -> bool:
    """Return whether the shop's confirmation of an order is in the person's inbox.

    The order is one of exactly these articles that the persona did not have.

    Example:
        ``{on: world, check: has_order_mail, with: {items: [{article: "10234", quantity: 2}], flagged: true}}``

    Args:
        world: the world.
        items: articles by number, with quantities; the order has no other ones.
        seen: whether the mail was read; null matches any.
        flagged: whether it is flagged, or starred; null matches any.
    """
    subjects = [
        f"Your order {order.number}"
        for order in _new_orders(world)
        if _quantities(order) == _wanted(items)
    ]
    return any(mail_is_marked(world, subject, seen=seen, flagged=flagged) for subject in subjects)


@evaluator(on="world")
def order_has_status(world: WorldView, number: str, status: Status) -> bool:
    """Return whether an order is in a state, such as after its cancellation.

    Example:
        ``{on: world, check: order_has_status, with: {number: 2603-1234567, status: cancelled}}``

    Args:
        world: the world.
        number: number of the order; a missing order is unmet.
        status: the state.
    """
    return any(order.number == number and order.status == status for order in world.orders())


@evaluator(on="world")
def has_no_new_order(world: WorldView) -> bool:
    """Return whether nothing was ordered that is still to be delivered, besides what the persona had.

    Cancelled orders do not count.

    Example:
        ``{on: world, check: has_no_new_order}``

    Args:
        world: the world.
    """
    return all(order.status == "cancelled" for order in _new_orders(world))


@evaluator(on="world")
def keeps_orders(world: WorldView, besides: list[str] | None = None) -> bool:
    """Return whether all orders of the persona are still there, in the same state.

    For nodes with ``mode: keep``. New orders are no difference.

    Example:
        ``{on: world, check: keeps_orders, with: {besides: [2603-1234567]}}``

    Args:
        world: the world.
        besides: numbers of orders that may have changed.
    """
    there = {(order.number, order.status) for order in world.orders()}
    return all(
        (order.number, order.status.value) in there
        for order in world.persona.orders
        if order.number not in (besides or ())
    )


def _new_orders(world: WorldView) -> list[StoredOrder]:
    had = {order.number for order in world.persona.orders}
    return [order for order in world.orders() if order.number not in had]


def _wanted(items: list[Item]) -> Counter[str]:
    quantities: Counter[str] = Counter()
    for item in items:
        quantities[item.article] += item.quantity
    return quantities


def _quantities(order: StoredOrder) -> Counter[str]:
    quantities: Counter[str] = Counter()
    for line in order.lines:
        quantities[line.number] += line.quantity
    return quantities
