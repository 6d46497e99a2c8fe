"""Text messages and calls of a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evaluators.comparing import is_same
from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def message_sent(phone: PhoneView, number: str, text: str) -> bool:
    """Tell whether a text message went out: it is in the sent box, not a draft or on its way.

    Args:
        phone: the phone.
        number: of the receiver; blanks, hyphens and brackets do not count, a leading ``+`` does.
        text: the whole message; white space around it does not count.

    Example:
        ``{on: phone, check: message_sent, with: {number: "555 0199", text: On my way}}``
    """
    return _has_message(phone, "sent", number, text)


@evaluator(on="phone")
def message_received(
    phone: PhoneView, number: str, text: str, *, state: Literal["any", "read", "unread"] = "any"
) -> bool:
    """Tell whether a text message is in the inbox.

    Args:
        phone: the phone.
        number: of the sender; compared as by ``message_sent``.
        text: the whole message; white space around it does not count.
        state: whether the user must have seen it.

    Example:
        ``{on: phone, check: message_received,
        with: {number: "555 0199", text: "Where are you?", state: read}}``
    """
    return _has_message(phone, "inbox", number, text, state)


@evaluator(on="phone")
def message_drafted(phone: PhoneView, number: str, text: str) -> bool:
    """Tell whether a text message was written and kept as a draft, and not sent.

    Args:
        phone: the phone.
        number: of the receiver; compared as by ``message_sent``.
        text: the whole message; white space around it does not count.

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
    """Tell whether the call log has a call with a number.

    Args:
        phone: the phone.
        number: of the other party; compared as by ``message_sent``.
        kind: which sort of call.
        least_s: how long it lasted at least, in seconds.

    Example:
        ``{on: phone, check: call_logged, with: {number: "555 0199", kind: outgoing}}``
    """
    return any(
        each.kind == kind and each.duration_s >= least_s and is_same(each.number, number, "digits")
        for each in phone.calls()
    )


@evaluator(on="phone")
def call_state_is(phone: PhoneView, state: Literal["ringing", "offhook"]) -> bool:
    """Tell whether a call rings or goes on right now.

    Args:
        phone: the phone.
        state: ``ringing`` for one that comes in, ``offhook`` for one that goes on or out.

    Example:
        ``{on: phone, check: call_state_is, with: {state: offhook}}``
    """
    return phone.call_state() == state


def _has_message(phone: PhoneView, box: str, number: str, text: str, state: str = "any") -> bool:
    return any(
        each.box == box
        and each.body.strip() == text.strip() != ""
        and is_same(each.address, number, "digits")
        and (state == "any" or each.is_read is (state == "read"))
        for each in phone.messages()
    )
