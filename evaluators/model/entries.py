"""Check the entries of files that have errors elsewhere, so that no error hides another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from evaluators.model.node import Node
from evaluators.model.oracle import OracleStep, SetupEntry
from evaluators.model.roles import Role
from evaluators.model.spelling import NameChecker, placeholders_of_subtask
from evaluators.model.task import Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pydantic_core import ErrorDetails

    from evaluators.catalogue import Vocabulary
    from foundation.errors import SpecError
    from foundation.yaml_source import Source, Where

_TAGS = {"acts", "waits"}
"""Pydantic's names for the kinds of steps in error locations."""
_GRAPHS = ("graph", "checks")
"""Keys of the nodes of tasks and of subtasks."""


def check_entries(
    source: Source, vocabulary: Vocabulary, applications: Collection[str]
) -> list[SpecError]:
    """Check the entries of a task's or subtask's file that has errors elsewhere.

    Args:
        source: keys and values.
        vocabulary: what it may name.
        applications: what may be named as ``app``.

    Returns:
        The errors in setup, nodes, solutions, and the placeholders of subtasks.
    """
    data = source.data
    roles = _valid(dict[str, Role], data.get("roles", {}))
    if roles is None:
        return []
    is_definition = "checks" in data
    has_placeholders = is_definition or bool(data.get("parameters"))
    checker = NameChecker(source, roles, vocabulary, has_placeholders=has_placeholders)
    _spell(checker, data, applications)
    if not is_definition:
        return checker.errors
    inputs = data.get("inputs", {})
    if isinstance(data.get("app"), str):
        checker.known(("app",), "application", data["app"], applications)
    known = inputs if isinstance(inputs, dict) else {}
    return [*checker.errors, *placeholders_of_subtask(source, known, roles)[0]]


def _spell(checker: NameChecker, data: Mapping[str, object], applications: Collection[str]) -> None:
    """Check the entries that are valid, or become valid without their invalid values."""
    for number, row in enumerate(_rows(data.get("setup"))):
        if step := _repaired(SetupEntry, row):
            checker.setup_step(number, step)
    for key in _GRAPHS:
        rows = _rows(data.get(key))
        nodes = [_repaired(Node, row) for row in rows]
        for number, node in enumerate(nodes):
            if node:
                checker.node((key, number), node, _ids(data, node.after), applications)
        checker.require_unique(key, [_id(row) for row in rows])
    limits = _valid(Limits, data.get("limits", {}))
    for where, rows in _solutions(data):
        for number, row in enumerate(rows):
            if step := _repaired(OracleStep, row):
                checker.step((*where, number), step)
        if limits and "checks" not in data:
            checker.length(
                where, sum("do" in row for row in rows if isinstance(row, dict)), limits.steps
            )


def _ids(data: Mapping[str, object], after: Collection[str]) -> list[str]:
    """Return what ``after`` may name: nodes, uses of subtasks, and nodes of these uses."""
    keys = (*_GRAPHS, "subtasks")
    entries = [row for key in keys for row in _rows(data.get(key)) if isinstance(row, dict)]
    uses = [str(row.get("id")) for row in _rows(data.get("subtasks")) if isinstance(row, dict)]
    is_ambiguous = len(set(uses)) < len(uses)
    within = [
        name for name in after if is_ambiguous or any(name.startswith(f"{use}-") for use in uses)
    ]
    return [*(str(row["id"]) for row in entries if "id" in row), *within]


def _id(row: object) -> str | None:
    """Return the id of an entry; None if it has no id or the id is not text."""
    name = row.get("id") if isinstance(row, dict) else None
    return name if isinstance(name, str) else None


def _rows(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _solutions(data: Mapping[str, object]) -> Iterator[tuple[Where, list[object]]]:
    """Iterate over the position and steps of each solution of a file."""
    yield ("oracle",), _rows(data.get("oracle"))
    for key in ("oracles", "must_fail"):
        named = data.get(key)
        for name, rows in named.items() if isinstance(named, dict) else ():
            yield (key, str(name)), _rows(rows)


def _valid(kind: Any, value: object) -> Any:  # noqa: ANN401 - what the kind is
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return None


def _repaired(kind: Any, row: object) -> Any:  # noqa: ANN401 - what the kind is
    """Return an entry without its invalid values; None if one of them is required."""
    try:
        return TypeAdapter(kind).validate_python(row)
    except ValidationError as exc:
        if not isinstance(row, dict):
            return None
        invalid = {_key_of(error) for error in exc.errors(include_url=False)}
        left = {key: value for key, value in row.items() if key not in invalid}
        return _valid(kind, left) if len(left) < len(row) else None


def _key_of(error: ErrorDetails) -> object:
    """Return the key of an entry that an error is about."""
    if error["type"] == "unknown_key" and not set(error["loc"]) - _TAGS:
        return error["ctx"]["raw_key"]
    return next((part for part in error["loc"] if part not in _TAGS), None)
