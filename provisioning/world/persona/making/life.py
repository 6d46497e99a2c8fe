"""A life in the making: what the parts add their records to."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.model.mail import Folder, Mail, Mailbox

if TYPE_CHECKING:
    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.model.calendar import Event
    from provisioning.world.persona.model.documents import Bookmark, File, Note, Photo, Visit
    from provisioning.world.persona.model.mail import TextMessage
    from provisioning.world.persona.model.people import Contact, Group, Organisation, Person
    from provisioning.world.persona.model.shop import Order, Product
    from provisioning.world.persona.words.locales import Locale

HISTORY_DAYS = 540
"""How far a persona's records reach back, besides yearly events."""
AHEAD_DAYS = 90
"""How far its calendar is filled."""

_ARCHIVED_AFTER_DAYS = 60
_READ_AFTER_DAYS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail to be written; `Mail` has the meaning of its fields.

    Attributes:
        folder: where it is; by default, its age decides.
        reply_to: the mail that it answers.
    """

    sender: Mailbox
    to: tuple[Mailbox, ...]
    sent: datetime
    subject: str
    body: str
    about: str = ""
    reply_to: Mail | None = None
    attachments: tuple[str, ...] = ()
    folder: Folder | None = None


@dataclass(slots=True)
class Life:
    """The records of a persona while they are made.

    Attributes:
        seed: the persona's seed.
        draws: its stream; parts use streams of it by name.
        now: its present, UTC.
        locale: the country that the person lives in.
        person: the person.
        busy: hours that events take, as (day, hour).
    """

    seed: int
    draws: Draws
    now: datetime
    locale: Locale
    person: Person
    organisations: list[Organisation] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    mails: list[Mail] = field(default_factory=list)
    messages: list[TextMessage] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    photos: list[Photo] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    bookmarks: list[Bookmark] = field(default_factory=list)
    busy: set[tuple[date, int]] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)

    @property
    def today(self) -> date:
        """Return the persona's present day."""
        return self.now.date()

    @property
    def begin(self) -> date:
        """Return the first day of its history."""
        return self.today - timedelta(days=HISTORY_DAYS)

    @property
    def me(self) -> Mailbox:
        """Return the person's mailbox."""
        return mailbox_of(self.person)

    def new_id(self, kind: str) -> str:
        """Return an id that no other record of any persona has."""
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return record_id(self.seed, kind, number)

    def contacts_of(self, *groups: Group) -> list[Contact]:
        """Return the contacts of some groups."""
        return [contact for contact in self.contacts if contact.group in groups]

    def organisation(self, site: str) -> Organisation:
        """Return the organisation of a line of business."""
        return next(known for known in self.organisations if known.site == site)

    def write(self, letter: Letter) -> Mail:
        """Add a mail to the mailbox.

        Raises:
            ValueError: it would be sent in the future.
        """
        if letter.sent > self.now:
            raise ValueError(f"A mail of {letter.sent} is in the future of {self.now}.")
        mail_id = self.new_id("mail")
        draws = self.draws.stream("mail", mail_id)
        age = self.now - letter.sent
        folder = letter.folder or self._choose_folder(letter, age, draws)
        is_own = letter.sender.email == self.person.email
        is_old = age > timedelta(days=_READ_AFTER_DAYS)
        mail = Mail(
            id=mail_id,
            thread=letter.reply_to.thread if letter.reply_to else mail_id,
            reply_to=letter.reply_to.id if letter.reply_to else "",
            folder=folder,
            sender=letter.sender,
            to=letter.to,
            sent=letter.sent,
            subject=letter.subject,
            body=letter.body,
            is_read=is_own or draws.chance(0.97 if is_old else 0.5),
            is_flagged=folder == Folder.INBOX and draws.chance(0.04),
            attachments=letter.attachments,
            about=letter.about,
        )
        self.mails.append(mail)
        return mail

    def _choose_folder(self, letter: Letter, age: timedelta, draws: Draws) -> Folder:
        if letter.sender.email == self.person.email:
            return Folder.SENT
        if age > timedelta(days=_ARCHIVED_AFTER_DAYS) and draws.chance(0.6):
            return Folder.TRASH if draws.chance(0.06) else Folder.ARCHIVE
        return Folder.INBOX

    def take_time(self, draws: Draws, day: date, hours: tuple[int, int], length_h: int) -> datetime:
        """Return the start of a free time on a day or one of the next, and take it.

        Args:
            draws: stream.
            day: the first day that is tried; weekends are for the caller to avoid.
            hours: the first and last hour at which it may start.
            length_h: its length in hours.
        """
        step = 1 if day.weekday() in _WEEKEND else 7
        while True:
            for hour in draws.shuffled(range(hours[0], hours[1] + 1)):
                slots = {(day, hour + offset) for offset in range(length_h)}
                if not slots & self.busy:
                    self.busy |= slots
                    return moment(day, hour)
            day += timedelta(days=step)


_WEEKEND = (5, 6)


def record_id(seed: int, kind: str, number: int) -> str:
    """Return the id of a record."""
    digest = hashlib.sha256(f"{seed}/{kind}/{number}".encode()).hexdigest()
    return f"{kind}-{digest[:16]}"


def mailbox_of(someone: Person | Contact | Organisation) -> Mailbox:
    """Return the mailbox of a person, contact or organisation."""
    return Mailbox(name=someone.name, email=someone.email)


def moment(day: date, hour: int, minute: int = 0, second: int = 0) -> datetime:
    """Return a time of a day, UTC."""
    return datetime.combine(day, time(hour, minute, second), UTC)


def some_moment(draws: Draws, day: date, first_hour: int = 7, last_hour: int = 21) -> datetime:
    """Return a random time of a day, UTC."""
    hour = draws.integer(first_hour, last_hour)
    return moment(day, hour, draws.integer(0, 59), draws.integer(0, 59))


def format_cents(cents: int, currency: str) -> str:
    """Return an amount as text, such as ``12.95 EUR``."""
    return f"{decimal_of(cents)} {currency}"


def decimal_of(cents: int) -> str:
    """Return an amount without its currency, such as ``-12.95``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def to_ascii(text: str) -> str:
    """Return a name as it stands in addresses: lower case, without accents and other marks."""
    plain = (
        unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode()
    )
    return "".join(mark if mark.isalnum() else "-" for mark in plain.lower()).strip("-")


def format_day(day: date) -> str:
    """Return a day as mails write it, such as ``Monday, 5 October 2026``, in every locale of the host."""
    return f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
