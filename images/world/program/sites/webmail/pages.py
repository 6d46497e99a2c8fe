"""Pages of web mail: folders, mails, writing, calendar, contacts, account."""

from __future__ import annotations

from calendar import Calendar as Weeks
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.calendar_text import Event
from images.world.program.sites.accounts import SEE_OTHER, Session
from images.world.program.sites.pages import read_form
from images.world.program.sites.webmail.calendar import (
    CALENDARS,
    Calendars,
    last_day,
    new_id,
)
from images.world.program.sites.webmail.mailbox import FOLDERS, PAGE_MAILS, Mailbox

if TYPE_CHECKING:
    from starlette.requests import Request

    from images.world.program.sites.accounts import Accounts
    from images.world.program.sites.clock import WorldClock

_SHORTEST = 8
_MARKS = {"flag": ("\\Flagged", True), "unflag": ("\\Flagged", False), "unread": ("\\Seen", False)}


def webmail_routes(accounts: Accounts, clock: WorldClock, name: str) -> list[Route]:
    """Return the routes of web mail.

    Args:
        accounts: the account.
        clock: the world's time.
        name: the person's name.
    """
    session = Session(accounts, "Mail", "mail")
    mail = _Mail(session, Mailbox(accounts, name), clock)
    events = _Calendar(session, Calendars(accounts), clock)
    pages = {
        ("/", "GET"): mail.folder,
        ("/mail/{folder}/{uid:int}", "GET"): mail.mail,
        ("/mail/{folder}/{uid:int}", "POST"): mail.change,
        ("/compose", "GET"): mail.compose,
        ("/compose", "POST"): mail.send,
        ("/calendar", "GET"): events.month,
        ("/calendar/new", "GET"): events.form,
        ("/calendar/new", "POST"): events.add,
        ("/calendar/{calendar}/{uid}", "GET"): events.event,
        ("/calendar/{calendar}/{uid}", "POST"): events.remove,
        ("/contacts", "GET"): events.contacts,
        ("/account", "GET"): mail.account,
        ("/account", "POST"): mail.change_password,
    }
    guarded = [
        Route(path, session.required(page), methods=[method])
        for (path, method), page in pages.items()
    ]
    return [*session.routes, *guarded]


class _Mail:
    """Pages of the mailbox."""

    def __init__(self, session: Session, mailbox: Mailbox, clock: WorldClock) -> None:
        self._session = session
        self._mailbox = mailbox
        self._clock = clock

    async def folder(self, request: Request) -> Response:
        asked = request.query_params
        folder = _folder(asked.get("folder", ""))
        query = asked.get("q", "")
        page = int(asked["page"]) if asked.get("page", "").isdecimal() else 0
        rows, count = await run_in_threadpool(self._mailbox.rows, folder, query, page)
        return self._session.page(
            request,
            "mail_folder.html",
            folders=FOLDERS,
            folder=folder,
            query=query,
            rows=rows,
            count=count,
            page=page,
            is_last=(page + 1) * PAGE_MAILS >= count,
            unread=await run_in_threadpool(self._mailbox.unread),
        )

    async def mail(self, request: Request) -> Response:
        folder, uid = _folder(request.path_params["folder"]), str(request.path_params["uid"])
        opened = await run_in_threadpool(self._mailbox.open, folder, uid)
        if opened is None:
            return RedirectResponse(f"/?folder={folder}", SEE_OTHER)
        return self._session.page(
            request, "mail_read.html", folders=FOLDERS, folder=folder, mail=opened
        )

    async def change(self, request: Request) -> Response:
        folder, uid = _folder(request.path_params["folder"]), str(request.path_params["uid"])
        action = (await read_form(request)).get("action", "")
        if action in _MARKS:
            flag, is_set = _MARKS[action]
            await run_in_threadpool(self._mailbox.mark, folder, uid, flag, is_set=is_set)
        elif action in FOLDERS:
            await run_in_threadpool(self._mailbox.move, folder, uid, action)
        return RedirectResponse(f"/?folder={folder}", SEE_OTHER)

    async def compose(self, request: Request) -> Response:
        asked = dict(request.query_params)
        values = {key: asked.get(key, "") for key in ("to", "cc", "subject", "text", "reply")}
        if answered := _answered(values["reply"]):
            opened = await run_in_threadpool(self._mailbox.open, *answered)
            if opened is not None:
                quoted = "\n".join(f"> {line}" for line in opened.text.splitlines())
                values["to"] = opened.address
                values["subject"] = f"Re: {opened.row.subject.removeprefix('Re: ')}"
                values["text"] = f"\n\n{opened.row.sender} wrote:\n{quoted}\n"
        return self._form(request, values, "")

    async def send(self, request: Request) -> Response:
        form = await read_form(request)
        answered = _answered(form.get("reply", ""))
        why = await run_in_threadpool(self._mailbox.send, form, self._clock.now, answered)
        if why:
            keys = ("to", "cc", "subject", "text", "reply")
            return self._form(request, {key: form.get(key, "") for key in keys}, why)
        return RedirectResponse("/?folder=Sent", SEE_OTHER)

    async def account(self, request: Request) -> Response:
        return self._session.page(request, "mail_account.html", folders=FOLDERS, notice="")

    async def change_password(self, request: Request) -> Response:
        form = await read_form(request)
        old, new = form.get("old", ""), form.get("new", "")
        accounts = self._session.accounts
        if (
            not accounts.is_password(accounts.login[0], old)
            or len(new) < _SHORTEST
            or not new.isprintable()
        ):
            notice = "Enter the present password, and a new one of 8 characters or more."
        else:
            accounts.change_password(new)
            notice = "The password was changed."
        return self._session.page(request, "mail_account.html", folders=FOLDERS, notice=notice)

    def _form(self, request: Request, values: dict[str, str], why: str) -> Response:
        return self._session.page(
            request, "mail_compose.html", folders=FOLDERS, values=values, why=why
        )


class _Calendar:
    """Pages of calendar and address book."""

    def __init__(self, session: Session, calendars: Calendars, clock: WorldClock) -> None:
        self._session = session
        self._calendars = calendars
        self._clock = clock

    async def month(self, request: Request) -> Response:
        first = _month(request.query_params.get("month", ""), self._clock.now.date())
        weeks = Weeks().monthdatescalendar(first.year, first.month)
        events = await run_in_threadpool(self._calendars.between, weeks[0][0], weeks[-1][-1])
        return self._session.page(
            request,
            "mail_calendar.html",
            folders=FOLDERS,
            first=first,
            weeks=weeks,
            events=events,
            last_day=last_day,
            today=self._clock.now.date(),
            before=first - timedelta(days=1),
            after=first + timedelta(days=31),
        )

    async def form(self, request: Request) -> Response:
        day = request.query_params.get("day", f"{self._clock.now:%Y-%m-%d}")
        values = {"title": "", "day": day, "start": "09:00", "end": "10:00", "place": ""}
        return self._ask(request, {**values, "calendar": CALENDARS[0]}, "")

    async def add(self, request: Request) -> Response:
        form = await read_form(request)
        values = {
            key: form.get(key, "").strip()
            for key in ("title", "day", "start", "end", "place", "calendar")
        }
        try:
            start, end = (
                datetime.fromisoformat(f"{values['day']}T{values[key]}+00:00")
                for key in ("start", "end")
            )
        except ValueError:
            return self._ask(
                request, values, "Enter a day and times, such as 2026-03-31 and 09:30."
            )
        if not values["title"] or end <= start or values["calendar"] not in CALENDARS:
            return self._ask(request, values, "Enter a title, and an end after the start.")
        made = Event(
            uid=new_id(),
            title=values["title"],
            start=start,
            end=end,
            is_all_day=False,
            place=values["place"],
            notes="",
            guests=(),
            rule="",
        )
        await run_in_threadpool(self._calendars.add, values["calendar"], made)
        return RedirectResponse(f"/calendar?month={start:%Y-%m}", SEE_OTHER)

    async def event(self, request: Request) -> Response:
        calendar, uid = (request.path_params[key] for key in ("calendar", "uid"))
        event = None
        if calendar in CALENDARS:
            event = await run_in_threadpool(self._calendars.find, calendar, uid)
        if event is None:
            return RedirectResponse("/calendar", SEE_OTHER)
        return self._session.page(
            request, "mail_event.html", folders=FOLDERS, event=event, calendar=calendar
        )

    async def remove(self, request: Request) -> Response:
        calendar, uid = (request.path_params[key] for key in ("calendar", "uid"))
        await run_in_threadpool(self._calendars.remove, calendar, uid)
        return RedirectResponse("/calendar", SEE_OTHER)

    async def contacts(self, request: Request) -> Response:
        query = request.query_params.get("q", "")
        found = await run_in_threadpool(self._calendars.contacts, query)
        return self._session.page(
            request, "mail_contacts.html", folders=FOLDERS, query=query, found=found, link=quote
        )

    def _ask(self, request: Request, values: dict[str, str], why: str) -> Response:
        return self._session.page(
            request,
            "mail_new_event.html",
            folders=FOLDERS,
            values=values,
            calendars=CALENDARS,
            why=why,
        )


def _folder(name: str) -> str:
    return name if name in FOLDERS else FOLDERS[0]


def _answered(reply: str) -> tuple[str, str] | None:
    folder, _, uid = reply.partition("/")
    return (folder, uid) if folder in FOLDERS and uid.isdecimal() else None


def _month(text: str, today: date) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        return today.replace(day=1)
