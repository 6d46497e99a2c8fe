"""Parse a model's tool calls as actions, and keep them in a form that every server accepts."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from controller.actions.arguments import ENCODED_TWICE
from controller.actions.executor import require_on_screen
from controller.models.messages import Stop
from evaluators.coordinates import convert, coordinates_in
from foundation.errors import InvalidActionError, MesocosmError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.actions.space import Action, ActionSpace
    from controller.models.messages import Message, Reply, ToolCall
    from controller.observation.pictures import Picture

_NO_TOOL = "You called no tool. Call exactly one of the tools."
_CUT_OFF = "Your reply was cut off, because it was longer than allowed. Be brief."
_NOT_JSON = "The arguments of {name} are not JSON: {why}."
_NO_OBJECT = "The arguments of {name} are not a JSON object."
_NO_TEXT = "The arguments of {name} contain characters that are not valid Unicode."
_TOO_DEEP = "The arguments of {name} are nested more than {depth} deep."
_MALFORMED = "Your reply is malformed: {what}."
TEXTS = (_NO_TOOL, _CUT_OFF, _NOT_JSON, _NO_OBJECT, _NO_TEXT, _TOO_DEEP, _MALFORMED)
"""All texts that a model may receive about its calls, for the digest of prompts."""

_MAX_NAME_CHARS = 64
_MAX_DEPTH = 32
"""No action has arguments of more than three levels; what validates and stores them is recursive."""


class _CallError(MesocosmError):
    """A call cannot be parsed; its text is sent to the model."""

    code = "model_call"


@dataclass(frozen=True, slots=True)
class Calls:
    """A model's parsed calls.

    Attributes:
        actions: actions of the calls before the first invalid one.
        fault: what is wrong with the invalid call, or that none was made; empty if all are valid.
        ids: id of every call; generated if the server sent none or a duplicate.
        arguments: arguments of every call as JSON text, always an object.
    """

    actions: tuple[Action, ...]
    fault: str
    ids: tuple[str, ...]
    arguments: tuple[str, ...]


class CallReader:
    """Parses the calls of one trial.

    Args:
        space: the trial's actions.
    """

    def __init__(self, space: ActionSpace) -> None:
        self._space = space
        self._ids: set[str] = set()

    def read(self, reply: Reply, screens: Mapping[str, Picture]) -> Calls:
        """Parse the calls of one reply.

        Args:
            reply: the model's reply.
            screens: screenshots that the model received, by role.
        """
        calls = reply.message.calls
        is_cut = reply.stop is Stop.LENGTH
        actions: list[Action] = []
        fault = "" if calls else _CUT_OFF if is_cut else _NO_TOOL
        if reply.message.malformed:
            fault = _MALFORMED.format(what=reply.message.malformed)
        for call in calls:
            try:
                if not fault:
                    actions.append(self._action(call, screens))
            except (_CallError, InvalidActionError) as exc:
                fault = f"{exc} {_CUT_OFF}" if is_cut else str(exc)
        ids = tuple(self._unique(call.id) for call in calls)
        return Calls(tuple(actions), fault, ids, tuple(map(_sendable_arguments, calls)))

    def _action(self, call: ToolCall, screens: Mapping[str, Picture]) -> Action:
        """Return the action of a call, with coordinates of the machine's screen.

        Coordinates in a scaled screenshot are checked before they are converted, so that an error
        names those that the model chose and the size that it was shown.

        Raises:
            _CallError: the call cannot be parsed.
            InvalidActionError: its arguments are invalid, or not in the scaled screenshot.
        """
        if call.malformed:
            raise _CallError(_MALFORMED.format(what=call.malformed))
        action = self._space.action_of_tool(call.name, _read_arguments(call))
        if _is_encoded_twice(call):
            action = replace(action, notes=(*action.notes, ENCODED_TWICE))
        screen = screens.get(action.on or "")
        tool = self._space.get(action)
        if tool is None or screen is None or not screen.is_mapped:
            return action
        if action.args.keys().isdisjoint(self._space.mark_arguments(tool)):
            tool.check(action.args, error=InvalidActionError)
        require_on_screen(coordinates_in(tool, action.args), screen.size_px)
        return replace(action, args=convert(tool, action.args, screen.to_machine))

    def _unique(self, call_id: str) -> str:
        name = call_id
        if not name or name in self._ids:
            name = f"call_{len(self._ids)}"
        self._ids.add(name)
        return name


def remembered(message: Message, calls: Calls) -> Message:
    """Return a reply as a message of the next request.

    Arguments that are not JSON objects and invalid tool names are replaced, because strict servers
    reject them.
    """
    rows = zip(message.calls, calls.ids, calls.arguments, strict=True)
    sendable = tuple(
        replace(call, id=call_id, name=_sendable_name(call.name), arguments=arguments, malformed="")
        for call, call_id, arguments in rows
    )
    return replace(message, calls=sendable, malformed="")


def _read_arguments(call: ToolCall) -> dict[str, Any]:
    """Parse the arguments of a call.

    Raises:
        _CallError: they are not a JSON object, or not valid text.
    """
    name = call.name
    try:
        args = json.loads(call.arguments or "{}", parse_constant=_refuse, parse_float=_finite)
        json.dumps(args, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _CallError(_NO_TEXT.format(name=name)) from None
    except (ValueError, RecursionError) as exc:
        raise _CallError(_NOT_JSON.format(name=name, why=exc)) from None
    if isinstance(args, str) and args.strip().startswith("{"):  # encoded twice
        return _read_arguments(_with_arguments(call, args))
    if not isinstance(args, dict):
        raise _CallError(_NO_OBJECT.format(name=name))
    if _is_deep(args):
        raise _CallError(_TOO_DEEP.format(name=name, depth=_MAX_DEPTH))
    return args


def _is_deep(value: object) -> bool:
    """Return whether a JSON value is nested deeper than allowed."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [part for row in level for part in _parts(row)]
    return bool(level)


def _parts(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _is_encoded_twice(call: ToolCall) -> bool:
    return call.arguments.lstrip().startswith('"')


def _with_arguments(call: ToolCall, arguments: str) -> ToolCall:
    return replace(call, arguments=arguments)


def _refuse(text: str) -> float:
    """Reject what Python parses as a number although JSON does not allow it."""
    raise ValueError(f"{text} is not a valid JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _sendable_arguments(call: ToolCall) -> str:
    try:
        return json.dumps(_read_arguments(call))
    except _CallError:
        return "{}"


def _sendable_name(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:_MAX_NAME_CHARS] or "_"
