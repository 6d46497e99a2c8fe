"""The Mail application; without an account, sent mail stays on the phone: in Sent, and in one's own inbox."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.links import COMPOSE, fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import long_date, short_date
from images.phone.device.store.contacts import EMAIL, find_contacts
from images.phone.device.store.mail import (
    DRAFTS,
    INBOX,
    OWN_ADDRESS,
    SENT,
    TRASH,
    MailDraft,
    add_mail,
    list_mails,
    load_mail,
    move_mail,
    own_address,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.toolkit import Tab
from images.phone.device.ui.view import Flow, View
from images.phone.device.ui.widgets import EDGE_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_SEARCH = "open_search_bar_text_view"
_TO, _SUBJECT, _BODY = "to", "subject", "body"
_ADDRESS = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+")
_FOLDERS = (
    (INBOX, "Inbox", "inbox"),
    (SENT, "Sent", "send"),
    (DRAFTS, "Drafts", "drafts"),
    (TRASH, "Trash", "delete"),
)


class MailListScreen(Screen):
    """The mails of one folder."""

    activity = "com.google.android.gm.ConversationListActivityGmail"

    def content(self) -> View:
        """Show a search bar, the mails, and the folders at the bottom."""
        folder = str(self.state.get("folder", INBOX))
        wanted = self.field_text(_SEARCH).strip()
        search = self.widgets.search(self.field(_SEARCH, hint="Search in mail"))
        rows = [self._row(row) for row in list_mails(self.store, folder, wanted)]
        if not rows:
            rows = [self.widgets.empty("mail", "Nothing found" if wanted else "Nothing in here")]
        listed = self.widgets.list_of(
            "thread_list_view", rows, self.offset("thread_list_view"), bottom_px=dp(88)
        )
        add = self.widgets.floating_button(
            "Compose", self.act(self._compose), name="compose_button", icon="edit"
        )
        pages = View(
            "FrameLayout",
            children=[self.widgets.column(search, listed), add],
            flow=Flow.STACK,
            weight=1,
        )
        tabs = [
            Tab(caption, icon, self.set(folder=name, scroll={}), name == folder)
            for name, caption, icon in _FOLDERS
        ]
        return self.widgets.column(pages, self.widgets.tabs(tabs))

    def back(self) -> bool:
        """Clear the search, or return to the inbox."""
        if self.field_text(_SEARCH) or self.state.get("focus"):
            self.drop_field(_SEARCH)
            self.focus("")
            return True
        return str(self.state.pop("folder", INBOX)) != INBOX

    def submit(self, name: str) -> None:
        """Keep the search results and hide the keyboard."""
        del name
        self.state["keyboard_hidden"] = True

    def _compose(self) -> None:
        self.open(COMPOSE, {"focus": _TO})

    def _row(self, row: Row) -> View:
        is_own = row["folder"] in {SENT, DRAFTS}
        who = f"To: {row['recipients'] or '(nobody)'}" if is_own else row["sender"]
        when = datetime.fromtimestamp(row["date"] / 1000, tz=self.host.now().tzinfo)
        unread = not row["read"]
        soft = self.host.theme.ink_soft
        time = self.widgets.text(
            short_date(when, self.host.now(), is_24=self.host.is_24_hours()),
            "date",
            size_px=dp(12),
            ink=soft,
        )
        sender = self.widgets.text(who, "senders", bold=unread)
        sender.weight = 1
        lines = [
            self.widgets.row(sender, time, gap_px=dp(8)),
            self.widgets.text(
                row["subject"] or "(no subject)", "subject", size_px=SMALL_PX, bold=unread
            ),
        ]
        if row["body"]:
            snippet = row["body"].replace("\n", " ")
            lines.append(self.widgets.text(snippet, "snippet", size_px=SMALL_PX, ink=soft))
        middle = self.widgets.column(*lines)
        middle.weight = 1
        star = self.widgets.icon_button(
            "star" if row["starred"] else "star_empty",
            "Remove star" if row["starred"] else "Add star",
            self.act(self._star, row),
            name="star",
        )
        view = self.widgets.row(
            self.widgets.monogram(who.removeprefix("To: "), dp(40)), middle, star, gap_px=dp(12)
        )
        view.name, view.kind = "viewified_conversation_item_view", "android.view.ViewGroup"
        view.padding_px = (EDGE_PX, dp(8), dp(4), dp(8))
        view.label = f"{who}, {row['subject']}"
        view.on_tap = self.act(self._open, row)
        return view

    def _star(self, row: Row) -> None:
        self.store.change(
            "UPDATE mail SET starred=? WHERE _id=?", (int(not row["starred"]), row["_id"])
        )

    def _open(self, row: Row) -> None:
        self.store.change("UPDATE mail SET read=1 WHERE _id=?", (row["_id"],))
        if row["folder"] != DRAFTS:
            self.open(MailScreen.activity, mail=row["_id"])
            return
        chips = [address for address in row["recipients"].split(", ") if address]
        fields = fields_of({_SUBJECT: row["subject"], _BODY: row["body"]})
        self.open(COMPOSE, {"fields": fields, "chips": chips}, draft=row["_id"])


class MailScreen(Screen):
    """One mail."""

    activity = "com.google.android.gm.ConversationViewActivityGmail"

    def content(self) -> View:
        """Show the mail and its actions."""
        row = load_mail(self.store, int(self.entry.arguments["mail"]))
        back = self.act(self.finish)
        if row is None:
            gone = self.widgets.empty("mail", "This mail does not exist any more")
            return self.widgets.column(self.widgets.bar("", on_back=back), gone)
        is_gone = row["folder"] == TRASH
        actions = (
            self.widgets.icon_button(
                "inbox" if is_gone else "delete",
                "Move to inbox" if is_gone else "Delete",
                self.act(self._move, row, INBOX if is_gone else TRASH),
                name="delete",
            ),
            self.widgets.icon_button(
                "mail", "Mark unread", self.act(self._mark_unread, row), name="read"
            ),
        )
        soft = self.host.theme.ink_soft
        when = datetime.fromtimestamp(row["date"] / 1000, tz=self.host.now().tzinfo)
        subject = self.widgets.text(
            row["subject"] or "(no subject)", "subject_and_folder_view", size_px=dp(22), lines=4
        )
        sender = self.widgets.item(
            row["sender"],
            summary=f"to {row['recipients']} \u00b7 {long_date(when)}",
            names=("sender_name", "recipient_summary"),
        )
        sender.children.insert(0, self.widgets.monogram(row["sender"], dp(40)))
        sender.padding_px = (0, dp(8), 0, dp(8))
        body = self.widgets.text(row["body"] or " ", "conversation_body", lines=400)
        body.look.ink = self.host.theme.ink if row["body"] else soft
        listed = self.widgets.list_of(
            "conversation_pager", [subject, sender, body], self.offset("conversation_pager")
        )
        listed.padding_px = (EDGE_PX, dp(8), EDGE_PX, dp(8))
        reply = self.widgets.row(
            self.widgets.chip("Reply", self.act(self._answer, row), name="reply"),
            self.widgets.chip("Forward", self.act(self._forward, row), name="forward"),
            gap_px=dp(12),
        )
        reply.padding_px = (EDGE_PX, dp(8), EDGE_PX, dp(12))
        bar = self.widgets.bar("", on_back=back, actions=actions)
        return self.widgets.column(bar, listed, reply)

    def _move(self, row: Row, folder: str) -> None:
        move_mail(self.store, row["_id"], folder)
        self.toast("1 deleted" if folder == TRASH else "Moved to inbox")
        self.finish()

    def _mark_unread(self, row: Row) -> None:
        self.store.change("UPDATE mail SET read=0 WHERE _id=?", (row["_id"],))
        self.finish()

    def _answer(self, row: Row) -> None:
        subject = row["subject"]
        subject = subject if subject.lower().startswith("re:") else f"Re: {subject}"
        state = {"fields": fields_of({_SUBJECT: subject}), "chips": [row["sender"]], "focus": _BODY}
        self.open(COMPOSE, state)

    def _forward(self, row: Row) -> None:
        body = f"\n\n---------- Forwarded message ---------\nFrom: {row['sender']}\n\n{row['body']}"
        fields = fields_of({_SUBJECT: f"Fwd: {row['subject']}", _BODY: body})
        self.open(COMPOSE, {"fields": fields, "focus": _TO})


class ComposeScreen(Screen):
    """A mail being composed."""

    activity = COMPOSE
    multiline = frozenset({_BODY})

    def content(self) -> View:
        """Show recipients, subject and text."""
        send = self.widgets.icon_button(
            "send", "Send", self._send, name="send", ink=self.host.theme.primary
        )
        bar = self.widgets.bar("Compose", on_back=self.act(self.leave), actions=(send,))
        sender = self.widgets.text(
            f"From   {own_address(self.store)}", "from_account_name", lines=1
        )
        sender.padding_px = (EDGE_PX, dp(12), EDGE_PX, dp(12))
        to = self.field(_TO, hint="To", label="To", framed=False)
        parts = [sender, self.widgets.line()]
        parts += [self._chip(address) for address in self._chips()]
        parts += [to, *self._suggestions(), self.widgets.line()]
        parts += [self.field(_SUBJECT, hint="Subject", framed=False), self.widgets.line()]
        body = self.field(_BODY, hint="Compose email", framed=False, lines=200).at_least(dp(160))
        parts.append(View("FrameLayout", "body_wrapper", children=[body]))
        return self.widgets.column(
            bar, self.widgets.list_of("compose", parts, self.offset("compose"))
        )

    def back(self) -> bool:
        """Save the mail as a draft, then close."""
        self._keep()
        return False

    def leave(self) -> None:
        """Handle the back arrow at the top."""
        self._keep()
        self.finish()

    def submit(self, name: str) -> None:
        """Accept the address, or go to the next field."""
        if name == _TO:
            self._take()
        self.focus(_SUBJECT if name == _TO else _BODY)

    def dialog(self) -> View | None:
        """Show a problem with the recipients."""
        problem = self.state.get("problem")
        if not problem:
            return None
        close = self.act(self.state.pop, "problem", None)
        return self.widgets.dialog(
            self.widgets.text(str(problem), "android:id/message", lines=4),
            self.widgets.buttons(self.widgets.button("OK", close, name="android:id/button1")),
            on_outside=close,
        )

    def _chips(self) -> list[str]:
        return [str(address) for address in self.state.get("chips", [])]

    def _take(self) -> None:
        """Convert the typed text to addresses."""
        typed = [part.strip() for part in re.split(r"[,;]", self.field_text(_TO)) if part.strip()]
        if typed:
            self.state["chips"] = [*self._chips(), *typed]
            self.put_field(_TO, "")

    def _chip(self, address: str) -> View:
        chip = self.widgets.chip(
            address, self.act(self._drop, address), name="peoplekit_chip", label=address
        )
        rest = View(weight=1, is_silent=True)
        close = self.widgets.icon_button(
            "close", f"Remove {address}", self.act(self._drop, address)
        )
        row = self.widgets.row(chip, close, rest)
        row.padding_px = (EDGE_PX, dp(2), EDGE_PX, dp(2))
        return row

    def _drop(self, address: str) -> None:
        self.state["chips"] = [chip for chip in self._chips() if chip != address]

    def _suggestions(self) -> list[View]:
        wanted = self.field_text(_TO).strip()
        if not wanted:
            return []
        rows = []
        for person in find_contacts(self.store, wanted)[:3]:
            addresses = self.store.rows(
                "SELECT data1 FROM contact_data WHERE contact_id=? AND mimetype=?",
                (person["_id"], EMAIL),
            )
            rows += [self._suggestion(person["display_name"], data["data1"]) for data in addresses]
        return rows

    def _suggestion(self, name: str, address: str) -> View:
        return self.widgets.item(
            name,
            summary=address,
            names=("peoplekit_name", "peoplekit_address"),
            on_tap=self.act(self._choose, address),
        )

    def _choose(self, address: str) -> None:
        self.put_field(_TO, "")
        self.state["chips"] = [*self._chips(), address]
        self.focus(_SUBJECT)

    def _draft(self) -> MailDraft:
        self._take()
        return MailDraft(
            ", ".join(self._chips()), self.field_text(_SUBJECT).strip(), self.field_text(_BODY)
        )

    def _store(self, folder: str) -> None:
        number = self.entry.arguments.get("draft")
        if number is not None:
            self.store.change("DELETE FROM mail WHERE _id=?", (int(number),))
        draft, now_ms = self._draft(), int(self.host.now_s() * 1000)
        add_mail(self.store, folder, own_address(self.store), draft, now_ms)
        is_alone = own_address(self.store) == OWN_ADDRESS
        if folder == SENT and is_alone and OWN_ADDRESS in self._chips():
            add_mail(self.store, INBOX, OWN_ADDRESS, draft, now_ms)

    def _keep(self) -> None:
        if any(self._draft()):
            self._store(DRAFTS)
            self.toast("Draft saved")

    def _send(self) -> None:
        self._take()
        wrong = [address for address in self._chips() if not _ADDRESS.fullmatch(address)]
        if not self._chips():
            self.state["problem"] = "Add at least one recipient."
        elif wrong:
            self.state["problem"] = f"The address <{wrong[0]}> in To is invalid."
        else:
            self._store(SENT)
            self.toast("Sent")
            self.finish()
