"""The state of a world says what its persona's records say."""

from __future__ import annotations

import io
import tarfile
from email import message_from_bytes, policy
from typing import TYPE_CHECKING

import pytest

from images.world.program import state as program
from provisioning.protocols import StateKind
from provisioning.world.persona.model.calendar import Calendar, Repeats
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.persona import Persona, persona
from provisioning.world.persona.words.locales import LOCALES
from provisioning.world.snapshots import state_differences
from provisioning.world.state.archive import CACHES, StateFile, digest_archive, pack
from provisioning.world.state.collections import calendar_of, card_of, collection_files
from provisioning.world.state.filling import fill_state
from provisioning.world.state.mailbox import mailbox_files, message_of
from provisioning.world.state.summary import summarize_state

if TYPE_CHECKING:
    from email.message import EmailMessage
    from pathlib import Path

    from provisioning.world.persona.model.mail import Mail


@pytest.fixture(scope="module")
def someone() -> Persona:
    return persona(7)


def somebody_with_accents() -> Persona:
    seeds = (seed for seed in range(99) if persona(seed).person.locale == "fr-FR")
    return persona(next(seeds))


def read(persona: Persona, mail: Mail) -> EmailMessage:
    files = {file.path: file for file in persona.files}
    data = message_of(mail, files).as_bytes()
    message: EmailMessage = message_from_bytes(data, policy=policy.default)
    return message


def unfold(data: bytes) -> list[str]:
    lines = data.split(b"\r\n")
    assert lines.pop() == b""
    assert all(len(line) <= 75 for line in lines)
    return data.decode().replace("\r\n ", "").splitlines()


@pytest.mark.slow
def test_the_world_and_the_host_digest_alike(
    someone: Persona, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = fill_state(someone)
    assert fill_state(someone) == archive
    monkeypatch.setattr(program, "STATE", tmp_path)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tmp_path, filter="fully_trusted")  # noqa: S202 - made above
    expected = digest_archive(archive)
    assert program.digest_state() == expected
    assert set(program.CACHES) == CACHES
    (tmp_path / "dav" / ".Radicale.cache").mkdir()
    assert program.digest_state() == expected
    (tmp_path / "domains").write_text("other.example\n")
    (line,) = state_differences(expected, program.digest_state())
    assert line.startswith("domains: ")


def test_replacing_a_state_leaves_nothing_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "STATE", tmp_path)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").write_text("x")
    (tmp_path / "link").symlink_to("/")
    archive = pack([StateFile("a/b.txt", b"new", 1_700_000_000)], ["empty"])
    path = tmp_path.parent / "archive.tar"
    path.write_bytes(archive)
    with path.open("rb") as file:
        program.replace_state(file)
    assert program.digest_state() == digest_archive(archive)
    assert digest_archive(program.read_state()) == digest_archive(archive)
    assert sorted(digest_archive(archive)) == ["a", "a/b.txt", "empty"]


def test_differences_name_what_is_new_gone_and_changed() -> None:
    lines = state_differences({"a": "1", "b": "1", "c": "1"}, {"b": "2", "c": "1", "d": "1"})
    assert lines == ["a: 1 -> absent", "b: 1 -> 2", "d: absent -> 1"]


@pytest.mark.slow
def test_mails_are_what_the_persona_has(someone: Persona) -> None:
    for mail in someone.mails[::23]:
        message = read(someone, mail)
        assert message["Subject"] == mail.subject
        assert message["From"].addresses[0].addr_spec == mail.sender.email
        assert message["From"].addresses[0].display_name == mail.sender.name
        assert [box.addr_spec for box in message["To"].addresses] == [box.email for box in mail.to]
        assert message["Date"].datetime == mail.sent
        assert mail.id in message["Message-ID"]
        assert bool(message["In-Reply-To"]) == bool(mail.reply_to)
        body = message.get_body(("plain",))
        assert body is not None
        assert body.get_content().strip() == mail.body.strip()


def test_attachments_are_the_files(someone: Persona) -> None:
    mail = someone.mails.where(lambda mail: bool(mail.attachments)).last()
    (part,) = read(someone, mail).iter_attachments()
    file = someone.files.at(mail.attachments[0])
    assert part.get_filename() == file.path.rpartition("/")[2]
    assert part.get_content_type() == file.media_type
    assert part.get_content().strip() == file.text.strip()


@pytest.mark.slow
def test_names_and_texts_with_accents_survive() -> None:
    french = somebody_with_accents()
    accented = french.mails.where(
        lambda mail: not mail.sender.name.isascii() and not mail.body.isascii()
    )
    assert accented
    for mail in accented[:5]:
        message = read(french, mail)
        assert message["From"].addresses[0].display_name == mail.sender.name
        assert message.get_content().strip() == mail.body.strip()


@pytest.mark.slow
def test_each_folder_has_its_mails_flags_and_numbers(someone: Persona) -> None:
    files = {file.path: file.data for file in mailbox_files(someone)}
    for folder in Folder:
        place = "mail/" if folder is Folder.INBOX else f"mail/.{folder}/"
        mails = someone.mails.in_folder(folder)
        names = [
            path.removeprefix(f"{place}cur/") for path in files if path.startswith(f"{place}cur/")
        ]
        assert len(names) == len(mails)
        seen = [name for name in names if "S" in name.partition(":2,")[2]]
        assert len(seen) == len(mails) - len(mails.unread())
        header, *rows = files[f"{place}dovecot-uidlist"].decode().splitlines()
        assert f" N{len(mails) + 1} " in header
        assert [row.partition(" :")[2] for row in rows] == [
            name.partition(":2,")[0] for name in names
        ]


def test_events_are_written_as_icalendar(someone: Persona) -> None:
    contacts = {contact.id: contact for contact in someone.contacts}
    weekly = someone.events.where(
        lambda event: event.repeats is Repeats.WEEKLY and bool(event.guests)
    )[0]
    lines = unfold(calendar_of(weekly, someone, contacts))
    assert f"DTSTART:{weekly.start:%Y%m%dT%H%M%SZ}" in lines
    assert [line for line in lines if line.startswith("RRULE:FREQ=WEEKLY;UNTIL=")]
    guests = [line for line in lines if line.startswith("ATTENDEE")]
    assert len(guests) == len(weekly.guests)
    assert contacts[weekly.guests[0]].email in guests[0]
    birthday = someone.events.in_calendar(Calendar.BIRTHDAYS)[0]
    lines = unfold(calendar_of(birthday, someone, contacts))
    assert f"DTSTART;VALUE=DATE:{birthday.start:%Y%m%d}" in lines
    assert "RRULE:FREQ=YEARLY" in lines


def test_special_characters_are_escaped_and_lines_folded_between_characters() -> None:
    contact = persona(7).contacts[0]
    odd = contact.model_copy(update={"family": "Ö;,\\" * 30, "relation": "a\nb"})
    lines = unfold(card_of(odd))
    assert "NOTE:a\\nb" in lines
    family = "Ö\\;\\,\\\\" * 30
    assert f"N:{family};{contact.given};;;" in lines


def test_the_address_book_has_all_contacts(someone: Persona) -> None:
    cards = [file.data.decode() for file in collection_files(someone) if file.path.endswith(".vcf")]
    assert len(cards) == len(someone.contacts)
    whole = "".join(cards).replace("\r\n ", "")
    for contact in someone.contacts:
        assert f"FN:{contact.name}\r\n" in whole
        assert f"EMAIL;TYPE=INTERNET:{contact.email}\r\n" in whole


@pytest.mark.slow
def test_there_are_people_of_every_country() -> None:
    assert {persona(seed).person.locale for seed in range(30)} == {each.code for each in LOCALES}


def test_side_effects_are_files_and_mails_by_folder() -> None:
    before = {
        "mail": "40700",
        "mail/cur": "40700",
        "mail/cur/1.a.host,S=3:2,S": "100600 1 aa",
        "mail/new/2.b.host": "100600 2 bb",
        "mail/.Sent/cur/3.c.host:2,": "100600 3 cc",
        "mail/dovecot-uidlist": "100600 4 dd",
        "mail/.Sent/tmp/x": "100600 4 dd",
        "files/a.txt": "100600 5 ee",
    }
    summary = dict(summarize_state(before)[StateKind.FILE])
    assert summary == {
        "mail/INBOX/1.a.host,S=3": "aa S",
        "mail/INBOX/2.b.host": "bb ",
        "mail/Sent/3.c.host": "cc ",
        "files/a.txt": "100600 5 ee",
    }
    # The server has seen a new mail, and numbered it: nothing that a person did.
    after = {**before, "mail/cur/2.b.host:2,": "100600 2 bb", "mail/dovecot-uidlist": "100600 9 ff"}
    del after["mail/new/2.b.host"]
    assert summarize_state(after) == {StateKind.FILE: summary}
    # A mail was read.
    after["mail/cur/2.b.host:2,S"] = after.pop("mail/cur/2.b.host:2,")
    assert summarize_state(after) == {StateKind.FILE: {**summary, "mail/INBOX/2.b.host": "bb S"}}
