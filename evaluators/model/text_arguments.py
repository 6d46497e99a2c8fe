"""Pass numbers as text to text arguments: a lone ``${count}`` there means ``${count:text}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from evaluators.model.placeholders import (
    ARGUMENTS,
    AS_TEXT,
    placeholders,
    sole_placeholder,
    substitute,
)
from evaluators.model.resources import INTEGER, NUMBER
from evaluators.model.roles import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.model.subtask import Subtask
    from evaluators.model.task import Task
    from evaluators.schema import Tool
    from foundation.yaml_source import Where

M = TypeVar("M", "Task", "Subtask")
Entry = dict[str, Any]
"""A setup step, a check, or a step of a solution, as in files."""


def with_texts(content: M, vocabulary: Vocabulary, values: Mapping[str, JsonValue]) -> M:
    """Return a task or subtask whose lone placeholders are text where only text is accepted.

    Args:
        content: the task or subtask.
        vocabulary: functions that it may name.
        values: an example of each placeholder's value; calls with other placeholders do not change.
    """
    dumped = content.model_dump(mode="json", by_alias=True)
    is_changed = False
    for call, key, tools in _calls(dumped, vocabulary):
        place = place_of(content.roles, call.get("on")) or ""
        tool = (tools or {}).get(place, {}).get(call[key])
        args = (
            call.get(ARGUMENTS, {}) if tool is None else _arguments(tool, call[ARGUMENTS], values)
        )
        is_changed = is_changed or args != call.get(ARGUMENTS, {})
        call[ARGUMENTS] = args
    return type(content).model_validate(dumped) if is_changed else content


def examples_of(subtask: Subtask) -> dict[str, JsonValue]:
    """Return an example value of each placeholder of a subtask: a number if its input is one, else text."""
    numbers = {name for name, entry in subtask.inputs.items() if entry.type in {INTEGER, NUMBER}}
    inputs: dict[str, JsonValue] = {name: 1 if name in numbers else "x" for name in subtask.inputs}
    repeated: dict[str, JsonValue] = {"item": "x", "number": 1}
    return repeated | inputs | {f"roles.{role}": role for role in subtask.roles}


def _calls(
    content: Mapping[str, Any], vocabulary: Vocabulary
) -> Iterator[tuple[Entry, str, Tools | None]]:
    """Iterate over every call, the key of its function's name, and the functions allowed there."""
    for key in ("graph", "checks"):
        for node in content.get(key, ()):
            for check in (node, *node.get("and", ()), *node.get("or", ())):
                yield check, "check", vocabulary.evaluators
    named = [oracle for key in ("oracles", "must_fail") for oracle in content.get(key, {}).values()]
    solutions = ((steps, vocabulary.actions) for steps in (content.get("oracle", ()), *named))
    for steps, tools in ((content.get("setup", ()), vocabulary.setups), *solutions):
        for step in steps:
            if "wait_for" in step:
                yield step["wait_for"], "check", vocabulary.evaluators
            else:
                yield step, "do", tools


def _arguments(tool: Tool, args: Entry, values: Mapping[str, JsonValue]) -> Entry:
    numbers = {
        where: name
        for where, name in _lone(args)
        if isinstance(values.get(name), int | float) and not isinstance(values[name], bool)
    }
    if not numbers or any(name not in values for name, _ in placeholders(args)):
        return args
    filled: Any = substitute(args, values)
    refused = tool.text_positions(filled)
    as_text: Entry = _copied(args)
    for where, name in numbers.items():
        if any(place[: len(where)] == where for place in refused):
            _put(filled, where, str(values[name]))
            if not any(place[: len(where)] == where for place in tool.text_positions(filled)):
                _put(as_text, where, f"${{{name}{AS_TEXT}}}")
    return as_text


def _lone(value: JsonValue, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Iterate over the position and name of each placeholder that is the whole of a text."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _lone(item, (*where, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _lone(item, (*where, key))
    elif (name := sole_placeholder(value)) is not None:
        yield where, name


def _put(content: Any, where: Where, value: str) -> None:  # noqa: ANN401 - JSON
    for part in where[:-1]:
        content = content[part]
    content[where[-1]] = value


def _copied(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value
