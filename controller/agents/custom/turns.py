"""Read what an agent returns as a turn, and say what is wrong with it where it is none."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue, ValidationError

from appliance.base.errors import AgentError
from controller.actions.space import Action
from controller.agents.protocol import Turn, Usage
from evaluators.model.base import Strict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Json

_EXPECTED = (
    "Return an action as {'on': ROLE, 'do': ACTION, 'with': {ARGUMENTS}} (without 'on' for the "
    "session), a list of actions, or {'actions': [...], 'note': TEXT, 'usage': {...}}."
)
_SHOWN_CHARS = 200


class ActionLine(Strict):
    """One action as data: ``{on: desktop, do: click, with: {x: 1, y: 2}}``."""

    on: str | None = None
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")

    @property
    def action(self) -> Action:
        """The action that it describes."""
        return Action(self.do, self.on, self.args)


class _UsageData(Strict):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


class _TurnData(Strict):
    """A turn as data."""

    actions: list[ActionLine]
    usage: _UsageData = _UsageData()
    note: str = ""
    fault: str = ""
    outage_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def as_turn(value: object) -> Turn:
    """Return the turn that an agent meant.

    Args:
        value: a `Turn`, an `Action`, a list of actions, or the same as dictionaries.

    Raises:
        AgentError: it is none of these.
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
        Usage(data.usage.prompt_tokens, data.usage.completion_tokens, data.usage.usd),
        data.note,
        data.fault,
        data.outage_s,
    )


def _wrong(value: object, why: str) -> AgentError:
    return AgentError(
        f"The agent returned what is no turn: {repr(value)[:_SHOWN_CHARS]}", why, _EXPECTED
    )


def _as_data(value: object) -> object:
    match value:
        case Turn():
            return {
                "actions": _as_lines(value.actions),
                "usage": {
                    name: getattr(value.usage, name, None) for name in _UsageData.model_fields
                },
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
        case _:
            raise TypeError(f"it is a {type(value).__name__}")


def _as_lines(actions: object) -> list[object]:
    if not isinstance(actions, (list, tuple)):
        raise TypeError(f"its actions are a {type(actions).__name__}")
    return [_as_line(action) for action in actions]


def _as_line(action: object) -> object:
    if isinstance(action, Action):
        return {"on": action.on, "do": action.do, "with": dict(action.args)}
    return action


def _plain(value: object) -> Json:
    """Return a value as JSON has it; numbers of numpy become Python's.

    Raises:
        TypeError: JSON has no such value.
        ValueError: a text is no valid Unicode, a number not finite.
    """
    text = json.dumps(value, default=_number, allow_nan=False, ensure_ascii=False)
    text.encode()
    plain: Json = json.loads(text)
    return plain


def _number(value: Any) -> float | int | Sequence[object]:  # noqa: ANN401 - anything
    """Return a scalar or an array of numpy as Python's."""
    plain = value.tolist() if hasattr(value, "tolist") else None
    if isinstance(plain, (int, float, list)) and not (
        isinstance(plain, float) and not math.isfinite(plain)
    ):
        return plain
    raise TypeError(f"a {type(value).__name__} is nothing that JSON has")
