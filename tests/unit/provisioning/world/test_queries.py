"""Questions about a persona, as tasks ask them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from foundation.errors import UsageError
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.model.people import Group
from provisioning.world.persona.model.shop import OrderStatus
from provisioning.world.persona.persona import Persona, persona
from provisioning.world.persona.queries import Events, Month, Orders


@pytest.fixture
def someone() -> Persona:
    return persona(7)


def test_months_go_backwards() -> None:
    assert Month(2026, 1).before == Month(2025, 12)
    assert Month(2026, 11).before == Month(2026, 10)


def test_the_cheapest_order_of_last_month(someone: Persona) -> None:
    orders = someone.orders.in_month(someone.last_month)
    assert len(orders) >= 3
    cheapest, dearest = orders.cheapest(), orders.dearest()
    totals = sorted(order.total_cents for order in orders)
    assert (cheapest.total_cents, dearest.total_cents) == (totals[0], totals[-1])
    assert orders.total_cents() == sum(totals)
    assert cheapest.number in someone.mails.about(cheapest).first().subject


def test_selections_keep_their_type_and_order(someone: Persona) -> None:
    delivered = someone.orders.with_status(OrderStatus.DELIVERED)
    assert type(delivered) is Orders
    assert type(delivered[:3]) is Orders
    assert delivered.first() == delivered[0]
    assert delivered.last() == delivered[len(delivered) - 1]
    assert 0 < len(delivered) < len(someone.orders)
    product = someone.products.with_id(delivered[0].lines[0].product)
    assert delivered[0] in someone.orders.of_product(product)


def test_times_select(someone: Persona) -> None:
    event = someone.events.after(someone.now).first()
    assert event.start >= someone.now
    assert event in someone.events.on(event.start.date())
    assert event not in someone.events.before(event.start)
    assert event in someone.events.before(event.start + timedelta(seconds=1))
    assert someone.this_month == Month(someone.today.year, someone.today.month)


def test_mail_is_found_by_folder_sender_thread_and_text(someone: Persona) -> None:
    inbox = someone.mails.in_folder(Folder.INBOX)
    assert 0 < len(inbox.unread()) < len(inbox)
    answer = someone.mails.where(lambda mail: bool(mail.reply_to)).last()
    thread = someone.mails.thread_of(answer)
    assert thread.first().id == answer.thread
    assert answer in someone.mails.sent_by(answer.sender.email)
    order = someone.orders.last()
    assert someone.mails.containing(f"Your order {order.number}").only().about == order.id


def test_contacts_are_found_and_linked(someone: Persona) -> None:
    manager = someone.contacts.related_as("manager").only()
    assert someone.contacts.named(manager.name) == manager
    assert manager in someone.contacts.in_group(Group.COLLEAGUES, Group.FRIENDS)
    assert any(event.title == "One-to-one" for event in someone.events.with_guest(manager))
    photo = someone.photos.where(lambda photo: bool(photo.people)).first()
    friend = someone.contacts.with_id(photo.people[0])
    assert photo in someone.photos.showing(friend).in_album(photo.album)
    message = someone.messages.last()
    assert message in someone.messages.between(someone.contacts.with_id(message.contact))


def test_files_and_products_are_found(someone: Persona) -> None:
    statement = someone.files.below("Documents/Bank").last()
    assert someone.files.at(statement.path) == statement
    books = someone.products.in_category("Books").in_stock()
    assert books
    assert all(book.stock and book.category == "Books" for book in books)


def test_ambiguous_and_empty_answers_are_refused(someone: Persona) -> None:
    with pytest.raises(UsageError, match="0 match"):
        Orders(()).cheapest()
    with pytest.raises(UsageError, match="0 match"):
        Events(()).last()
    with pytest.raises(UsageError, match="match"):
        someone.orders.only()
    with pytest.raises(UsageError, match="2 match"):
        someone.orders[:2].least(lambda order: len(order.id))


def test_a_persona_is_made_once(someone: Persona) -> None:
    assert persona(7) is someone
