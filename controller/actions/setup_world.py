"""Setup operations for worlds: what happened there before the task begins."""

from __future__ import annotations

import smtplib
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import httpx2
import icalendar
from pydantic import Field

from evaluators.decorators import SuiteFile, setup
from evaluators.world.orders import Item  # noqa: TC001 - describes the operation
from foundation.clock import wait_until
from foundation.errors import ActionError, MachineError
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.words.sites import CLOUD
from provisioning.world.state.collections import CONTACTS

if TYPE_CHECKING:
    from provisioning.world.resource import World

SMTP, HTTP = 25, 80
_TIMEOUT_S = 20.0
_DELIVERY_S = 10.0
_EVERY_S = 0.05
_CREATED = frozenset({200, 201, 204})
_FOLDER_EXISTS = 405

Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d)?$")]
"""Day, or day and time, UTC: ``2026-03-31T14:30``."""


@setup(on="world")
def deliver_mail(
    world: World,
    sender: str,
    subject: str,
    text: str,
    *,
    attachment: SuiteFile = "",
    minutes_ago: Annotated[int, Field(ge=0)] = 0,
) -> None:
    """Let a mail arrive in the person's mailbox.

    Args:
        world: the world.
        sender: who wrote it, as ``Ann Lee <ann@office.example>``.
        subject: its subject.
        text: its text.
        attachment: file of the suite that is attached.
        minutes_ago: how long before the persona's present it was written.
    """
    person = world.persona.person
    message = EmailMessage()
    message["From"] = sender
    message["To"] = f"{person.name} <{person.email}>"
    message["Subject"] = subject
    message["Date"] = format_datetime(world.persona.now - timedelta(minutes=minutes_ago))
    message["Message-ID"] = f"<{_uid(world, sender, subject, text)}@setup.example>"
    message.set_content(text)
    if attachment:
        path = Path(attachment)
        message.add_attachment(
            path.read_bytes(), maintype="application", subtype="octet-stream", filename=path.name
        )
    before = _inbox(world)
    try:
        with smtplib.SMTP(*world.endpoints[SMTP], timeout=_TIMEOUT_S) as server:
            server.send_message(message, parseaddr(sender)[1], [person.email])
    except (OSError, smtplib.SMTPException) as exc:
        raise ActionError("The world's mail server refused a mail.", str(exc)) from exc
    if wait_until(lambda: _inbox(world) > before, timeout_s=_DELIVERY_S, every_s=_EVERY_S) is None:
        raise ActionError("A mail was not delivered in time.", subject)


@setup(on="world")
def add_order(
    world: World,
    items: list[Item],
    status: Literal["processing", "shipped", "delivered", "cancelled", "returned"] = "processing",
) -> None:
    """Let the person have ordered something in the shop, at the persona's present.

    The shop confirms it by mail.

    Args:
        world: the world.
        items: articles by number, with quantities.
        status: state of the order.
    """
    before = _inbox(world)
    try:
        world.control.ask_site(
            "POST",
            "/shop/orders",
            {"items": {item.article: item.quantity for item in items}, "status": status},
        )
    except MachineError as exc:
        raise ActionError("The shop refused an order.", exc.details) from exc
    if wait_until(lambda: _inbox(world) > before, timeout_s=_DELIVERY_S, every_s=_EVERY_S) is None:
        raise ActionError("The mail about an order was not delivered in time.")


@setup(on="world")
def add_event(
    world: World,
    title: str,
    start: Moment,
    minutes: Annotated[int, Field(ge=1)] = 60,
    *,
    calendar: Calendar = Calendar.PRIVATE,
    place: str = "",
    guests: list[str] | None = None,
) -> None:
    """Add an event to a calendar.

    Args:
        world: the world.
        title: its title.
        start: when it starts, UTC; a day without a time is an event of that whole day.
        minutes: how long it lasts.
        calendar: the calendar.
        place: where; empty for nowhere.
        guests: addresses of the people who are invited.
    """
    event = icalendar.Event()
    uid = _uid(world, title, start)
    event.add("uid", uid)
    event.add("dtstamp", world.persona.now)
    event.add("summary", title)
    first = datetime.fromisoformat(f"{start}+00:00" if len(start) > _DAY_CHARS else start)
    if len(start) > _DAY_CHARS:
        event.add("dtstart", first)
        event.add("dtend", first + timedelta(minutes=minutes))
    else:
        event.add("dtstart", first.date())
        event.add("dtend", first.date() + timedelta(days=1))
    if place:
        event.add("location", place)
    for guest in guests or ():
        event.add("attendee", f"mailto:{guest}")
    whole = icalendar.Calendar()
    whole.add("prodid", "-//Mesocosm//Setup//EN")
    whole.add("version", "2.0")
    whole.add_component(event)
    _put(world, f"{_collection(world, calendar)}{uid}.ics", whole.to_ical(), "text/calendar")


@setup(on="world")
def add_contact(world: World, name: str, email: str = "", phone: str = "") -> None:
    """Add a person to the address book.

    Args:
        world: the world.
        name: given and family name.
        email: address of mail; empty for none.
        phone: telephone number; empty for none.
    """
    uid = _uid(world, name, email, phone)
    given, _, family = name.rpartition(" ")
    rows = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", f"FN:{_escape(name)}"]
    rows.append(f"N:{_escape(family)};{_escape(given)};;;")
    if email:
        rows.append(f"EMAIL;TYPE=INTERNET:{email}")
    if phone:
        rows.append(f"TEL;TYPE=CELL:{phone}")
    card = "\r\n".join([*rows, "END:VCARD", ""])
    _put(world, f"{_collection(world, CONTACTS)}{uid}.vcf", card.encode(), "text/vcard")


@setup(on="world")
def store_file(world: World, path: str, text: str = "", source: SuiteFile = "") -> None:
    """Put a file into the person's folder; folders above it are made.

    Args:
        world: the world.
        path: path below the person's folder.
        text: its content, unless a file of the suite is.
        source: file of the suite.
    """
    data = Path(source).read_bytes() if source else text.encode()
    parts = path.split("/")
    for depth in range(1, len(parts)):
        _ask(
            world, "MKCOL", f"/files/{quote('/'.join(parts[:depth]))}/", frozenset({_FOLDER_EXISTS})
        )
    _put(world, f"/files/{quote(path)}", data, "application/octet-stream")


_DAY_CHARS = len("2026-03-31")


def _inbox(world: World) -> int:
    """Return the number of mails that were ever delivered, once none waits."""
    rows = world.control.digest()
    return sum(path.startswith(("mail/new/", "mail/cur/")) for path in rows)


def _uid(world: World, *parts: str) -> str:
    """Return an id that the same operation always gives."""
    return str(uuid5(NAMESPACE_URL, "\n".join([str(world.seed), *parts])))


def _collection(world: World, name: str) -> str:
    return f"/dav/{world.persona.person.email}/{name}/"


def _escape(text: str) -> str:
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n")


def _put(world: World, path: str, data: bytes, kind: str) -> None:
    _ask(world, "PUT", path, _CREATED, data=data, kind=kind)


def _ask(
    world: World,
    method: str,
    path: str,
    accepted: frozenset[int],
    *,
    data: bytes = b"",
    kind: str = "",
) -> None:
    account = world.control.account()
    address, port = world.endpoints[HTTP]
    try:
        reply = httpx2.request(
            method,
            f"http://{address}:{port}{path}",
            content=data,
            headers={"Host": CLOUD, **({"Content-Type": kind} if kind else {})},
            auth=(account.email, account.password),
            timeout=_TIMEOUT_S,
            trust_env=False,
        )
    except httpx2.HTTPError as exc:
        raise ActionError("The world does not answer.", str(exc)) from exc
    if reply.status_code not in accepted | _CREATED:
        raise ActionError(f"The world answered {reply.status_code} to {method} {path}.")
