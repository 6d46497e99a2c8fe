"""Documents and notes: bank statements, bills, minutes, lists, recipes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import (
    HISTORY_DAYS,
    Letter,
    decimal_of,
    format_cents,
    format_day,
    mailbox_of,
    moment,
    some_moment,
)
from provisioning.world.persona.making.shopping import refund_day
from provisioning.world.persona.model.calendar import Calendar, Repeats
from provisioning.world.persona.model.documents import File, Note
from provisioning.world.persona.model.people import Group
from provisioning.world.persona.model.shop import OrderStatus
from provisioning.world.persona.words import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.world.persona.making.life import Life

_FACTORS = {"INR": 30}


@dataclass(frozen=True, slots=True, order=True)
class _Booking:
    """One line of a bank statement."""

    day: date
    text: str
    cents: int


def add_statements(life: Life) -> None:
    """Add a bank statement for each full month, with every order of it, and the mail that brought it."""
    draws = life.draws.stream("bank")
    bank, factor = life.organisation("bank"), _FACTORS.get(life.person.currency, 1)
    salary, rent = draws.integer(2400, 5200) * 100, draws.integer(650, 1500) * 100
    groceries = [f"Grocer {town}" for town in draws.sample(life.locale.towns, 3)]
    balance = draws.integer(800, 9000) * 100 * factor
    orders = list(_order_bookings(life))
    for first in _months(life):
        after = _next_month(first)
        bookings = [booking for booking in orders if first <= booking.day < after]
        bookings.append(_Booking(first, f"Rent {life.person.home.street}", -rent * factor))
        bookings.append(_Booking(first + timedelta(days=24), life.person.employer, salary * factor))
        for _ in range(draws.integer(8, 14)):
            day = first + timedelta(days=draws.integer(0, (after - first).days - 1))
            cents = draws.integer(900, 11000) * factor
            bookings.append(_Booking(day, draws.choice(groceries), -cents))
        rows = ["date,text,amount,balance"]
        for booking in sorted(bookings):
            balance += booking.cents
            amounts = (decimal_of(booking.cents), decimal_of(balance))
            rows.append(",".join((booking.day.isoformat(), booking.text, *amounts)))
        sent = moment(after, 4, 30)
        path = f"Documents/Bank/{first:%Y-%m}.csv"
        add_file(life, path, "text/csv", "\n".join(rows) + "\n", sent)
        if sent < life.now:
            life.write(
                Letter(
                    sender=mailbox_of(bank),
                    to=(life.me,),
                    sent=sent,
                    subject=f"Your statement of {first:%m/%Y}",
                    body=f"Dear {life.person.name},\n\nyour statement is attached. New balance: "
                    f"{format_cents(balance, life.person.currency)}.\n\n{bank.name}\n",
                    attachments=(path,),
                )
            )


def _order_bookings(life: Life) -> Iterator[_Booking]:
    """Return the payments and refunds of orders."""
    shop = life.organisation("shop").name
    for order in life.orders:
        if order.status != OrderStatus.CANCELLED:
            yield _Booking(order.placed.date(), f"{shop} {order.number}", -order.total_cents)
        if order.status == OrderStatus.RETURNED:
            yield _Booking(refund_day(order), f"{shop} {order.number} refund", order.total_cents)


def add_bills(life: Life) -> None:
    """Add the monthly bills of energy and telephone."""
    draws = life.draws.stream("bills")
    factor = _FACTORS.get(life.person.currency, 1)
    for first in _months(life):
        for site, low, high in (("energy", 4200, 16000), ("telephone", 1500, 3900)):
            company, when = (
                life.organisation(site),
                some_moment(draws, first + timedelta(days=9), 6, 9),
            )
            number = draws.digits("@@-######")
            price = format_cents(draws.integer(low, high) * factor, life.person.currency)
            text = (
                f"{company.name}\nBill {number}\n{life.person.name}, {life.person.home}\n"
                f"Amount: {price}\nDue: {format_day(first + timedelta(days=23))}\n"
            )
            path = f"Documents/Bills/{first:%Y-%m} {site}.txt"
            add_file(life, path, "text/plain", text, when)
            life.write(
                Letter(
                    sender=mailbox_of(company),
                    to=(life.me,),
                    sent=when,
                    subject=f"Your bill {number}",
                    body=f"Dear {life.person.name},\n\nthe bill of {first:%m/%Y} is attached: {price}.\n",
                    attachments=(path,),
                )
            )


def add_minutes(life: Life) -> None:
    """Add minutes of meetings, with those who were there."""
    draws = life.draws.stream("minutes")
    names = {contact.id: contact.name for contact in life.contacts}
    for event in life.events:
        is_meeting = event.calendar == Calendar.WORK and event.repeats == Repeats.NEVER
        if not is_meeting or event.end + timedelta(hours=2) > life.now or not draws.chance(0.5):
            continue
        there = ", ".join(names[guest] for guest in event.guests)
        points = draws.sample(sentences.WORK_THINGS, draws.integer(2, 5))
        rows = "\n".join(
            f"- {point}: {draws.choice(('done', 'open', 'moved'))}" for point in points
        )
        text = (
            f"# {event.title}\n\n{format_day(event.start.date())}, {event.place}\n\n"
            f"Present: {life.person.name}, {there}\n\n{rows}\n"
        )
        path = (
            f"Documents/Work/Minutes/{event.start:%Y-%m-%d %H%M} {event.title.replace(':', '')}.md"
        )
        add_file(life, path, "text/markdown", text, event.end + timedelta(hours=1))


def add_lists(life: Life) -> None:
    """Add the inventory of what was bought, and the list of everybody's addresses."""
    rows = ["bought,article,quantity,price"]
    for order in life.orders:
        if order.status == OrderStatus.DELIVERED:
            rows += [
                f"{order.placed:%Y-%m-%d},{line.name},{line.quantity},{decimal_of(line.price_cents)}"
                for line in order.lines
            ]
    changed = life.now - timedelta(hours=3)
    add_file(life, "Documents/Home/inventory.csv", "text/csv", "\n".join(rows) + "\n", changed)
    rows = ["name,street,postcode,town,country"]
    rows += [
        ",".join((known.name, *known.address.model_dump().values()))
        for known in life.contacts_of(Group.FAMILY, Group.FRIENDS)
        if known.address is not None
    ]
    path = "Documents/Home/addresses for cards.csv"
    add_file(life, path, "text/csv", "\n".join(rows) + "\n", life.now - timedelta(days=41))


def add_notes(life: Life) -> None:
    """Add short notes."""
    draws = life.draws.stream("notes")
    for number in range(draws.integer(40, 60)):
        title, items = draws.choice(sentences.NOTES)
        day = life.today - timedelta(days=draws.integer(1, HISTORY_DAYS))
        friend = draws.choice(life.contacts_of(Group.FAMILY, Group.FRIENDS)).given
        rows = [
            *draws.sample(items, draws.integer(2, 6)),
            f"{draws.choice(sentences.OBJECTS)} ({friend})",
        ]
        life.notes.append(
            Note(
                id=life.new_id("note"),
                title=f"{title} {day:%d.%m.}",
                text="\n".join(f"- {row}" for row in rows),
                edited=some_moment(draws, day),
                is_pinned=number == 0,
            )
        )


def add_file(life: Life, path: str, media_type: str, text: str, modified: datetime) -> None:
    """Add a document."""
    life.files.append(
        File(id=life.new_id("file"), path=path, media_type=media_type, text=text, modified=modified)
    )


def _months(life: Life) -> Iterator[date]:
    """Return the first days of the full months of the history."""
    first = _next_month(life.begin)
    while _next_month(first) <= life.today:
        yield first
        first = _next_month(first)


def _next_month(day: date) -> date:
    """Return the first day of the next month."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
