"""The Messages application: text message conversations."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import CONTACTS, DIALER, MESSAGES
from images.phone.device.apps.links import CALL_ACTIVITY, CONTACT_EDITOR, CONVERSATION, fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import clock_text, short_date
from images.phone.device.store.contacts import PHONE, find_contacts
from images.phone.device.store.messages import (
    SENT,
    add_message,
    find_thread,
    is_same_number,
    list_messages,
    list_threads,
    mark_read,
    name_of,
    plain_number,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_TO, _TEXT = "recipient_text_view", "compose_message_text"
_MIN_DIGITS = 3


class ThreadListScreen(Screen):
    """All conversations."""

    activity = "com.google.android.apps.messaging.ui.ConversationListActivity"

    def content(self) -> View:
        """Show the conversations, newest first, or the choice of a recipient."""
        if self.state.get("choosing"):
            return self._choose()
        rows = [self._row(row) for row in list_threads(self.store)]
        if not rows:
            rows = [self.widgets.empty("message", "Once you start a new conversation, it is here")]
        listed = self.widgets.list_of("list", rows, self.offset("list"), bottom_px=dp(88))
        body = self.widgets.column(self.widgets.bar("Messages"), listed)
        add = self.widgets.floating_button(
            "Start chat", self._begin, name="start_chat_fab", icon="message"
        )
        return View("FrameLayout", children=[body, add], flow=Flow.STACK)

    def dialog(self) -> View | None:
        """Ask for confirmation before deleting a conversation."""
        thread = self.state.get("deleting")
        if not thread:
            return None
        return self.widgets.question(
            "Delete this conversation?",
            "Delete",
            self.act(self._delete, int(thread)),
            self.act(self.back),
        )

    def back(self) -> bool:
        """Close the question, or the choice of a recipient."""
        if self.state.pop("deleting", None):
            return True
        self.drop_field(_TO)
        return bool(self.state.pop("choosing", False))

    def submit(self, name: str) -> None:
        """Start a conversation with the typed number."""
        number = self.field_text(name).strip()
        if name == _TO and len(plain_number(number)) >= _MIN_DIGITS:
            self._write(number)

    def _begin(self) -> None:
        self.state["choosing"] = True
        self.focus(_TO)

    def _choose(self) -> View:
        wanted = self.field_text(_TO).strip()
        bar = self.widgets.bar("New conversation", on_back=self.act(self.back))
        field = self.widgets.padded(self.field(_TO, hint="Type names, phone numbers", label="To"))
        rows = []
        if len(plain_number(wanted)) >= _MIN_DIGITS and plain_number(wanted).lstrip("+").isdigit():
            rows.append(
                self.widgets.item(
                    f"Send to {wanted}",
                    icon="send",
                    names=("contact_picker_create", ""),
                    on_tap=self.act(self._write, wanted),
                )
            )
        for person in find_contacts(self.store, wanted):
            rows += [self._person(person, number) for number in self._numbers(person)]
        return self.widgets.column(
            bar, field, self.widgets.list_of("people", rows, self.offset("people"))
        )

    def _numbers(self, person: Row) -> list[str]:
        rows = self.store.rows(
            "SELECT data1 FROM contact_data WHERE contact_id=? AND mimetype=? ORDER BY _id",
            (person["_id"], PHONE),
        )
        return [row["data1"] for row in rows]

    def _person(self, person: Row, number: str) -> View:
        view = self.widgets.item(
            person["display_name"],
            summary=number,
            names=("contact_name", "contact_details"),
            on_tap=self.act(self._write, number),
        )
        view.children.insert(0, self.widgets.monogram(person["display_name"], dp(40)))
        return view

    def _write(self, number: str) -> None:
        self.back()
        self.open(CONVERSATION, {"focus": _TEXT}, address=number)

    def _row(self, row: Row) -> View:
        name = name_of(self.store, row["address"])
        when = datetime.fromtimestamp(row["date"] / 1000, tz=self.host.now().tzinfo)
        time = self.widgets.text(
            short_date(when, self.host.now(), is_24=self.host.is_24_hours()),
            "conversation_timestamp",
            size_px=dp(12),
            ink=self.host.theme.ink_soft,
        )
        preview = f"You: {row['body']}" if row["type"] == SENT else row["body"]
        view = self.widgets.item(
            name,
            summary=preview.replace("\n", " "),
            names=("conversation_name", "conversation_snippet"),
            on_tap=self.act(lambda: self.open(CONVERSATION, address=row["address"])),
            trailing=time,
        )
        for line in view.children[0].children:
            line.look.is_bold, line.look.max_lines = row["unread"] > 0, 1
        view.name = "swipeableContainer"
        view.on_hold = self.set(deleting=row["thread_id"])
        view.children.insert(0, self.widgets.monogram(name, dp(44)))
        return view

    def _delete(self, thread: int) -> None:
        self.store.change("DELETE FROM sms WHERE thread_id=?", (thread,))
        self.state.pop("deleting", None)
        self.toast("Conversation deleted")


class ConversationScreen(Screen):
    """One conversation."""

    activity = CONVERSATION

    def content(self) -> View:
        """Show the messages, and a field for a new one."""
        name = name_of(self.store, self._address)
        call = self.widgets.icon_button("call", f"Call {name}", self._call, name="action_call")
        actions: tuple[View, ...] = (call,)
        if name == self._address:
            add = self.widgets.icon_button("contacts", "Add contact", self._add)
            actions = (call, add)
        bar = self.widgets.bar(name, on_back=self.act(self.finish), actions=actions)
        bar.children[1].name = "conversation_title"
        rows = self._bubbles()
        listed = self.widgets.list_of("list", rows, self._offset(rows))
        return self.widgets.column(bar, listed, self._compose())

    def _offset(self, rows: list[View]) -> int:
        """Return the scroll offset of the list: its end, until the user scrolls."""
        kept = self.state.get("scroll", {})
        return int(kept["list"]) if "list" in kept else len(rows) * dp(2000)

    @property
    def _address(self) -> str:
        return str(self.entry.arguments.get("address", ""))

    def submit(self, name: str) -> None:
        """Send the message."""
        if name == _TEXT:
            self._send()

    def _bubbles(self) -> list[View]:
        thread = find_thread(self.store, self._address)
        if thread is None:
            intro = f"Texting with {self._address} (SMS)"
            hint = self.widgets.text(intro, centered=True, ink=self.host.theme.ink_soft, lines=2)
            return [self.widgets.padded(hint)]
        mark_read(self.store, thread)
        day, rows = "", []
        messages = list_messages(self.store, thread)
        for address in {row["address"] for row in messages}:
            self.host.cancel_notifications(MESSAGES, address)
        for row in messages:
            when = datetime.fromtimestamp(row["date"] / 1000, tz=self.host.now().tzinfo)
            shown = f"{when:%A}, {when.day} {when:%B}"
            if shown != day:
                day = shown
                line = self.widgets.text(
                    day, size_px=dp(12), centered=True, ink=self.host.theme.ink_soft
                )
                line.padding_px = (0, dp(12), 0, dp(4))
                rows.append(line)
            rows.append(self._bubble(row, when))
        return rows

    def _bubble(self, row: Row, when: datetime) -> View:
        theme, is_own = self.host.theme, row["type"] == SENT
        room = self.host.display.width_px * 3 // 4 - 2 * EDGE_PX
        text = View(
            "TextView",
            "message_text",
            text=row["body"],
            label=f"{'You' if is_own else name_of(self.store, row['address'])} said {row['body']}",
            look=Look(
                fill=theme.primary if is_own else theme.surface,
                ink=theme.on_primary if is_own else theme.ink,
                radius_px=dp(18),
                max_lines=200,
            ),
            padding_px=(dp(14), dp(10), dp(14), dp(10)),
        )
        text.width_px = text.measure(room)[0]
        time = self.widgets.text(
            clock_text(when, is_24=self.host.is_24_hours()),
            "message_status",
            size_px=dp(11),
            ink=theme.ink_soft,
        )
        rest = View(weight=1, is_silent=True)
        lines = [
            View(
                "LinearLayout", children=[rest, part] if is_own else [part, rest], flow=Flow.ACROSS
            )
            for part in (text, time)
        ]
        return self.widgets.column(*lines, padding_px=(EDGE_PX, dp(4), EDGE_PX, dp(4)))

    def _compose(self) -> View:
        field = self.field(_TEXT, hint="Text message", lines=5)
        field.look.fill, field.look.outline = self.host.theme.surface, None
        field.look.radius_px = dp(24)
        field.weight = 1
        can_send = bool(self.field_text(_TEXT).strip())
        send = self.widgets.icon_button(
            "send",
            "Send SMS",
            self._send,
            name="send_message_button_icon",
            ink=self.host.theme.primary if can_send else self.host.theme.line,
        )
        send.traits.enabled = can_send
        row = self.widgets.row(field, send, gap_px=dp(4))
        row.padding_px = (EDGE_PX, dp(8), dp(8), dp(8))
        return row

    def _send(self) -> None:
        text = self.field_text(_TEXT).strip()
        if text and self._address:
            now_ms = int(self.host.now_s() * 1000)
            add_message(self.store, self._address, text, SENT, now_ms)
            self.put_field(_TEXT, "")
            self.state.pop("scroll", None)

    def _call(self) -> None:
        self.start(DIALER, CALL_ACTIVITY, number=self._address)

    def _add(self) -> None:
        known = any(
            is_same_number(row["data1"], self._address)
            for row in self.store.rows("SELECT data1 FROM contact_data")
        )
        if not known:
            fields = fields_of({"phone": self._address})
            self.start(CONTACTS, CONTACT_EDITOR, {"fields": fields, "focus": "first_name"})
