"""The calendar: birthdays, meetings, outings and appointments, with their invitations and answers."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import (
    AHEAD_DAYS,
    Letter,
    format_day,
    mailbox_of,
    moment,
    some_moment,
)
from provisioning.world.persona.model.calendar import Calendar, Event, Repeats
from provisioning.world.persona.model.mail import TextMessage
from provisioning.world.persona.model.people import Contact, Group
from provisioning.world.persona.words import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.making.life import Life

_FRIDAY, _SATURDAY = 4, 5
_LONG_MEETING_RATIO = 0.25
_BIRTHDAY_YEARS = 2


def add_event(  # noqa: PLR0913 - the fields of an event
    life: Life,
    calendar: Calendar,
    title: str,
    start: datetime,
    length: timedelta,
    *,
    place: str = "",
    guests: Sequence[Contact] = (),
    repeats: Repeats = Repeats.NEVER,
    until: date | None = None,
    notes: str = "",
) -> Event:
    """Add an event, which lasts whole days if its length does."""
    event = Event(
        id=life.new_id("event"),
        calendar=calendar,
        title=title,
        start=start,
        end=start + length,
        is_all_day=not length % timedelta(days=1),
        place=place,
        guests=tuple(guest.id for guest in guests),
        repeats=repeats,
        until=until,
        notes=notes,
    )
    life.events.append(event)
    return event


def add_birthdays(life: Life) -> None:
    """Add the birthday of each contact whose birthday is known, every year."""
    for contact in life.contacts:
        if contact.birthday is not None:
            first = contact.birthday.replace(year=life.today.year - _BIRTHDAY_YEARS)
            born = f"{contact.name} was born on {format_day(contact.birthday)}."
            add_event(
                life,
                Calendar.BIRTHDAYS,
                f"Birthday of {contact.name}",
                moment(first, 0),
                timedelta(days=1),
                repeats=Repeats.YEARLY,
                notes=born,
            )


def add_weekly_events(life: Life) -> None:
    """Add what takes place every week, from the beginning of the history."""
    draws = life.draws.stream("weekly")
    colleagues = life.contacts_of(Group.COLLEAGUES)
    team = [contact for contact in colleagues if contact.relation.endswith("team")]
    monday = life.begin - timedelta(days=life.begin.weekday())
    until = life.today + timedelta(days=AHEAD_DAYS)
    weekly = (
        (Calendar.WORK, "Team meeting", 0, 9, team, "Room 204"),
        (Calendar.WORK, "One-to-one", draws.integer(1, 3), 13, colleagues[:1], "Room 112"),
        (
            Calendar.PRIVATE,
            draws.choice(("Choir", "Swimming", "Football", "Pottery")),
            2,
            19,
            (),
            "",
        ),
    )
    for calendar, title, weekday, hour, guests, place in weekly:
        first = monday + timedelta(days=weekday)
        event = add_event(
            life,
            calendar,
            title,
            moment(first, hour),
            timedelta(hours=1),
            place=place or draws.choice(sentences.SPOTS),
            guests=guests,
            repeats=Repeats.WEEKLY,
            until=until,
        )
        while first <= until:
            life.busy.add((first, hour))
            first += timedelta(days=7)
        if guests:
            _invite_by_mail(life, draws, event, guests, moment(life.begin, 8))


def add_meetings(life: Life) -> None:
    """Add meetings with colleagues, two or three a week."""
    draws = life.draws.stream("meetings")
    colleagues = life.contacts_of(Group.COLLEAGUES)
    for monday in _weeks(life):
        for _ in range(draws.integer(1, 3)):
            day = monday + timedelta(days=draws.integer(0, 4))
            hours = 2 if draws.chance(_LONG_MEETING_RATIO) else 1
            start = life.take_time(draws, day, (10, 16), hours)
            project, kind = draws.choice(sentences.PROJECTS), draws.choice(sentences.MEETINGS)
            guests = draws.sample(colleagues, draws.integer(1, 5))
            event = add_event(
                life,
                Calendar.WORK,
                f"{kind}: {project}",
                start,
                timedelta(hours=hours),
                place=f"Room {draws.integer(1, 4)}{draws.integer(1, 20):02d}",
                guests=guests,
                notes=f"Agenda: {draws.choice(sentences.WORK_THINGS)}.",
            )
            sent = start.date() - timedelta(days=draws.integer(3, 9))
            sent -= timedelta(days=max(0, sent.weekday() - _FRIDAY))
            invited = some_moment(draws, sent, 8, 17)
            _invite_by_mail(life, draws, event, guests, invited)


def add_outings(life: Life) -> None:
    """Add evenings and weekends with family and friends, agreed upon by text message."""
    draws = life.draws.stream("outings")
    friends = life.contacts_of(Group.FRIENDS, Group.FAMILY, Group.NEIGHBOURS)
    for monday in _weeks(life):
        for _ in range(draws.choice((0, 1, 1, 2))):
            day = monday + timedelta(days=draws.integer(3, 6))
            hours = (11, 17) if day.weekday() >= _SATURDAY else (18, 20)
            start = life.take_time(draws, day, hours, 2)
            guests = draws.sample(friends, draws.choice((1, 1, 2, 3, 4)))
            event = add_event(
                life,
                Calendar.PRIVATE,
                f"{draws.choice(sentences.OUTINGS)} with {_join(_short_names(guests))}",
                start,
                timedelta(hours=2),
                place=draws.choice(sentences.SPOTS),
                guests=guests,
            )
            for guest in guests:
                _invite_by_message(life, draws, event, guest)


def add_appointments(life: Life) -> None:
    """Add appointments with the dentist and others, with a confirmation by mail."""
    draws = life.draws.stream("appointments")
    contacts = {contact.relation: contact for contact in life.contacts_of(Group.SERVICES)}
    for service, title in sentences.APPOINTMENTS:
        day = life.begin + timedelta(days=draws.integer(5, 80))
        while day < life.today + timedelta(days=AHEAD_DAYS):
            day -= timedelta(days=max(0, day.weekday() - _FRIDAY))
            contact = contacts[service]
            start = life.take_time(draws, day, (8, 17), 1)
            event = add_event(
                life,
                Calendar.PRIVATE,
                f"{title} ({service})",
                start,
                timedelta(hours=1),
                place=contact.organisation,
                guests=(contact,),
            )
            made = min(start - timedelta(days=draws.integer(6, 20)), life.now - timedelta(hours=2))
            text = f"your appointment is on {format_day(start.date())} at {start:%H:%M}."
            _send(life, contact, made, f"Your appointment: {title}", text, event)
            day += timedelta(days=draws.integer(70, 190))


def _weeks(life: Life) -> Iterator[date]:
    """Return the Mondays from the beginning of the history to the end of the calendar."""
    monday = life.begin + timedelta(days=7 - life.begin.weekday())
    while monday < life.today + timedelta(days=AHEAD_DAYS):
        yield monday
        monday += timedelta(days=7)


def _invite_by_mail(
    life: Life, draws: Draws, event: Event, guests: Sequence[Contact], when: datetime
) -> None:
    """Add the invitation, by the person or a guest, and answers."""
    organiser = draws.choice((None, guests[0]))
    sender = life.me if organiser is None else mailbox_of(organiser)
    to = tuple(mailbox_of(guest) for guest in guests if guest is not organiser)
    when = min(when, life.now - timedelta(hours=draws.integer(3, 30)))
    invitation = life.write(
        Letter(
            sender=sender,
            to=to if organiser is None else (life.me, *to),
            sent=when,
            subject=f"Invitation: {event.title}",
            body=f"{event.title}\n{format_day(event.start.date())}, {event.start:%H:%M}"
            f" to {event.end:%H:%M}\n{event.place}\n\n{event.notes}\n",
            about=event.id,
        )
    )
    answering = [mailbox_of(guest) for guest in guests] if organiser is None else [life.me]
    for sender in answering:
        answered = when + timedelta(minutes=draws.integer(5, 900))
        if answered < min(event.start, life.now) and draws.chance(0.6):
            word = "Accepted" if draws.chance(0.9) else "Tentative"
            life.write(
                Letter(
                    sender=sender,
                    to=(invitation.sender,),
                    sent=answered,
                    subject=f"{word}: {event.title}",
                    body=f"{sender.name} answered: {word.lower()}.\n",
                    about=event.id,
                    reply_to=invitation,
                )
            )


def _invite_by_message(life: Life, draws: Draws, event: Event, guest: Contact) -> None:
    """Add the messages in which the person and a guest agree on an event."""
    when = some_moment(draws, event.start.date() - timedelta(days=draws.integer(1, 6)))
    when = min(when, life.now - timedelta(hours=draws.integer(1, 9)))
    what, _, _ = event.title.partition(" with ")
    day = format_day(event.start.date())
    is_mine = draws.chance(0.5)
    texts = (
        f"{what} on {day}? {event.place}, {event.start:%H:%M}?",
        draws.choice(
            ("Yes, see you there!", "Great, I am in", "With pleasure", "Perfect, until then")
        ),
    )
    for place, text in enumerate(texts):
        life.messages.append(
            TextMessage(
                id=life.new_id("message"),
                contact=guest.id,
                is_sent=is_mine is (place == 0),
                sent=when,
                text=text,
                about=event.id,
            )
        )
        when += timedelta(seconds=draws.integer(30, 2400))


def _send(  # noqa: PLR0917 - sender, time, subject, text and event
    life: Life, contact: Contact, when: datetime, subject: str, text: str, event: Event
) -> None:
    life.write(
        Letter(
            sender=mailbox_of(contact),
            to=(life.me,),
            sent=when,
            subject=subject,
            body=f"Dear {life.person.name},\n\n{text}\n\n{contact.name}\n{contact.organisation}\n",
            about=event.id,
        )
    )


def _short_names(guests: Sequence[Contact]) -> list[str]:
    """Return given names; full names if two guests have the same one."""
    given = [guest.given for guest in guests]
    return given if len(set(given)) == len(given) else [guest.name for guest in guests]


def _join(names: Sequence[str]) -> str:
    """Return names as a list: ``Ada, Ben and Cleo``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
