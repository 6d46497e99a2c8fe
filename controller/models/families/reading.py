"""Parse a reply as a sequence of calls, up to the first that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from controller.models.families.arguments import MAX_CALLS, read_call
from controller.models.families.gestures import Do, Fault, FaultKind, Gesture, Parsed, ParseError
from controller.models.messages import Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.models.messages import Reply, ToolCall

NO_CALL = "Your reply contains no action. Reply in the given format with the next action."
CUT_OFF = "Your reply was cut off, because it was longer than allowed. Be brief."
MALFORMED = "Your reply is malformed: {what}."
TOO_MANY = "Your reply has more than {most} actions."
TEXTS = (NO_CALL, CUT_OFF, MALFORMED, TOO_MANY)
"""Texts about replies that models receive, for the digest of prompts."""

MAX_REPLY_CHARS = 200_000
"""What follows in a reply is not parsed."""

_OWN = "__"
_Item = TypeVar("_Item")


def own_call(call: ToolCall) -> Gesture | None:
    """Return a call of one of our own tools, which are named ``role__action``; None for others.

    Raises:
        ParseError: it is malformed.
    """
    return Gesture(Do.CALL, text=call.name, args=read_call(call)) if _OWN in call.name else None


def read_all(
    reply: Reply,
    items: Iterable[_Item],
    read: Callable[[_Item], Iterable[Gesture]],
    *,
    thought: str = "",
    are_calls: bool = False,
    may_end: bool = False,
) -> Parsed:
    """Return the gestures of all items up to the first that cannot be read.

    Args:
        reply: the reply.
        items: what it contains, such as its calls.
        read: returns the gestures of an item; may raise `ParseError`.
        thought: the model's own words.
        are_calls: whether the items are the calls of the message, each of which is answered.
        may_end: whether text without an item declares the task done.
    """
    gestures: list[Gesture] = []
    sources: list[int] = []
    fault: Fault | None = None
    count = 0
    if reply.message.malformed:
        fault = Fault(FaultKind.UNPARSABLE, MALFORMED.format(what=reply.message.malformed))
    for count, item in enumerate(items, 1):
        if fault is not None:
            break
        try:
            made = list(read(item))
            if len(gestures) + len(made) > MAX_CALLS:
                raise ParseError(FaultKind.BAD_ARGUMENTS, TOO_MANY.format(most=MAX_CALLS))  # noqa: TRY301
        except ParseError as exc:
            fault = Fault(exc.kind, exc.brief)
        else:
            gestures += made
            sources += [count - 1] * len(made)
    is_cut = reply.stop is Stop.LENGTH
    if fault is None and not gestures:
        if may_end and thought and not count and not is_cut:
            gestures, sources = [Gesture(Do.DONE, text=thought)], [-1]
        else:
            fault = _nothing(is_cut=is_cut)
    elif fault is not None and is_cut:
        fault = Fault(FaultKind.CUT_OFF, f"{fault.text} {CUT_OFF}")
    calls = tuple(sources) if are_calls else ()
    return Parsed(tuple(gestures), fault, thought, calls)


def _nothing(*, is_cut: bool) -> Fault:
    return Fault(FaultKind.CUT_OFF, CUT_OFF) if is_cut else Fault(FaultKind.NO_CALL, NO_CALL)
