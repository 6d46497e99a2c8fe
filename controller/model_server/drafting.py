"""Choose the rule for a request, and fill its reply with what the request contains."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from controller.model_server.script import UsageCounts
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.model_server.script import Point, Rule, ScriptedMember, ScriptedReply, When
    from controller.model_server.seen import Seen

_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_CHARS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 100
_COLOUR_DISTANCE = 40


@dataclass(frozen=True, slots=True)
class DraftCall:
    """A call as it is sent.

    Attributes:
        name: the tool.
        args: arguments; text is sent as it is.
    """

    name: str
    args: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply before it is written in the format of an API.

    Attributes:
        text: its text; that of a refusal, if it is one.
        reasoning: its reasoning.
        calls: its calls.
        stop: end, length, filtered or refused.
        usage: counts, or ``missing`` or ``wrong``.
        number: number of the request, for ids.
    """

    text: str
    reasoning: str
    calls: tuple[DraftCall, ...]
    stop: str
    usage: UsageCounts | str
    number: int


class ForbiddenError(MesocosmError):
    """A member was sent what it must not see, or not what it must see."""

    code = "scripted_forbidden"


def check(member: ScriptedMember, seen: Seen) -> None:
    """Verify what a member was sent.

    Raises:
        ForbiddenError: it must not see that, or misses something.
    """
    for pattern in member.must_not_see:
        if found := _search(pattern, seen.everything):
            raise ForbiddenError(f"{seen.model} must not see {pattern!r}: {found[0][:80]!r}")
    for pattern in member.must_see:
        if not _search(pattern, seen.everything):
            raise ForbiddenError(f"{seen.model} was not sent {pattern!r}")
    if seen.images and not member.images:
        raise ForbiddenError(f"{seen.model} must not see pictures: it was sent {len(seen.images)}")


def matches(when: When, seen: Seen) -> bool:
    """Return whether all conditions of a rule hold."""
    return all(
        (
            when.turn in {None, seen.turn},
            when.images in {None, len(seen.images)},
            when.tool is None or when.tool in seen.tools,
            when.text is None or _search(when.text, seen.recent),
            when.system is None or _search(when.system, seen.system),
            when.anywhere is None or _search(when.anywhere, seen.everything),
        )
    )


def draft(rule: Rule, seen: Seen, number: int) -> Draft:
    """Return the reply of a rule to a request.

    Args:
        rule: the rule.
        seen: the request.
        number: number of the request.

    Raises:
        ForbiddenError: the picture has nothing of the colour that the reply points at.
    """
    reply, values = rule.reply, _values(rule, seen)
    calls = tuple(DraftCall(call.name, _filled(call.args, values)) for call in reply.calls)
    text = str(_filled(reply.refusal or reply.text, values))
    stop = "refused" if reply.refusal else reply.stop
    made = Draft(text, reply.reasoning, () if reply.refusal else calls, stop, "", number)
    return Draft(text, made.reasoning, made.calls, stop, _usage(reply, seen, made), number)


def _search(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.DOTALL)


def _values(rule: Rule, seen: Seen) -> dict[str, object]:
    values: dict[str, object] = {"turn": seen.turn, "model": seen.model}
    if rule.when.text is not None and (found := _search(rule.when.text, seen.recent)):
        values |= {str(index): group or "" for index, group in enumerate(found.groups(), 1)}
    if rule.reply.point is not None:
        values["x"], values["y"] = locate(rule.reply.point, seen)
    return values


def locate(point: Point, seen: Seen) -> tuple[float, float]:
    """Return the centre of a colour in the last picture, in the units of a point.

    Raises:
        ForbiddenError: there is no picture, or it has nothing of this colour.
    """
    if not seen.images:
        raise ForbiddenError(f"{seen.model} was not sent a picture")
    with Image.open(io.BytesIO(seen.images[-1])) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    distance = np.abs(pixels - np.asarray(point.colour)).sum(axis=2)
    rows, columns = np.nonzero(distance <= _COLOUR_DISTANCE)
    if not len(rows):
        raise ForbiddenError(f"the picture has nothing of the colour {point.colour}")
    height, width = pixels.shape[:2]
    x, y = (float(part.min() + part.max() + 1) / 2 + point.shift_px for part in (columns, rows))
    match point.unit:
        case "grid":
            return round(x / width * point.steps), round(y / height * point.steps)
        case "ratio":
            return round(x / width, 4), round(y / height, 4)
        case _:
            return int(x), int(y)


def _filled(value: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with its placeholders replaced; a text that is only one becomes its value."""
    match value:
        case str():
            if (whole := _PLACEHOLDER.fullmatch(value)) and whole[1] in values:
                return values[whole[1]]
            return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), value)
        case dict():
            return {name: _filled(part, values) for name, part in value.items()}
        case list():
            return [_filled(part, values) for part in value]
        case _:
            return value


def _usage(reply: ScriptedReply, seen: Seen, made: Draft) -> UsageCounts | str:
    if reply.usage != "derived":
        return reply.usage
    calls = json.dumps([[call.name, call.args] for call in made.calls])
    sent = len(seen.everything) // _CHARS_PER_TOKEN + len(seen.images) * _TOKENS_PER_IMAGE
    return UsageCounts(
        input=sent + 1,
        output=(len(made.text) + len(calls)) // _CHARS_PER_TOKEN + 1,
        cached=0,
        reasoning=0,
    )
