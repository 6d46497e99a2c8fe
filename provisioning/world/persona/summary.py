"""A persona on one page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import format_cents, format_day
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.model.people import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

    from provisioning.world.persona.persona import Persona

WIDTH = 80
_SHOWN = 5


def summarize(persona: Persona) -> str:
    """Return who a persona is and what the records contain, in lines of at most `WIDTH` characters."""
    lines = [*_describe_person(persona), *_count_records(persona), *_list_recent(persona)]
    return "\n".join(_shorten(line) for line in lines)


def _shorten(line: str) -> str:
    """Return a line without the words that do not fit."""
    if len(line) <= WIDTH:
        return line
    end = " ..."
    return line[: WIDTH - len(end)].rpartition(" ")[0] + end


def _describe_person(persona: Persona) -> Iterator[str]:
    person = persona.person
    yield f"{person.name}, seed {persona.records.seed}"
    yield ""
    rows = {
        "today": f"{format_day(persona.today)}, {persona.now:%H:%M} UTC",
        "born": format_day(person.birthday),
        "lives": str(person.home),
        "works": f"{person.job}, {person.employer}",
        "mail": f"{person.email}, password {person.password}",
        "phone": person.phone,
        "digest": persona.digest,
    }
    for name, text in rows.items():
        yield f"  {name:<8}{text}"


def _count_records(persona: Persona) -> Iterator[str]:
    yield ""
    yield "Records"
    for group in Group:
        relatives = persona.contacts.in_group(group)
        names = ", ".join(contact.name for contact in relatives[:_SHOWN])
        yield f"  {f'contacts: {group}':<22}{len(relatives):>5}  {names}, ..."
    for folder in Folder:
        yield f"  {f'mail: {folder}':<22}{len(persona.mails.in_folder(folder)):>5}"
    rows: dict[str, Sized] = {
        "messages": persona.messages,
        "events": persona.events,
        "orders": persona.orders,
        "products of the shop": persona.products,
        "files": persona.files,
        "notes": persona.notes,
        "photos": persona.photos,
        "visited pages": persona.visits,
    }
    for name, records in rows.items():
        yield f"  {name:<22}{len(records):>5}"


def _list_recent(persona: Persona) -> Iterator[str]:
    yield ""
    yield "Next events"
    for event in persona.events.after(persona.now)[:_SHOWN]:
        when = f"{event.start:%Y-%m-%d}" if event.is_all_day else f"{event.start:%Y-%m-%d %H:%M}"
        yield f"  {when:<18}{event.title}"
    yield ""
    yield "Latest mails in the inbox"
    for mail in persona.mails.in_folder(Folder.INBOX)[-_SHOWN:]:
        yield f"  {mail.sent:%Y-%m-%d %H:%M}  {mail.sender.name}: {mail.subject}"
    yield ""
    yield "Latest orders"
    for order in persona.orders[-_SHOWN:]:
        price = format_cents(order.total_cents, persona.person.currency)
        things = ", ".join(line.name for line in order.lines)
        yield f"  {order.placed:%Y-%m-%d}  {order.number}  {order.status:<10}  {price:>13}  {things}"
