"""The Phone application: keypad, call log, and the screen of a call."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import CONTACTS, MESSAGES
from images.phone.device.apps.links import CALL_ACTIVITY, CONTACT_EDITOR, CONVERSATION, fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import length_text, short_date
from images.phone.device.store.contacts import PHONE, find_contacts
from images.phone.device.store.messages import (
    INCOMING,
    MISSED,
    OUTGOING,
    REJECTED,
    list_calls,
    log_call,
    name_of,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.theme import rgb
from images.phone.device.ui.toolkit import Tab
from images.phone.device.ui.view import Align, Flow, Look, Traits, View
from images.phone.device.ui.widgets import EDGE_PX, ICON_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row
    from images.phone.device.ui.theme import Color

_MAX_DIGITS = 60
_KEYS = (
    ("1", "", "one"),
    ("2", "ABC", "two"),
    ("3", "DEF", "three"),
    ("4", "GHI", "four"),
    ("5", "JKL", "five"),
    ("6", "MNO", "six"),
    ("7", "PQRS", "seven"),
    ("8", "TUV", "eight"),
    ("9", "WXYZ", "nine"),
    ("*", "", "star"),
    ("0", "+", "zero"),
    ("#", "", "pound"),
)
_WORDS = {INCOMING: "Incoming", OUTGOING: "Outgoing", MISSED: "Missed", REJECTED: "Declined"}
_ICONS = {
    INCOMING: "call_received",
    OUTGOING: "call_made",
    MISSED: "call_missed",
    REJECTED: "block",
}
_GREEN, _RED, _NIGHT, _WHITE = rgb("1E8E3E"), rgb("D93025"), rgb("1B2A41"), (255, 255, 255)


class DialerScreen(Screen):
    """Recent calls, contacts with numbers, and the keypad."""

    activity = "com.android.dialer.main.impl.MainActivity"

    @property
    def tab(self) -> str:
        """The selected view."""
        return str(self.state.get("tab", "recents"))

    def content(self) -> View:
        """Show the chosen view with the bar below it."""
        if self.tab == "dialpad":
            return self._dialpad()
        people = self.tab == "contacts"
        rows = self._people() if people else [self._call(row) for row in list_calls(self.store)]
        if not rows:
            rows = [
                self.widgets.empty("contacts", "No contacts with numbers")
                if people
                else self.widgets.empty("history", "Your call history is empty")
            ]
        listed = self.widgets.list_of(self.tab, rows, self.offset(self.tab), bottom_px=dp(88))
        body = self.widgets.column(self.widgets.bar("Contacts" if people else "Recents"), listed)
        add = self.widgets.floating_button(
            "Key pad", self.set(tab="dialpad"), name="fab", icon="dialpad"
        )
        pages = View("FrameLayout", children=[body, add], flow=Flow.STACK, weight=1)
        tabs = self.widgets.tabs(
            [
                Tab("Recents", "history", self.set(tab="recents"), not people),
                Tab("Contacts", "contacts", self.set(tab="contacts"), people),
            ]
        )
        return self.widgets.column(pages, tabs)

    def back(self) -> bool:
        """Close the keypad."""
        if self.tab != "dialpad":
            return False
        self.state.update(tab="recents", digits="")
        return True

    def _dialpad(self) -> View:
        digits = str(self.state.get("digits", ""))
        is_wide = self.host.display.is_wide
        field = self.widgets.text(digits, "digits", size_px=dp(34), centered=True)
        field.kind, field.weight, field.traits.focusable = "EditText", 1, True
        field.height_px = dp(64)
        delete = self.widgets.icon_button(
            "backspace", "Backspace", self._erase, name="deleteButton"
        )
        delete.on_hold = self.set(digits="")
        row = self.widgets.row(self.widgets.space(0).sized(dp(48)), field, delete)
        keys = [self._key(*key) for key in _KEYS]
        rows = [self.widgets.row(*keys[start : start + 3]) for start in range(0, len(keys), 3)]
        for key_row in rows:
            key_row.height_px = dp(44 if is_wide else 76)
        call = View(
            "ImageButton",
            "dialpad_floating_action_button",
            label="Dial",
            width_px=dp(72),
            height_px=dp(48 if is_wide else 72),
            look=Look(fill=_GREEN, ink=_WHITE, radius_px=dp(36), size_px=dp(30), icon="call"),
            on_tap=self._dial,
        )
        name = name_of(self.store, digits) if digits else ""
        match = self.widgets.text(
            name if name != digits else "", "search_result", centered=True,
            ink=self.host.theme.ink_soft,
        )  # fmt: skip
        match.height_px = dp(28)
        middle = View("FrameLayout", children=[call], align=Align.CENTER)
        bar = [] if is_wide else [self.widgets.bar("", on_back=self.act(self.back))]
        rest = View(weight=1, is_silent=True)
        return self.widgets.column(
            *bar, rest, match, row, *rows, middle, self.widgets.space(dp(8 if is_wide else 32))
        )

    def _key(self, char: str, letters: str, name: str) -> View:
        number = self.widgets.text(char, size_px=dp(30), centered=True)
        small = self.widgets.text(
            letters or " ", size_px=dp(11), centered=True, ink=self.host.theme.ink_soft
        )
        number.is_silent = small.is_silent = True
        parts = [number] if self.host.display.is_wide else [number, small]
        return View(
            "FrameLayout",
            name,
            label=f"{char},{letters}" if letters else char,
            children=parts,
            weight=1,
            on_tap=self.act(self._add, char),
            on_hold=self.act(self._add, "+") if char == "0" else None,
        )

    def _add(self, char: str) -> None:
        digits = f"{self.state.get('digits', '')}{char}"
        self.state["digits"] = digits[:_MAX_DIGITS]

    def _erase(self) -> None:
        self.state["digits"] = str(self.state.get("digits", ""))[:-1]

    def _dial(self) -> None:
        digits = str(self.state.get("digits", ""))
        if digits:
            self.state["digits"] = ""
            self._start_call(digits)
            return
        calls = [row for row in list_calls(self.store) if row["type"] == OUTGOING]
        if calls:  # an empty keypad is filled with the last number, as on Android
            self.state["digits"] = calls[0]["number"]

    def _start_call(self, number: str) -> None:
        self.open(CALL_ACTIVITY, number=number)

    def _people(self) -> list[View]:
        rows = []
        for person in find_contacts(self.store, ""):
            for data in self.store.rows(
                "SELECT data1 FROM contact_data WHERE contact_id=? AND mimetype=?",
                (person["_id"], PHONE),
            ):
                view = self.widgets.item(
                    person["display_name"],
                    summary=data["data1"],
                    names=("contact_name", "contact_details"),
                    on_tap=self.act(self._start_call, data["data1"]),
                )
                view.children.insert(0, self.widgets.monogram(person["display_name"], dp(40)))
                rows.append(view)
        return rows

    def _call(self, row: Row) -> View:
        when = datetime.fromtimestamp(row["date"] / 1000, tz=self.host.now().tzinfo)
        time = short_date(when, self.host.now(), is_24=self.host.is_24_hours())
        name = name_of(self.store, row["number"])
        call = self.widgets.icon_button(
            "call", f"Call {name}", self.act(self._start_call, row["number"]), name="call_back"
        )
        view = self.widgets.item(
            name,
            summary=f"{_WORDS.get(row['type'], 'Call')} \u00b7 {time}",
            names=("primary_text", "secondary_text"),
            on_tap=self.set(unfolded=None if self._is_unfolded(row) else row["_id"]),
            trailing=call,
        )
        icon = self.widgets.icon(
            _ICONS.get(row["type"], "call"),
            ink=self.host.theme.danger if row["type"] == MISSED else None,
        )
        view.children.insert(0, icon.sized(ICON_PX))
        if not self._is_unfolded(row):
            return view
        number = row["number"]
        chips = self.widgets.row(
            self.widgets.chip("Message", self.act(self._message, number)),
            self.widgets.chip("Add contact", self.act(self._keep, number)),
            self.widgets.chip("Delete", self.act(self._delete, row)),
            gap_px=dp(8),
        )
        chips.padding_px = (dp(56), 0, EDGE_PX, dp(8))
        return self.widgets.column(view, chips)

    def _is_unfolded(self, row: Row) -> bool:
        return bool(self.state.get("unfolded") == row["_id"])

    def _message(self, number: str) -> None:
        self.start(MESSAGES, CONVERSATION, {"focus": "compose_message_text"}, address=number)

    def _keep(self, number: str) -> None:
        fields = fields_of({"phone": number})
        self.start(CONTACTS, CONTACT_EDITOR, {"fields": fields, "focus": "first_name"})

    def _delete(self, row: Row) -> None:
        self.store.change("DELETE FROM call WHERE _id=?", (row["_id"],))


class CallScreen(Screen):
    """An ongoing or incoming call."""

    activity = CALL_ACTIVITY
    ground = _NIGHT

    @property
    def is_live(self) -> bool:
        """Return whether the duration of the call is being counted."""
        return "since" in self.state

    def content(self) -> View:
        """Show the caller, the duration and the buttons."""
        name = name_of(self.store, self._number)
        is_ringing = bool(self.entry.arguments.get("incoming")) and "since" not in self.state
        status = "Incoming call" if is_ringing else self._status()
        title = self._light(name, "contactgrid_contact_name", dp(30))
        head = [
            self._light(status, "contactgrid_bottom_text", SMALL_PX),
            title,
            *(
                [self._light(self._number, "contactgrid_number", SMALL_PX)]
                if name != self._number
                else []
            ),
        ]
        disc = self.widgets.monogram(name, dp(72 if self.host.display.is_wide else 120))
        buttons = self._answer() if is_ringing else self._going_on()
        return View(
            "FrameLayout",
            "incall_content",
            children=[
                View(height_px=dp(16 if self.host.display.is_wide else 56), is_silent=True),
                *head,
                View(weight=1, is_silent=True),
                disc,
                View(weight=1, is_silent=True),
                *buttons,
                View(height_px=dp(16 if self.host.display.is_wide else 48), is_silent=True),
            ],
            align=Align.CENTER,
            gap_px=dp(6),
        )

    def back(self) -> bool:
        """Do nothing while it rings; the call continues in any case."""
        return True

    @property
    def _number(self) -> str:
        return str(self.entry.arguments.get("number", ""))

    def _light(self, text: str, name: str, size_px: int) -> View:
        return self.widgets.text(
            text, name, size_px=size_px, ink=_WHITE, centered=True, lines=2
        ).sized(self.host.display.width_px - 2 * EDGE_PX)

    def _status(self) -> str:
        if "since" not in self.state:
            return "Calling\u2026"
        if self.state.get("held"):
            return "On hold"
        return length_text(int(self.host.now_s()) - int(self.state["since"]))

    def _round(self, icon: str, label: str, act: object, color: Color, name: str) -> View:
        return View(
            "ImageButton",
            name,
            label=label,
            width_px=dp(68),
            height_px=dp(68),
            look=Look(fill=color, ink=_WHITE, radius_px=dp(34), size_px=dp(30), icon=icon),
            on_tap=self.act(act),  # type: ignore[arg-type]
        )

    def _answer(self) -> list[View]:
        return [
            self.widgets.row(
                self._round("call_end", "Decline", self._decline, _RED, "incoming_decline_button"),
                self._round("call", "Answer", self._take, _GREEN, "incoming_answer_button"),
                gap_px=dp(96),
            )
        ]

    def _going_on(self) -> list[View]:
        toggles = self.widgets.row(
            self._toggle("mic_off", "Mute"), self._toggle("volume", "Speaker"), gap_px=dp(48)
        )
        end = self._round("call_end", "End call", self._end, _RED, "incall_end_call")
        return [toggles, self.widgets.space(dp(20)), end]

    def _toggle(self, icon: str, label: str) -> View:
        is_on = bool(self.state.get(label))
        view = self._round(icon, label, self.set(**{label: not is_on}), rgb("33476B"), "")
        if is_on:
            view.look.fill, view.look.ink = _WHITE, _NIGHT
        view.traits = Traits(checkable=True, checked=is_on)
        return view

    def _take(self) -> None:
        self.state["since"] = int(self.host.now_s())

    def _decline(self) -> None:
        self._log(REJECTED)
        self.finish()

    def _end(self) -> None:
        is_incoming = bool(self.entry.arguments.get("incoming"))
        self._log(INCOMING if is_incoming else OUTGOING)
        self.toast("Call ended")
        self.finish()

    def _log(self, kind: int) -> None:
        log_call(self.store, self._number, kind, self.host.now_s(), self.state.get("since"))
