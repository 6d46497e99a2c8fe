"""The shop's catalogue, orders, and the mails about them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import (
    Letter,
    format_cents,
    format_day,
    mailbox_of,
    some_moment,
    to_ascii,
)
from provisioning.world.persona.making.people import make_brand
from provisioning.world.persona.model.documents import File, Visit
from provisioning.world.persona.model.shop import Order, OrderLine, OrderStatus, Product
from provisioning.world.persona.words.catalogue import CATEGORIES
from provisioning.world.persona.words.sites import SHOP

if TYPE_CHECKING:
    from datetime import datetime

    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.making.life import Life
    from provisioning.world.persona.model.mail import Mail
    from provisioning.world.persona.words.catalogue import Category

_PER_CATEGORY = 32
_FREE_SHIPPING_CENTS = 6000
_SHIPPING_CENTS = 490
_PRICE_FACTORS = {"INR": 80}
_SETTLED_DAYS = 10
_SHIPPED_DAYS = 2


def add_products(life: Life) -> None:
    """Add the shop's catalogue."""
    draws = life.draws.stream("products")
    brands = [make_brand(draws) for _ in range(16)]
    for category in CATEGORIES:
        names = [
            (brand, f"{brand} {thing} {variant}")
            for brand in sorted(set(brands))
            for thing in category.things
            for variant in category.variants
        ]
        for brand, name in draws.sample(names, _PER_CATEGORY):
            life.products.append(_make_product(life, draws, category, brand, name))


def _make_product(life: Life, draws: Draws, category: Category, brand: str, name: str) -> Product:
    part = draws.number(0, 1)  # squared, as most things are cheap
    cents = category.low_cents + int((category.high_cents - category.low_cents) * part * part)
    cents = cents // 100 * 100 + draws.choice((0, 49, 90, 95, 99))
    first, second = draws.sample(category.uses, 2)
    text = f"{name} for {first} and {second}. Made by {brand}, with two years of guarantee."
    return Product(
        id=life.new_id("product"),
        number=f"{category.name[:2].upper()}{len(life.products) + 1:03d}-{draws.digits('####')}",
        name=name,
        brand=brand,
        category=category.name,
        price_cents=max(cents, 100) * _PRICE_FACTORS.get(life.person.currency, 1),
        rating_tenths=draws.integer(26, 50),
        stock=0 if draws.chance(0.07) else draws.integer(1, 240),
        description=text,
    )


def add_orders(life: Life) -> None:
    """Add the person's orders, at least three in every full month, each with its mails and receipt.

    No two orders have the same total.
    """
    draws = life.draws.stream("orders")
    totals: set[int] = set()
    day = life.begin + timedelta(days=draws.integer(1, 6))
    while day < life.today:
        order = _make_order(life, draws, day)
        if order.total_cents not in totals:
            totals.add(order.total_cents)
            life.orders.append(order)
            _add_visits(life, draws, order)
            _add_mails(life, draws, order)
            _add_receipt(life, order)
            day += timedelta(days=draws.integer(2, 9))


def shipping_terms(currency: str) -> tuple[int, int]:
    """Return the value of goods from which shipping is free, and its price below, in cents."""
    factor = _PRICE_FACTORS.get(currency, 1)
    return _FREE_SHIPPING_CENTS * factor, _SHIPPING_CENTS * factor


def _make_order(life: Life, draws: Draws, day: date) -> Order:
    free_cents, shipping_cents = shipping_terms(life.person.currency)
    lines = tuple(
        OrderLine(
            product=product.id,
            name=product.name,
            quantity=draws.choice((1, 1, 1, 2, 3)),
            price_cents=product.price_cents,
        )
        for product in draws.sample(life.products, draws.choice((1, 1, 2, 2, 3, 4)))
    )
    goods = sum(line.quantity * line.price_cents for line in lines)
    status, delivered = _settle(life, draws, day)
    return Order(
        id=life.new_id("order"),
        number=f"{day:%y%m}-{draws.digits('#######')}",
        placed=some_moment(draws, day),
        lines=lines,
        shipping_cents=0 if goods >= free_cents else shipping_cents,
        status=status,
        delivered=delivered,
        address=life.person.home,
    )


def _settle(life: Life, draws: Draws, day: date) -> tuple[OrderStatus, date | None]:
    """Return the state of an order, and the day of its delivery."""
    age, took = (life.today - day).days, draws.integer(3, 6)
    if age <= _SHIPPED_DAYS:
        return OrderStatus.PROCESSING, None
    if age < _SETTLED_DAYS:
        return OrderStatus.SHIPPED, None
    if draws.chance(0.04):
        return OrderStatus.CANCELLED, None
    status = OrderStatus.RETURNED if draws.chance(0.05) else OrderStatus.DELIVERED
    return status, day + timedelta(days=took)


def _add_visits(life: Life, draws: Draws, order: Order) -> None:
    """Add the pages that the person saw before ordering."""
    when = order.placed - timedelta(minutes=draws.integer(12, 50))
    numbers = {product.id: product.number for product in life.products}
    pages = [(f"https://{SHOP}/", "Shop")]
    pages += [
        (f"https://{SHOP}/product/{numbers[line.product]}", line.name) for line in order.lines
    ]
    pages.append((f"https://{SHOP}/cart", "Cart"))
    for url, title in pages:
        life.visits.append(Visit(id=life.new_id("visit"), url=url, title=title, visited=when))
        when += timedelta(seconds=draws.integer(20, 120))


def describe_order(life: Life, order: Order) -> str:
    """Return the articles and the total of an order, one a line."""
    currency = life.person.currency
    rows = [
        f"{line.quantity} x {line.name}: {format_cents(line.quantity * line.price_cents, currency)}"
        for line in order.lines
    ]
    rows.append(f"Shipping: {format_cents(order.shipping_cents, currency)}")
    rows.append(f"Total: {format_cents(order.total_cents, currency)}")
    return "\n".join(rows)


def _add_mails(life: Life, draws: Draws, order: Order) -> None:
    confirmed = _add_mail(
        life,
        order,
        order.placed + timedelta(minutes=draws.integer(1, 4)),
        f"Your order {order.number}",
        f"thank you for your order {order.number}.\n\n{describe_order(life, order)}\n\n"
        f"We deliver to: {order.address}\nPaid by card ending in {life.person.card}.",
    )
    if order.status == OrderStatus.CANCELLED:
        when = order.placed + timedelta(hours=draws.integer(3, 20))
        text = "was cancelled. Nothing was charged to your card."
        _add_mail(
            life, order, when, f"Order {order.number} cancelled", f"your order {text}", confirmed
        )
        return
    if order.status == OrderStatus.PROCESSING:
        return
    shipped = some_moment(draws, order.placed.date() + timedelta(days=1), 8, 18)
    parcel = draws.digits("JD##########")
    text = f"your order {order.number} is on its way. Number of the parcel: {parcel}."
    _add_mail(life, order, shipped, f"Order {order.number} has been sent", text, confirmed)
    if order.delivered is None:
        return
    arrived = some_moment(draws, order.delivered, 9, 19)
    text = f"the parcel {parcel} with your order {order.number} was delivered."
    _add_mail(life, order, arrived, f"Order {order.number} delivered", text, confirmed)
    if order.status == OrderStatus.RETURNED:
        refund = format_cents(order.total_cents, life.person.currency)
        when = some_moment(draws, refund_day(order), 9, 17)
        text = f"we received your return of order {order.number} and refunded {refund}."
        _add_mail(life, order, when, f"Refund for order {order.number}", text, confirmed)


def refund_day(order: Order) -> date:
    """Return the day on which a returned order is refunded."""
    return (order.delivered or order.placed.date()) + timedelta(days=3)


def _add_mail(  # noqa: PLR0917 - one place for all mails of the shop
    life: Life,
    order: Order,
    sent: datetime,
    subject: str,
    text: str,
    confirmed: Mail | None = None,
) -> Mail:
    shop = life.organisation("shop")
    return life.write(
        Letter(
            sender=mailbox_of(shop),
            to=(life.me,),
            sent=sent,
            subject=subject,
            body=f"Hello {life.person.given},\n\n{text}\n\nYour {shop.name}\n",
            about=order.id,
            reply_to=confirmed,
        )
    )


def _add_receipt(life: Life, order: Order) -> None:
    """Add the receipt that the person kept."""
    if order.status == OrderStatus.CANCELLED:
        return
    shop = life.organisation("shop").name
    text = (
        f"{shop}\nReceipt for order {order.number} of {format_day(order.placed.date())}\n\n"
        f"{describe_order(life, order)}\n"
    )
    name = f"{order.placed:%Y-%m-%d} {to_ascii(order.number)}.txt"
    life.files.append(
        File(
            id=life.new_id("file"),
            path=f"Documents/Receipts/{name}",
            media_type="text/plain",
            text=text,
            modified=order.placed + timedelta(minutes=6),
        )
    )
