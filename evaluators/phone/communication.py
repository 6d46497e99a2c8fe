"""Evaluators of a phone's text messages and calls."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Literal

from evaluators.decorators import evaluator
from evaluators.phone.numbers import is_same_number

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def message_sent(phone: PhoneView, number: str, text: str) -> bool:
    """Return whether a text message was sent, so that it is in the sent box and not in drafts or the outbox.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        number: number of the receiver; spaces, hyphens, dots and brackets are ignored, and a
            leading ``00`` equals ``+``; names with letters do not match.
        text: the complete message; surrounding white space is ignored.

    Example:
        ``{on: phone, check: message_sent, with: {number: "555 0199", text: On my way}}``
    """
    return _has_message(phone, "sent", number, text)


@evaluator(on="phone")
def message_received(
    phone: PhoneView, number: str, text: str, *, state: Literal["any", "read", "unread"] = "any"
) -> bool:
    """Return whether a text message is in the inbox.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        number: number of the sender; compared as in ``message_sent``.
        text: the complete message; surrounding white space is ignored.
        state: whether the user has read it.

    Example:
        ``{on: phone, check: message_received,
        with: {number: "555 0199", text: "Where are you?", state: read}}``
    """
    return _has_message(phone, "inbox", number, text, state)


@evaluator(on="phone")
def message_drafted(phone: PhoneView, number: str, text: str) -> bool:
    """Return whether a text message is stored as a draft and was not sent.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        number: number of the receiver; compared as in ``message_sent``.
        text: the complete message; surrounding white space is ignored.

    Example:
        ``{on: phone, check: message_drafted, with: {number: "555 0199", text: On my way}}``
    """
    is_out = any(
        _has_message(phone, box, number, text) for box in ("sent", "outbox", "queued", "failed")
    )
    return not is_out and _has_message(phone, "draft", number, text)


@evaluator(on="phone")
def call_logged(
    phone: PhoneView,
    number: str,
    kind: Literal["incoming", "outgoing", "missed", "rejected", "voicemail", "blocked"],
    least_s: int = 0,
) -> bool:
    """Return whether the call log contains a call with the given number.

    An outgoing call counts even if it was not answered; to exclude it, require a duration. Proves
    the state, not who
    caused it.

    Args:
        phone: the phone.
        number: number of the other party; compared as in ``message_sent``.
        kind: kind of the call.
        least_s: minimum duration, in seconds.

    Example:
        ``{on: phone, check: call_logged, with: {number: "555 0199", kind: outgoing}}``
    """
    return any(
        call.kind == kind and call.duration_s >= least_s and is_same_number(call.number, number)
        for call in phone.calls()
    )


@evaluator(on="phone")
def call_state_is(phone: PhoneView, state: Literal["ringing", "offhook"]) -> bool:
    """Return whether a call is currently ringing or active.

    Args:
        phone: the phone.
        state: ``ringing`` for an incoming call, ``offhook`` for an active or outgoing one.

    Example:
        ``{on: phone, check: call_state_is, with: {state: offhook}}``
    """
    return phone.call_state() == state


def _has_message(phone: PhoneView, box: str, number: str, text: str, state: str = "any") -> bool:
    return any(
        message.box == box
        and _plain(message.body) == _plain(text) != ""
        and is_same_number(message.address, number)
        and (state == "any" or message.is_read is (state == "read"))
        for message in phone.messages()
    )


def _plain(text: str) -> str:
    """Return a text in Unicode NFC, without surrounding white space."""
    return unicodedata.normalize("NFC", text).strip()
