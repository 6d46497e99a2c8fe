"""Synchronise calendar and contacts, by CalDAV and CardDAV."""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from images.calendar_text import (
    UTC,
    Card,
    Event,
    change_event,
    change_repetition,
    exclude_repetition,
    read_cards,
    read_events,
    write_card,
    write_event,
)
from images.phone.device.store.contacts import (
    ContactDraft,
    delete_contact,
    load_contact,
    save_contact,
)
from images.phone.device.store.events import EventDraft, load_event, save_event
from images.phone.device.sync.account import (
    HERE,
    TIMEOUT_S,
    Known,
    drop_known,
    list_known,
    put_known,
    writing,
)

if TYPE_CHECKING:
    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row
    from images.phone.device.sync.account import Account

CALENDARS = ("private", "work", "birthdays")
AHEAD_DAYS = 400
"""How far events that repeat are shown, from the last one that does not."""
_HTTP_PORT = 80
_HOST = "cloud.example"
_TAG = re.compile(r"<(?:\w+:)?getctag[^>]*>([^<]*)<")
_ASK_TAG = b'<propfind xmlns="DAV:" xmlns:C="http://calendarserver.org/ns/"><prop><C:getctag/></prop></propfind>'
_SUCCESS = range(200, 300)


class DavError(OSError):
    """The server refused a request."""


class CollectionSync:
    """Synchronises calendars and the address book of one account.

    Args:
        phone: the phone.
        account: the account.
        epoch: first part of the version of the state that is synchronised.
    """

    def __init__(self, phone: Phone, account: Account, epoch: int) -> None:
        self._phone = phone
        self._epoch = epoch
        login = base64.b64encode(f"{account.email}:{account.password}".encode()).decode()
        self._headers = {"Host": _HOST, "Authorization": f"Basic {login}"}
        self._home = f"/dav/{account.email}"
        self._tags: dict[str, str] = {}

    def run(self) -> None:
        """Send what was changed on the phone, then fetch what was changed on the server.

        Raises:
            OSError, http.client.HTTPException: the server does not answer.
        """
        self._push_events()
        self._push_contacts()
        for calendar in CALENDARS:
            if (text := self._changed(calendar)) is not None:
                self._pull_events(calendar, read_events(text))
        if (text := self._changed("contacts")) is not None:
            self._pull_contacts(read_cards(text))

    def _push_events(self) -> None:
        store = self._phone.store
        with self._phone.lock:
            known = list_known(store, "event")
            rows = {row["_id"]: row for row in store.rows("SELECT * FROM event")}
        for entry in known:
            row = rows.get(entry.local)
            if row is None:
                self._remove_event(entry.remote)
                with writing(self._phone, self._epoch):
                    drop_known(store, "event", entry.remote)
            elif _event_digest(row) != entry.digest:
                self._change_event(entry.remote, row)
                self._keep("event", Known(entry.local, entry.remote, _event_digest(row)))
        for local in rows.keys() - {entry.local for entry in known}:
            uid = f"{secrets.token_hex(8)}@phone.example"
            self._ask("PUT", f"private/{uid}.ics", write_event(_event_of(rows[local], uid)))
            self._keep("event", Known(local, f"private/{uid}", _event_digest(rows[local])))

    def _change_event(self, remote: str, row: Row) -> None:
        """Change an event, or one repetition of it, as on the phone."""
        path, _, start = remote.partition("#")
        event = _event_of(row, path.partition("/")[2])
        text = self._ask("GET", f"{path}.ics")
        new = (
            change_repetition(text, event, _start_of(start)) if start else change_event(text, event)
        )
        self._ask("PUT", f"{path}.ics", new)

    def _remove_event(self, remote: str) -> None:
        """Remove an event, or one repetition of it."""
        path, _, start = remote.partition("#")
        if not start:
            self._ask("DELETE", f"{path}.ics")
            return
        text = self._ask("GET", f"{path}.ics")
        self._ask("PUT", f"{path}.ics", exclude_repetition(text, _start_of(start)))

    def _pull_events(self, calendar: str, events: list[Event]) -> None:
        latest = max((event.start for event in events if not event.rule), default=None)
        now = self._phone.now()
        last = (max(latest, now) if latest else now).date() + timedelta(days=AHEAD_DAYS)
        wanted: dict[str, EventDraft] = {}
        for event in events:
            remote = f"{calendar}/{event.uid}"
            if event.instance is not None:
                wanted[_repetition(remote, event.instance)] = _draft_of(event)
            elif not event.rule:
                wanted[remote] = _draft_of(event)
            else:
                for occurrence in event.occurrences(last):
                    wanted[_repetition(remote, occurrence.start)] = _draft_of(occurrence)
        store = self._phone.store
        with writing(self._phone, self._epoch):
            known = {entry.remote: entry for entry in list_known(store, "event")}
            for remote, draft in wanted.items():
                entry = known.get(remote)
                row = None if entry is None else load_event(store, entry.local)
                if entry is not None and (row is None or _event_digest(row) != entry.digest):
                    continue  # changed on the phone meanwhile
                if row is not None and _event_digest(row) == _draft_digest(draft):
                    continue
                local = save_event(store, draft, None if entry is None else entry.local)
                put_known(store, "event", Known(local, remote, _draft_digest(draft)))
            for remote, entry in known.items():
                if remote.startswith(f"{calendar}/") and remote not in wanted:
                    store.change("DELETE FROM event WHERE _id=?", (entry.local,))
                    drop_known(store, "event", remote)

    def _push_contacts(self) -> None:
        store = self._phone.store
        with self._phone.lock:
            known = list_known(store, "contact")
            locals_ = [row["_id"] for row in store.rows("SELECT _id FROM contact")]
            drafts = {local: load_contact(store, local) for local in locals_}
        for entry in known:
            draft = drafts.get(entry.local)
            if draft is None:
                self._ask("DELETE", f"contacts/{entry.remote}.vcf")
                with writing(self._phone, self._epoch):
                    drop_known(store, "contact", entry.remote)
            elif _contact_digest(draft) != entry.digest:
                self._put_contact(entry.local, entry.remote, draft)
        for local in drafts.keys() - {entry.local for entry in known}:
            draft = drafts[local]
            if draft is not None:
                self._put_contact(local, f"{secrets.token_hex(8)}@phone.example", draft)

    def _put_contact(self, local: int, uid: str, draft: ContactDraft) -> None:
        card = Card(uid, draft.name, draft.emails, draft.phones, "")
        self._ask("PUT", f"contacts/{uid}.vcf", write_card(card), "text/vcard")
        self._keep("contact", Known(local, uid, _contact_digest(draft)))

    def _pull_contacts(self, cards: list[Card]) -> None:
        store = self._phone.store
        with writing(self._phone, self._epoch):
            known = {entry.remote: entry for entry in list_known(store, "contact")}
            for card in cards:
                entry = known.get(card.uid)
                own = None if entry is None else load_contact(store, entry.local)
                if entry is not None and (own is None or _contact_digest(own) != entry.digest):
                    continue
                draft = ContactDraft(card.name, card.phones, card.emails, bool(own and own.starred))
                if own == draft:
                    continue
                local = save_contact(store, draft, None if entry is None else entry.local)
                put_known(store, "contact", Known(local, card.uid, _contact_digest(draft)))
            for remote in known.keys() - {card.uid for card in cards}:
                delete_contact(store, known[remote].local)
                drop_known(store, "contact", remote)

    def _keep(self, kind: str, known: Known) -> None:
        with writing(self._phone, self._epoch):
            put_known(self._phone.store, kind, known)

    def _changed(self, name: str) -> str | None:
        """Return the content of a collection if it changed since it was last read."""
        answer = self._ask("PROPFIND", f"{name}/", _ASK_TAG.decode(), depth="0")
        found = _TAG.search(answer)
        tag = found[1] if found else answer
        if self._tags.get(name) == tag:
            return None
        text = self._ask("GET", f"{name}/")
        self._tags[name] = tag
        return text

    def _ask(
        self, method: str, path: str, text: str = "", kind: str = "text/calendar", depth: str = "1"
    ) -> str:
        connection = http.client.HTTPConnection(HERE, _HTTP_PORT, timeout=TIMEOUT_S)
        try:
            headers = {**self._headers, "Content-Type": kind, "Depth": depth}
            connection.request(method, f"{self._home}/{path}", text.encode(), headers)
            reply = connection.getresponse()
            data = reply.read().decode(errors="replace")
        finally:
            connection.close()
        if reply.status not in _SUCCESS and not (method == "DELETE" and reply.status == 404):  # noqa: PLR2004 - gone already
            raise DavError(f"{method} {path}: {reply.status}")
        return data


def _repetition(remote: str, start: datetime) -> str:
    """Return the name of one repetition of an event."""
    return f"{remote}#{start:%Y%m%dT%H%M%SZ}"


def _start_of(name: str) -> datetime:
    """Return when a repetition would start, by the end of its name."""
    return datetime.strptime(name, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def _draft_of(event: Event) -> EventDraft:
    start, end = (int(when.timestamp() * 1000) for when in (event.start, event.end))
    return EventDraft(event.title, start, end, event.is_all_day, event.place, event.notes)


def _event_of(row: Row, uid: str) -> Event:
    start, end = (datetime.fromtimestamp(row[name] / 1000, tz=UTC) for name in ("dtstart", "dtend"))
    return Event(
        uid=uid,
        title=row["title"],
        start=start,
        end=end,
        is_all_day=bool(row["allDay"]),
        place=row["eventLocation"],
        notes=row["description"],
        guests=(),
        rule="",
    )


def _event_digest(row: Row) -> str:
    names = ("title", "dtstart", "dtend", "allDay", "eventLocation", "description")
    return _digest(*(row[name] for name in names))


def _draft_digest(draft: EventDraft) -> str:
    values = (draft.title, draft.start_ms, draft.end_ms, int(draft.is_all_day))
    return _digest(*values, draft.place, draft.notes)


def _contact_digest(draft: ContactDraft) -> str:
    return _digest(draft.name, *draft.phones, "", *draft.emails)


def _digest(*values: object) -> str:
    return hashlib.sha256("\0".join(map(str, values)).encode()).hexdigest()
