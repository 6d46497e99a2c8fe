"""Journeys and photos: bookings, tickets, events, packing lists, albums."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import (
    HISTORY_DAYS,
    Letter,
    format_cents,
    format_day,
    mailbox_of,
    moment,
    some_moment,
)
from provisioning.world.persona.making.occasions import add_event
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.model.documents import File, Note, Photo
from provisioning.world.persona.model.people import Group
from provisioning.world.persona.words.locales import LOCALES
from provisioning.world.persona.words.sentences import NOTES, OBJECTS

if TYPE_CHECKING:
    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.making.life import Life
    from provisioning.world.persona.model.calendar import Event
    from provisioning.world.persona.words.locales import Locale

_JOURNEYS = 6
_AWAY_HOURS = range(24)
_SIZES = ((4032, 3024), (3024, 4032), (4608, 2592))
_CAPTIONS = (
    "Market", "View from the hill", "Breakfast", "Old bridge", "Rain again", "Street corner",
    "Harbour at dusk", "All of us", "The way up", "Museum entrance", "Best ice cream", "Station",
)  # fmt: skip


def add_journeys(life: Life) -> None:
    """Add journeys in the past and the next one, which are booked, documented and photographed."""
    draws = life.draws.stream("journeys")
    step = HISTORY_DAYS // _JOURNEYS
    for number in range(_JOURNEYS + 1):
        first = life.begin + timedelta(days=number * step + draws.integer(20, 50))
        _add_journey(life, draws.stream(number), first)


def _add_journey(life: Life, draws: Draws, first: date) -> None:
    locale = life.locale if draws.chance(0.5) else draws.choice(LOCALES)
    town = draws.choice([name for name in locale.towns if name != life.person.home.town])
    nights = draws.integer(2, 8)
    last = first + timedelta(days=nights)
    companions = draws.sample(life.contacts_of(Group.FAMILY, Group.FRIENDS), draws.integer(0, 3))
    for offset in range(nights + 1):
        life.busy |= {(first + timedelta(days=offset), hour) for hour in _AWAY_HOURS}
    away = add_event(
        life,
        Calendar.PRIVATE,
        f"Journey to {town}",
        moment(first, 0),
        timedelta(days=nights + 1),
        place=f"{town}, {locale.country}",
    )
    for day, title in ((first, f"Train to {town}"), (last, f"Train home from {town}")):
        length = timedelta(hours=draws.integer(2, 6))
        add_event(life, Calendar.PRIVATE, title, moment(day, draws.integer(8, 12)), length)
    _add_bookings(life, draws, away, town, nights)
    if first - timedelta(days=3) <= life.today:
        _add_packing_list(life, draws, first, town)
    if last < life.today:
        people = [contact.id for contact in companions]
        _add_album(life, draws, away, (town, locale, people), nights)


def _add_bookings(life: Life, draws: Draws, away: Event, town: str, nights: int) -> None:
    """Add the mails of railway and hotel, and their tickets as files."""
    first = away.start.date()
    booked = some_moment(draws, first - timedelta(days=draws.integer(20, 45)))
    booked = min(booked, life.now - timedelta(days=1))
    for site, what in (("rail", f"2 journeys, {town}"), ("hotel", f"{nights} nights in {town}")):
        company = life.organisation(site)
        reference = draws.digits("@@@###")
        cents = draws.integer(40, 900) * 100 + 90
        path = f"Documents/Travel/{first:%Y-%m} {town} {site}.txt"
        price = format_cents(cents, life.person.currency)
        text = (
            f"{company.name}\nBooking {reference}: {what}\nFrom {format_day(first)}\n"
            f"Name: {life.person.name}\nPrice: {price}\n"
        )
        life.files.append(
            File(
                id=life.new_id("file"),
                path=path,
                media_type="text/plain",
                text=text,
                modified=booked,
            )
        )
        life.write(
            Letter(
                sender=mailbox_of(company),
                to=(life.me,),
                sent=booked,
                subject=f"Booking {reference}: {what}",
                body=f"Dear {life.person.name},\n\nyour booking is confirmed.\n\n{text}",
                about=away.id,
                attachments=(path,),
            )
        )
        booked += timedelta(minutes=draws.integer(9, 90))


def _add_packing_list(life: Life, draws: Draws, first: date, town: str) -> None:
    items = [*draws.sample(NOTES[1][1], 5), draws.choice(OBJECTS)]
    edited = min(some_moment(draws, first - timedelta(days=3)), life.now - timedelta(minutes=9))
    text = "\n".join(f"- {item}" for item in items)
    title = f"Packing list {town}"
    life.notes.append(
        Note(id=life.new_id("note"), title=title, text=text, edited=edited, is_pinned=False)
    )


def _add_album(
    life: Life, draws: Draws, away: Event, where: tuple[str, Locale, list[str]], nights: int
) -> None:
    """Add the photos of a journey.

    Args:
        life: the life.
        draws: stream.
        away: the journey.
        where: town, country, and ids of those who came along.
        nights: its length.
    """
    town, locale, people = where
    first = away.start.date()
    for _ in range(draws.integer(18, 55)):
        day = first + timedelta(days=draws.integer(0, nights))
        shown = tuple(draws.sample(people, draws.integer(0, len(people))))
        add_photo(life, draws, day, f"{first:%Y-%m} {town}", (town, locale), shown, away.id)


def add_everyday_photos(life: Life) -> None:
    """Add photos at home, and of outings with the people who were there."""
    draws = life.draws.stream("photos")
    here = (life.person.home.town, life.locale)
    for _ in range(draws.integer(90, 140)):
        day = life.begin + timedelta(days=draws.integer(0, HISTORY_DAYS - 1))
        add_photo(life, draws, day, f"{day:%Y-%m} Home", here, ())
    past = [event for event in life.events if event.end < life.now and event.guests]
    outings = [
        event for event in past if event.calendar == Calendar.PRIVATE and " with " in event.title
    ]
    for event in outings:
        for _ in range(draws.choice((0, 1, 2, 4))):
            day = event.start.date()
            add_photo(life, draws, day, f"{day:%Y-%m} Friends", here, event.guests, event.id)


def add_photo(  # noqa: PLR0917 - when, where, with whom
    life: Life,
    draws: Draws,
    day: date,
    album: str,
    where: tuple[str, Locale],
    people: tuple[str, ...],
    event: str = "",
) -> None:
    """Add a photo that was taken on a day, near a town."""
    town, locale = where
    taken = some_moment(draws, day, 8, 22)
    spot = locale.towns.index(town)
    width, height = draws.choice(_SIZES)
    number = len(life.photos) + 1
    life.photos.append(
        Photo(
            id=life.new_id("photo"),
            path=f"Photos/{album}/IMG_{taken:%Y%m%d_%H%M%S}_{number:04d}.jpg",
            taken=taken,
            album=album,
            town=town,
            latitude=round(locale.south + spot * 0.21 + draws.number(0, 0.04), 5),
            longitude=round(locale.west + (spot * 5 % 14) * 0.23 + draws.number(0, 0.05), 5),
            people=people,
            width_px=width,
            height_px=height,
            caption=draws.choice(_CAPTIONS),
            event=event,
        )
    )
