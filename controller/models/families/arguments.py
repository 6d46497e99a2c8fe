"""Read the arguments of a model's calls: numbers, places, texts and keys of the right type.

What a model writes is never trusted: everything that is not what it should be is a `ParseError`.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from controller.models.families.gestures import FaultKind, ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.messages import ToolCall
    from controller.models.pictures.coordinates import Place

MAX_TEXT_CHARS = 10_000
MAX_CALLS = 100
MAX_PLACES = 200
_MAX_SECONDS = 300.0
_MAX_NOTCHES = 20
_SHOWN_CHARS = 80
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def fail(kind: FaultKind, what: str) -> NoReturn:
    """Raise the error for a reply that cannot be read.

    Raises:
        ParseError: always.
    """
    raise ParseError(kind, what)


def show(value: object) -> str:
    """Return a value as one short line."""
    try:
        text = ascii(value)
    except RecursionError:
        return "something too deep"
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def read_object(text: object) -> dict[str, Any]:
    """Parse a JSON object; one that is encoded twice is one, too.

    Raises:
        ParseError: it is none, or contains text that is not valid Unicode.
    """
    value = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value or "{}", parse_constant=_refuse)
        except (ValueError, RecursionError):
            fail(FaultKind.UNPARSABLE, f"The arguments are not JSON: {show(text)}.")
    if not isinstance(value, dict):
        fail(FaultKind.BAD_ARGUMENTS, f"The arguments are not a JSON object: {show(text)}.")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        fail(FaultKind.BAD_ARGUMENTS, "The arguments contain text that is not valid Unicode.")
    return value


def read_call(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        ParseError: the call is malformed.
    """
    if call.malformed:
        fail(FaultKind.UNPARSABLE, f"Your reply is malformed: {call.malformed}.")
    return read_object(call.arguments)


def number(value: object, name: str) -> float:
    """Return a finite number, which may be written as text.

    Raises:
        ParseError: it is none.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must be a number, not {show(value)}.")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must be a finite number.")
    return result


def place(value: object, name: str = "coordinate") -> Place:
    """Return a place that is written as a list of two numbers, or as the centre of a box of four.

    Raises:
        ParseError: it is neither.
    """
    if isinstance(value, dict):
        value = [value.get("x"), value.get("y")]
    if isinstance(value, str):
        value = [float(part) for part in _NUMBER.findall(value[:MAX_TEXT_CHARS])]
    match value:
        case [x, y]:
            return number(x, name), number(y, name)
        case [left, top, right, bottom]:
            sides = [number(side, name) for side in (left, top, right, bottom)]
            return (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
        case _:
            fail(FaultKind.BAD_ARGUMENTS, f"{name} must be [x, y], not {show(value)}.")


def text(value: object, name: str = "text") -> str:
    """Return a text of limited length.

    Raises:
        ParseError: it is none, or too long.
    """
    if not isinstance(value, str):
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must be text, not {show(value)}.")
    if not value.isascii() and value.encode(errors="ignore").decode() != value:
        fail(FaultKind.BAD_ARGUMENTS, f"{name} contains characters that are not valid Unicode.")
    if len(value) > MAX_TEXT_CHARS:
        fail(
            FaultKind.BAD_ARGUMENTS,
            f"{name} has {len(value)} characters; at most {MAX_TEXT_CHARS} are allowed.",
        )
    return value


def seconds(value: object, default_s: float, name: str = "duration") -> float:
    """Return a duration, limited to 300 s.

    Raises:
        ParseError: it is not a number, or negative.
    """
    duration_s = default_s if value is None else number(value, name)
    if duration_s < 0:
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must not be negative.")
    return min(duration_s, _MAX_SECONDS)


def count(value: object, default: int, most: int, name: str) -> int:
    """Return a whole number from 1 to a limit.

    Raises:
        ParseError: it is none.
    """
    result = default if value is None else number(value, name)
    if not 1 <= result <= most or result != int(result):
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must be a whole number from 1 to {most}.")
    return int(result)


def notches(amount: float) -> int:
    """Return turns of the wheel: not 0 unless the amount is, and at most 20."""
    if not amount:
        return 0
    turns = max(1, min(_MAX_NOTCHES, round(abs(amount))))
    return int(math.copysign(turns, amount))


def wheel(direction: object, amount: float) -> tuple[int, int]:
    """Return turns of the wheel to the right and down, for a direction in words.

    Raises:
        ParseError: there is no such direction.
    """
    turns = notches(amount)
    directions = {"right": (turns, 0), "left": (-turns, 0), "down": (0, turns), "up": (0, -turns)}
    if not isinstance(direction, str) or direction.lower() not in directions:
        fail(
            FaultKind.BAD_ARGUMENTS,
            f"The direction must be up, down, left or right, not {show(direction)}.",
        )
    return directions[direction.lower()]


def required(args: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - checked by the caller
    """Return the first of several arguments that is there.

    Raises:
        ParseError: none is.
    """
    for name in names:
        if args.get(name) is not None:
            return args[name]
    return fail(FaultKind.BAD_ARGUMENTS, f"The argument {names[0]} is missing.")


def _refuse(constant: str) -> float:
    raise ValueError(constant)
