"""Compile tasks made of subtasks into plain tasks.

Every use of a subtask is replaced by its setup, nodes and oracle steps, with values in place of
placeholders and the task's roles in place of the subtask's. Its nodes are called ``<use>-<node>``.
If one use follows another, because of a bound input or ``after``, all its first nodes follow all
last nodes of the other. Setup and oracle are in topological order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.model.binding import Binder
from evaluators.model.codecs import parse
from evaluators.model.node import Mode
from evaluators.model.task import ORACLE, Task
from foundation.yaml_source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import BaseModel

    from evaluators.model.binding import BoundUse, Definition
    from evaluators.model.repeating import Entry
    from evaluators.model.subtask import ComposedTask
    from foundation.errors import SpecError
    from foundation.yaml_source import Where


@dataclass(frozen=True, slots=True)
class Origin:
    """Source position of an entry of a compiled task.

    Attributes:
        source: the file that contains the entry.
        where: its position in the file.
        use: id of the subtask's use; empty for entries of the task itself.
    """

    source: Source
    where: Where
    use: str = ""


class CompiledSource(Source):
    """A composed task's file, whose errors name the file and line of the original entry.

    Args:
        source: the task's file.
        data: the compiled task.
        origins: origin of each entry, by key and number.
    """

    def __init__(self, source: Source, data: object, origins: Mapping[Where, Origin]) -> None:
        super().__init__(source.path, data, source.lines)
        self._origins = origins

    def error(
        self, where: Sequence[str | int], brief: str, details: str = "", resolution: str = ""
    ) -> SpecError:
        """Return an error that names the file and line of the entry at `where`."""
        length = 3 if where[:1] == ("oracles",) else 2
        origin = self._origins.get(tuple(where[:length]))
        if origin is None:
            return super().error(where, brief, details, resolution)
        place = (*origin.where, *where[length:])
        if not origin.use:
            return origin.source.error(place, brief, details, resolution)
        used = f"Used as {origin.use!r} in {self.path}."
        return origin.source.error(place, brief, f"{used}\n{details}".strip(), resolution)


def compile_task(
    source: Source, composed: ComposedTask, definitions: Mapping[str, Definition]
) -> tuple[Task, CompiledSource]:
    """Compile a task made of subtasks.

    Args:
        source: the task's file.
        composed: its content.
        definitions: subtasks by id.

    Returns:
        The plain task, and the source for reporting its errors.

    Raises:
        SpecError: there is an unknown subtask, role, input or output, a type that does not match, a
            missing value, a cycle of subtasks, or an invalid compiled entry.
    """
    bound = Binder(source, composed, definitions).bind()
    in_file_order = [bound[use.id] for use in composed.subtasks]
    last = {name: _last_of(use) for name, use in bound.items()}
    compiled = _Entries()
    for number, step in enumerate(composed.setup):
        compiled.add(("setup",), _dump(step), Origin(source, ("setup", number)))
    for use in bound.values():
        compiled.add_steps(("setup",), use, ("setup",), use.definition.subtask.setup)
    for name in _solution_names(bound.values()):
        place: Where = (ORACLE,) if name == ORACLE else ("oracles", name)
        for use in bound.values():
            compiled.add_solution(place, use, name)
        for number, oracle_step in enumerate(composed.oracle):
            compiled.add(place, _dump(oracle_step), Origin(source, (ORACLE, number)))
    for use in in_file_order:
        before = [node for name in use.before for node in last[name]]
        for entry in use.entries(("checks",), use.definition.subtask.checks):
            origin = Origin(use.definition.source, ("checks", entry.number), use.use.id)
            compiled.add(("graph",), _compile_node(use, entry, before), origin)
    for number, node in enumerate(composed.graph):
        after = [predecessor for name in node.after for predecessor in last.get(name, [name])]
        row = _dump(node) | ({"after": after} if after else {})
        compiled.add(("graph",), row, Origin(source, ("graph", number)))
    data = {
        **composed.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "instruction": composed.instruction or _joined_instruction(source, bound.values()),
        **compiled.content,
        "parts": [_part_of(use) for use in in_file_order],
    }
    del data["subtasks"]
    if "oracles" in compiled.content:
        data.pop(ORACLE, None)
    compiled_source = CompiledSource(source, data, compiled.origins)
    return parse(compiled_source, Task), compiled_source


class _Entries:
    """Collector of the entries of a compiled task and their origins."""

    def __init__(self) -> None:
        self._rows: dict[Where, list[dict[str, Any]]] = {("setup",): [], ("graph",): []}
        self.origins: dict[Where, Origin] = {}

    @property
    def content(self) -> dict[str, Any]:
        """The entries, by the keys of a task."""
        content: dict[str, Any] = {}
        for place, rows in self._rows.items():
            if len(place) == 1:
                content[str(place[0])] = rows
            else:
                content.setdefault(str(place[0]), {})[place[1]] = rows
        return content

    def add(self, place: Where, row: dict[str, Any], origin: Origin) -> None:
        rows = self._rows.setdefault(place, [])
        self.origins[(*place, len(rows))] = origin
        rows.append(row)

    def add_steps(
        self, place: Where, use: BoundUse, where: Where, steps: Sequence[BaseModel]
    ) -> None:
        for entry in use.entries(where, steps):
            at = (*where, entry.number)
            row = _with_roles(use.fill(at, entry.row, entry.values), use.roles)
            self.add(place, row, Origin(use.definition.source, at, use.use.id))

    def add_solution(self, place: Where, use: BoundUse, name: str) -> None:
        """Add the solution of a use that has this name, or else its default one."""
        solutions = use.definition.subtask.solutions
        own = name if name in solutions else next(iter(solutions))
        where: Where = (ORACLE,) if own == ORACLE else ("oracles", own)
        self.add_steps(place, use, where, solutions[own])


def _solution_names(uses: Iterable[BoundUse]) -> list[str]:
    """Return the names of a task's solutions: those that all uses with named solutions have.

    If there is none, the task has one solution, made of the default ones.
    """
    named = [use.definition.subtask.oracles for use in uses if use.definition.subtask.oracles]
    common = [name for name in (named[0] if named else ()) if all(name in row for row in named)]
    return common or [ORACLE]


def _dump(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _compile_node(use: BoundUse, entry: Entry, before: Sequence[str]) -> dict[str, Any]:
    row = _with_roles(use.fill(("checks", entry.number), entry.row, entry.values), use.roles)
    row["id"] = f"{use.use.id}-{entry.row['id']}"
    if row.get("mode") != Mode.KEEP:
        row["after"] = [f"{use.use.id}-{name}" for name in entry.row.get("after", ())] or list(
            before
        )
        row.setdefault("app", use.definition.subtask.app)
    return row


def _with_roles(row: dict[str, Any], roles: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry, including its alternatives and waits, with the task's roles."""
    placed = dict(row)
    if placed.get("on") in roles:
        placed["on"] = roles[placed["on"]]
    for key in ("and", "or"):
        if key in placed:
            placed[key] = [_with_roles(check, roles) for check in placed[key]]
    if "wait_for" in placed:
        placed["wait_for"] = _with_roles(placed["wait_for"], roles)
    return placed


def _earning(use: BoundUse) -> list[dict[str, Any]]:
    entries = use.entries(("checks",), use.definition.subtask.checks)
    return [entry.row for entry in entries if entry.row.get("mode") != Mode.KEEP]


def _last_of(use: BoundUse) -> list[str]:
    """Return the nodes of a use that have no successor within the use."""
    passed = {name for node in _earning(use) for name in node.get("after", ())}
    return [f"{use.use.id}-{node['id']}" for node in _earning(use) if node["id"] not in passed]


def _part_of(use: BoundUse) -> dict[str, Any]:
    subtask = use.definition.subtask
    nodes = [f"{use.use.id}-{node['id']}" for node in _earning(use)]
    return {"id": use.use.id, "subtask": subtask.id, "app": subtask.app, "nodes": nodes}


def _joined_instruction(source: Source, uses: Iterable[BoundUse]) -> str:
    sentences = []
    for use in uses:
        sentence = str(use.fill(("instruction",), use.definition.subtask.instruction)).strip()
        if not sentence:
            name = use.definition.subtask.id
            message = (
                f"the key 'instruction' is missing, and the subtask {name} has no instruction."
            )
            raise source.error((), message)
        sentences.append(sentence)
    return " ".join(sentences)
