"""Incoming messages and calls, and the state of the current call."""

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
    from contextlib import AbstractContextManager
    from typing import Protocol

    from images.phone.device.apps.screen import Host

    class EventHost(Host, Protocol):
        """A phone whose state can be changed from outside its applications."""

        def event(self) -> AbstractContextManager[None]:
            """Change the state atomically and save it at the end."""
            ...


IDLE, RINGING, OFFHOOK = "idle", "ringing", "offhook"
"""States of the call, as ``TelephonyManager.EXTRA_STATE_*`` names them."""


class Telephony:
    """Delivery of messages and calls; there is at most one call, whose screen holds its state.

    Args:
        phone: the phone that receives them.
    """

    def __init__(self, phone: EventHost) -> None:
        self._phone = phone

    def receive_sms(self, address: str, body: str) -> int:
        """Receive a text message and return its ID."""
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
        """Receive a call: the phone rings."""
        with self._phone.event():
            self._drop()
            arguments = {"number": number, "incoming": True}
            self._phone.stack.push(DIALER, Entry(CALL_ACTIVITY, arguments))

    @property
    def number(self) -> str:
        """The number of the other party; empty if there is no call."""
        entry = self._call()
        return str(entry.arguments.get("number", "")) if entry is not None else ""

    @property
    def state(self) -> str:
        """The state of the call."""
        entry = self._call()
        if entry is None:
            return IDLE
        is_waiting = entry.arguments.get("incoming") and "since" not in entry.state
        return RINGING if is_waiting else OFFHOOK

    @property
    def is_held(self) -> bool:
        """Return whether the call is on hold."""
        entry = self._call()
        return entry is not None and bool(entry.state.get("held"))

    def answer(self) -> None:
        """Accept an incoming call, or make the other party accept an outgoing one."""
        with self._phone.event():
            entry = self._call()
            if entry is not None:
                entry.state.setdefault("since", int(self._phone.now_s()))
                entry.state.pop("held", None)

    def hold(self) -> None:
        """Put the call on hold."""
        with self._phone.event():
            entry = self._call()
            if entry is not None:
                entry.state["held"] = True

    def end(self) -> None:
        """End the call from the other side; a call that was not accepted becomes a missed call."""
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
        """Return the screen of the call, if any."""
        task = self._phone.stack.find(DIALER)
        entries = task.entries if task is not None else []
        return next((entry for entry in entries if entry.activity == CALL_ACTIVITY), None)

    def _drop(self) -> Entry | None:
        """Close the screen of the call, if any."""
        stack, entry = self._phone.stack, self._call()
        task = stack.find(DIALER)
        if task is not None and entry is not None:
            task.entries.remove(entry)
            if not task.entries:
                stack.remove(DIALER)
        return entry
