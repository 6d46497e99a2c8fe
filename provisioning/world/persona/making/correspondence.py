"""Mail and messages of every day: work, friends and family, newsletters, junk, chats."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import (
    HISTORY_DAYS,
    Letter,
    format_cents,
    mailbox_of,
    some_moment,
)
from provisioning.world.persona.model.mail import Folder, Mailbox, TextMessage
from provisioning.world.persona.model.people import Group
from provisioning.world.persona.words import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.making.life import Life
    from provisioning.world.persona.model.people import Contact

_WEEKEND = 5
_JUNK_DAYS = 45


def fill(life: Life, draws: Draws, text: str, **known: str) -> str:
    """Return a sentence with its placeholders filled in."""
    values = {
        "name": draws.choice(life.contacts).given,
        "town": draws.choice(life.locale.towns),
        "thing": draws.choice(sentences.WORK_THINGS),
        "object": draws.choice(sentences.OBJECTS),
        "service": draws.choice(sentences.SERVICES),
        "days": str(draws.integer(2, 9)),
        "count": str(draws.integer(11, 60)),
        "more": str(draws.integer(61, 99)),
        "section": str(draws.integer(1, 9)),
        "amount": format_cents(draws.integer(9, 2400) * 500, life.person.currency),
    }
    return text.format(**{**values, **known})


def add_work_threads(life: Life) -> None:
    """Add conversations with colleagues, three or four a week, on workdays."""
    draws = life.draws.stream("work")
    colleagues = life.contacts_of(Group.COLLEAGUES)
    for offset in range(HISTORY_DAYS):
        day = life.begin + timedelta(days=offset)
        if day.weekday() < _WEEKEND and draws.chance(0.62):
            project, thing = draws.choice(sentences.PROJECTS), draws.choice(sentences.WORK_THINGS)
            texts = [
                " ".join(draws.choice(part) for part in (
                    sentences.WORK_OPENERS, sentences.WORK_MIDDLES, sentences.WORK_CLOSERS,
                )),
                *draws.sample(sentences.WORK_REPLIES, draws.choice((0, 1, 1, 2, 3))),
            ]  # fmt: skip
            texts = [fill(life, draws, text, project=project, thing=thing) for text in texts]
            subject = f"{project[0].upper()}{project[1:]}: {thing}"
            _add_thread(life, draws, (draws.choice(colleagues), day), subject, texts)


def add_private_threads(life: Life) -> None:
    """Add conversations with family and friends, two a week."""
    draws = life.draws.stream("private")
    friends = life.contacts_of(Group.FAMILY, Group.FRIENDS, Group.NEIGHBOURS)
    for offset in range(HISTORY_DAYS):
        if draws.chance(0.28):
            town = draws.choice(life.locale.towns)
            texts = [
                "\n\n".join(draws.sample(sentences.PRIVATE_TEXTS, draws.integer(1, 3))),
                *draws.sample(sentences.PRIVATE_REPLIES, draws.choice((0, 1, 1, 2))),
            ]
            subject = draws.choice(sentences.PRIVATE_SUBJECTS)
            subject, *texts = (fill(life, draws, text, town=town) for text in (subject, *texts))
            day = life.begin + timedelta(days=offset)
            _add_thread(life, draws, (draws.choice(friends), day), subject, texts)


def _add_thread(
    life: Life, draws: Draws, with_on: tuple[Contact, date], subject: str, texts: Sequence[str]
) -> None:
    """Add a conversation with a contact that begins on a day; nothing of it is in the future."""
    contact, day = with_on
    when = some_moment(draws, day, 7, 19)
    sides = [life.me, mailbox_of(contact)]
    names = {life.person.email: life.person.given, contact.email: contact.given}
    turn, previous = draws.integer(0, 1), None
    for text in texts:
        if when >= life.now:
            break
        sender, receiver = sides[turn], sides[1 - turn]
        previous = life.write(
            Letter(
                sender=sender,
                to=(receiver,),
                sent=when,
                subject=subject if previous is None else f"Re: {subject}",
                body=f"Hi {names[receiver.email]},\n\n{text}\n\n{names[sender.email]}\n",
                about=contact.id,
                reply_to=previous,
            )
        )
        turn = 1 - turn
        when += timedelta(minutes=draws.integer(4, 1700))


def add_newsletters(life: Life) -> None:
    """Add the newsletters that the person reads, every one or two weeks."""
    themes = {title: (theme, topic) for title, theme, topic in sentences.NEWSLETTERS}
    for place, sender in enumerate(life.organisations):
        if not sender.site.startswith("newsletter"):
            continue
        draws = life.draws.stream("newsletter", place)
        theme, topic = themes[sender.name]
        day, number, step = life.begin, draws.integer(20, 300), draws.choice((7, 7, 14))
        while (when := some_moment(draws, day, 5, 7)) < life.now:
            town = draws.choice(life.locale.towns)
            _receive(
                life,
                mailbox_of(sender),
                when,
                f"{sender.name} {number}: {theme}",
                f"This time: {topic}, and a visit to {town}.\n\n"
                f"Unsubscribe: https://{sender.email.partition('@')[2]}/unsubscribe/{number}\n",
            )
            day, number = day + timedelta(days=step), number + 1


def add_junk(life: Life) -> None:
    """Add junk of the last weeks."""
    draws = life.draws.stream("junk")
    for _ in range(draws.integer(30, 60)):
        subject, text = draws.choice(sentences.JUNK)
        day = life.today - timedelta(days=draws.integer(1, _JUNK_DAYS))
        sender = Mailbox(
            name=subject, email=f"{draws.digits('offer####')}@{draws.digits('promo##')}.example"
        )
        when = some_moment(draws, day, 0, 23)
        _receive(life, sender, when, subject, fill(life, draws, text) + "\n", Folder.JUNK)


def add_drafts(life: Life) -> None:
    """Add mails that the person began and did not send."""
    draws = life.draws.stream("drafts")
    for contact in draws.sample(life.contacts, draws.integer(3, 6)):
        when = some_moment(draws, life.today - timedelta(days=draws.integer(1, 20)))
        text = fill(life, draws, draws.choice(sentences.PRIVATE_TEXTS))
        life.write(
            Letter(
                sender=life.me,
                to=(mailbox_of(contact),),
                sent=when,
                subject=fill(life, draws, draws.choice(sentences.PRIVATE_SUBJECTS)),
                body=f"Hi {contact.given},\n\n{text}",
                about=contact.id,
                folder=Folder.DRAFTS,
            )
        )


def _receive(  # noqa: PLR0917 - the fields of a mail
    life: Life,
    sender: Mailbox,
    when: datetime,
    subject: str,
    body: str,
    folder: Folder | None = None,
) -> None:
    life.write(
        Letter(sender=sender, to=(life.me,), sent=when, subject=subject, body=body, folder=folder)
    )


def add_chats(life: Life) -> None:
    """Add text messages with the closest contacts."""
    draws = life.draws.stream("chats")
    close = draws.sample(life.contacts_of(Group.FAMILY), 6)
    close += draws.sample(life.contacts_of(Group.FRIENDS), 12)
    close += draws.sample(life.contacts_of(Group.COLLEAGUES), 4)
    for contact in close:
        for _ in range(draws.integer(12, 40)):
            day = life.today - timedelta(days=draws.integer(1, HISTORY_DAYS))
            when, is_sent = some_moment(draws, day), draws.chance(0.5)
            town = draws.choice(life.locale.towns)
            for text in draws.choice(sentences.CHATS):
                life.messages.append(
                    TextMessage(
                        id=life.new_id("message"),
                        contact=contact.id,
                        is_sent=is_sent,
                        sent=when,
                        text=fill(life, draws, text, town=town),
                        about="",
                    )
                )
                is_sent, when = not is_sent, when + timedelta(seconds=draws.integer(10, 1500))
