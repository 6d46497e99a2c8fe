"""Convert an agent's return value to a turn, and explain why an invalid one is rejected."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, JsonValue, ValidationError

from controller.actions.space import Action
from controller.models.usage import MAX_TOKENS, Usage
from controller.protocol import Turn
from foundation.errors import AgentError, nearest
from foundation.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.protocols import Json

_EXPECTED = (
    "Return an action as {'on': ROLE, 'do': ACTION, 'with': {ARGUMENTS}} (without 'on' for the "
    "session), a list of actions, or {'actions': [...], 'note': TEXT, 'usage': {...}}."
)
_SHOWN_CHARS = 200
_MAX_NOTES = 100
_MAX_USD = 1e6
_OTHER_NAMES = {
    "do": ("action", "name", "tool", "function", "type", "command"),
    "with": ("args", "arguments", "params", "parameters", "kwargs", "input"),
    "on": ("role", "machine", "target", "device"),
}
"""Names of an action's keys in other systems, for suggestions."""


class ActionLine(Strict):
    """One action as data: ``{on: desktop, do: click, with: {x: 1, y: 2}}``."""

    on: str | None = None
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")
    understood: list[str] = Field(default_factory=list, max_length=_MAX_NOTES)

    @property
    def action(self) -> Action:
        """The action that it describes."""
        return Action(self.do, self.on, self.args, tuple(self.understood))


_Count = Annotated[int | None, Field(ge=0, le=MAX_TOKENS)]


class _UsageData(Strict):
    """Usage as data; counts that it leaves out are unknown."""

    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    cached_tokens: _Count = None
    reasoning_tokens: _Count = None
    usd: float = Field(default=0.0, ge=0, le=_MAX_USD, allow_inf_nan=False)
    is_known: bool = True

    @property
    def usage(self) -> Usage:
        """The usage that it describes."""
        return Usage(
            self.prompt_tokens,
            self.completion_tokens,
            self.usd,
            self.cached_tokens,
            self.reasoning_tokens,
            is_known=self.is_known,
        )


_NO_USAGE = _UsageData(prompt_tokens=0, completion_tokens=0, cached_tokens=0, reasoning_tokens=0)


class _TurnData(Strict):
    """A turn as data.

    Attributes:
        usage: usage of its model; None if the model did not report it. A turn without one asked none.
    """

    actions: list[ActionLine]
    usage: _UsageData | None = _NO_USAGE
    note: str = ""
    fault: str = ""
    outage_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def as_turn(value: object) -> Turn:
    """Convert an agent's return value to a turn.

    Args:
        value: a `Turn`, an `Action`, a list of actions, or their form as dictionaries.

    Raises:
        AgentError: the value is none of these.
    """
    try:
        data = _TurnData.model_validate(_plain(_as_data(value)))
    except ValidationError as exc:
        rows = exc.errors(include_url=False)
        lines = [f"{'.'.join(map(str, row['loc'])) or 'it'}: {row['msg']}" for row in rows]
        raise _wrong(value, "\n".join(lines)) from None
    except (TypeError, ValueError) as exc:
        raise _wrong(value, str(exc)) from None
    return Turn(
        tuple(line.action for line in data.actions),
        Usage() if data.usage is None else data.usage.usage,
        data.note,
        data.fault,
        data.outage_s,
    )


def _wrong(value: object, why: str) -> AgentError:
    return AgentError(
        f"The agent returned an invalid turn: {repr(value)[:_SHOWN_CHARS]}", why, _EXPECTED
    )


def _as_data(value: object) -> object:
    match value:
        case Turn():
            return {
                "actions": _as_lines(value.actions),
                "usage": _usage_data(value.usage),
                "note": value.note,
                "fault": value.fault,
                "outage_s": value.outage_s,
            }
        case {"actions": list() | tuple() as actions, **rest}:
            return {"actions": _as_lines(actions), **rest}
        case list() | tuple():
            return {"actions": _as_lines(value)}
        case Action() | {"do": _}:
            return {"actions": _as_lines([value])}
        case dict():
            raise TypeError(_why_no_turn(value))
        case _:
            raise TypeError(f"it is {_kind(value)}")


def _usage_data(usage: object) -> object:
    """Return a usage as data; what is no usage, for the error message."""
    if not isinstance(usage, Usage):
        return usage if usage is None else _kind(usage)
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "usd": usage.usd,
        "is_known": usage.is_known,
    }


def _as_lines(actions: object) -> list[object]:
    if not isinstance(actions, (list, tuple)):
        raise TypeError(f"its actions are {_kind(actions)}, not a list")
    return [_as_line(action) for action in actions]


def _as_line(action: object) -> object:
    if isinstance(action, Action):
        line = {"on": action.on, "do": action.do, "with": dict(action.args)}
        return {**line, "understood": list(action.notes)} if action.notes else line
    return action


def _why_no_turn(data: dict[Any, Any]) -> str:
    """Explain what is wrong with a dictionary that is neither an action nor a turn."""
    known = [*_OTHER_NAMES, *_TurnData.model_fields]
    unknown = [key for key in map(str, data) if key not in known]
    return "\n".join(
        [
            "It has neither the key 'do' of an action nor the key 'actions' of a turn.",
            *(f"The key {key!r} is unknown. {_advice(key, known)}" for key in unknown),
        ]
    )


def _advice(key: str, known: list[str]) -> str:
    near = [name for name, others in _OTHER_NAMES.items() if key.lower() in others]
    if near := near or nearest(key, known):
        return f"Did you mean {' or '.join(map(repr, near))}?"
    return "Put the arguments of an action into 'with'."


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _plain(value: object) -> Json:
    """Convert a value to plain JSON types; numbers of numpy become Python's.

    Raises:
        ValueError: JSON cannot represent a value, text is invalid Unicode, or a number is not
            finite; the message contains the path of the value.
    """
    try:
        return _as_json(value)
    except (TypeError, ValueError) as exc:
        try:
            path, why = next(_faults(value), ("it", str(exc)))
        except RecursionError:  # it contains itself
            path, why = "it", str(exc)
        raise ValueError(f"{path}: {why}") from exc


def _faults(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of each value that JSON cannot represent, and what is wrong with it."""
    match value:
        case dict():
            parts = [(str(key), part) for key, part in value.items()]
        case list() | tuple():
            parts = [(str(index), part) for index, part in enumerate(value)]
        case _:
            try:
                _as_json(value)
            except (TypeError, ValueError) as exc:
                is_number = isinstance(value, float)
                yield path, f"{value} is not a valid JSON number" if is_number else str(exc)
            return
    for key, part in parts:
        yield from _faults(part, f"{path}.{key}" if path else key)


def _as_json(value: object) -> Json:
    text = json.dumps(value, default=_number, allow_nan=False, ensure_ascii=False)
    text.encode()
    plain: Json = json.loads(text)
    return plain


def _number(value: Any) -> float | int | Sequence[object]:  # noqa: ANN401 - anything
    """Convert a scalar or an array of numpy to Python's types."""
    plain = value.tolist() if hasattr(value, "tolist") else None
    if isinstance(plain, (int, float, list)) and not (
        isinstance(plain, float) and not math.isfinite(plain)
    ):
        return plain
    raise TypeError(f"{_kind(value)} is not a JSON value")
