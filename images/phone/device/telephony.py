"""Messages and calls that come from outside, and where the call stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.directory import DIALER, MESSAGES
from images.phone.device.apps.links import CALL_ACTIVITY, CONVERSATION
from images.phone.device.apps.stack import Entry
from images.phone.device.store.messages import (
    INCOMING,
    MISSED,
    OUTGOING,
    RECEIVED,
    add_message,
    log_call,
    name_of,
)

if TYPE_CHECKING:
    from images.phone.device.phone import Phone

IDLE, RINGING, OFFHOOK = "idle", "ringing", "offhook"
"""States of the call, as ``TelephonyManager.EXTRA_STATE_*`` names them."""


class Telephony:
    """The line. There is one call at most: the screen that shows it.

    Args:
        phone: that it belongs to.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def receive_sms(self, address: str, body: str) -> int:
        """Take in a text message; gives its id."""
        phone = self._phone
        with phone.event():
            moment_ms = int(phone.now_s() * 1000)
            number = add_message(phone.store, address, body, RECEIVED, moment_ms)
            phone.notify(
                MESSAGES,
                name_of(phone.store, address),
                body,
                tag=address,
                activity=CONVERSATION,
                arguments={"address": address},
            )
            return number

    def receive_call(self, number: str) -> None:
        """Let the phone ring."""
        with self._phone.event():
            self._drop()
            arguments = {"number": number, "incoming": True}
            self._phone.stack.push(DIALER, Entry(CALL_ACTIVITY, arguments))

    @property
    def number(self) -> str:
        """The number at the other end of the call; empty when there is none."""
        entry = self._call()
        return str(entry.arguments.get("number", "")) if entry is not None else ""

    @property
    def state(self) -> str:
        """Where the call stands."""
        entry = self._call()
        if entry is None:
            return IDLE
        is_waiting = entry.arguments.get("incoming") and "since" not in entry.state
        return RINGING if is_waiting else OFFHOOK

    @property
    def is_held(self) -> bool:
        """Tell whether the call waits."""
        entry = self._call()
        return entry is not None and bool(entry.state.get("held"))

    def answer(self) -> None:
        """Take the call that comes in, or let the other side take the one that goes out."""
        with self._phone.event():
            entry = self._call()
            if entry is not None:
                entry.state.setdefault("since", int(self._phone.now_s()))
                entry.state.pop("held", None)

    def hold(self) -> None:
        """Let the call wait."""
        with self._phone.event():
            entry = self._call()
            if entry is not None:
                entry.state["held"] = True

    def end(self) -> None:
        """End the call, from the other side; one that was not taken is missed."""
        phone = self._phone
        with phone.event():
            state, entry = self.state, self._drop()
            if entry is None:
                return
            number, is_incoming = str(entry.arguments["number"]), entry.arguments.get("incoming")
            kind = MISSED if state == RINGING else INCOMING if is_incoming else OUTGOING
            log_call(phone.store, number, kind, phone.now_s(), entry.state.get("since"))
            if kind == MISSED:
                phone.notify(DIALER, "Missed call", name_of(phone.store, number), tag=number)

    def _call(self) -> Entry | None:
        """Give the screen of the call that goes on, or rings."""
        task = self._phone.stack.find(DIALER)
        entries = task.entries if task is not None else []
        return next((each for each in entries if each.activity == CALL_ACTIVITY), None)

    def _drop(self) -> Entry | None:
        """Close the screen of the call, if any."""
        stack, found = self._phone.stack, self._call()
        task = stack.find(DIALER)
        if task is not None and found is not None:
            task.entries.remove(found)
            if not task.entries:
                stack.remove(DIALER)
        return found
