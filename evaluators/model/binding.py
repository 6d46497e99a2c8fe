"""Bind the subtasks of a composed task: their order, roles, input and output values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import networkx as nx

from evaluators.model.placeholders import placeholders, substitute, substitute_entry
from evaluators.model.resources import is_assignable, is_of_type
from evaluators.model.spelling import require_known
from evaluators.model.subtask import FROM

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import JsonValue

    from appliance.base.errors import SpecError
    from evaluators.model.subtask import ComposedTask, Subtask, SubtaskUse
    from evaluators.model.yaml_source import Source, Where


@dataclass(frozen=True, slots=True)
class Definition:
    """A subtask and the file that defines it."""

    source: Source
    subtask: Subtask


@dataclass(frozen=True, slots=True)
class BoundUse:
    """One use of a subtask with everything that it needs.

    Attributes:
        use: as the task has it.
        definition: of the subtask.
        before: ids of the uses that it comes after.
        roles: the task's role by the subtask's.
        values: by placeholder.
        outputs: by name.
        keeps_escapes: ``$${`` stays, because the task has parameters and is bound to them later.
    """

    use: SubtaskUse
    definition: Definition
    before: tuple[str, ...]
    roles: Mapping[str, str]
    values: Mapping[str, JsonValue]
    outputs: Mapping[str, JsonValue]
    keeps_escapes: bool = False

    def fill(self, key: str, content: Any) -> Any:  # noqa: ANN401
        """Return content of the definition with values in place of placeholders.

        Raises:
            SpecError: a value cannot stand inside a text.
        """
        return _fill(
            self.definition, self.use.id, self.values, key, content, escapes=self.keeps_escapes
        )


@dataclass(slots=True)
class Binder:
    """Binds the uses of one task.

    Attributes:
        source: the task's file.
        composed: its content.
        definitions: subtasks by id.
    """

    source: Source
    composed: ComposedTask
    definitions: Mapping[str, Definition]
    _bound: dict[str, BoundUse] = field(default_factory=dict)

    def bind(self) -> dict[str, BoundUse]:
        """Return the uses by id, in the order of work: topological, ties as in the file.

        Raises:
            SpecError: an unknown name, a type that does not fit, a missing value, or uses that
                come after each other.
        """
        order, before = self._order()
        numbers = {use.id: number for number, use in enumerate(self.composed.subtasks)}
        for name in order:
            earlier = tuple(other for other in order if other in before[name])
            self._bound[name] = self._bind(numbers[name], earlier)
        return self._bound

    def _order(self) -> tuple[list[str], Mapping[str, set[str]]]:
        ids = [use.id for use in self.composed.subtasks]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                raise self._error((number, "id"), f"another subtask is called {name!r}.")
        before = {
            use.id: self._names_before(number, ids)
            for number, use in enumerate(self.composed.subtasks)
        }
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(ids)
        graph.add_edges_from((other, name) for name in ids for other in before[name])
        if not nx.is_directed_acyclic_graph(graph):
            loop = [edge[0] for edge in nx.find_cycle(graph)]
            message = f"the subtasks come after each other: {' -> '.join([*loop, loop[0]])}."
            raise self._error((), message)
        return list(nx.lexicographical_topological_sort(graph, key=ids.index)), before

    def _names_before(self, number: int, ids: Collection[str]) -> set[str]:
        use = self.composed.subtasks[number]
        places: dict[Where, str] = {
            (number, "after", place): name for place, name in enumerate(use.after)
        }
        for name, value in use.inputs.items():
            reference = _reference_of(value)
            if reference is not None:
                places[number, "inputs", name] = reference[0]
        for where, name in places.items():
            self._require(where, "subtask in this task", name, ids)
        return set(places.values())

    def _bind(self, number: int, before: tuple[str, ...]) -> BoundUse:
        use = self.composed.subtasks[number]
        self._require((number, "use"), "subtask", use.use, self.definitions)
        definition = self.definitions[use.use]
        subtask = definition.subtask
        roles = self._roles(number, subtask)
        values: dict[str, JsonValue] = {f"roles.{name}": role for name, role in roles.items()}
        for name in use.inputs:
            self._require((number, "inputs", name), "input", name, subtask.inputs)
        for name, wanted in subtask.inputs.items():
            if name not in use.inputs:
                message = f"the input {name!r} of {subtask.id} is missing, of type {wanted.type}."
                raise self._error((number, "inputs"), message)
            values[name] = self._value((number, "inputs", name), use.inputs[name], wanted.type)
        outputs: dict[str, JsonValue] = {}
        for name, output in subtask.outputs.items():
            outputs[name] = _fill(
                definition, use.id, values, "outputs", output.value, escapes=self._is_bound_later
            )
            if not self._fits(outputs[name], output.type):
                message = f"{name} is {outputs[name]!r}, not of type {output.type}."
                raise definition.source.error(("outputs", name), message, f"Used as {use.id!r}.")
        return BoundUse(
            use, definition, before, roles, values, outputs, keeps_escapes=self._is_bound_later
        )

    @property
    def _is_bound_later(self) -> bool:
        return bool(self.composed.parameters)

    def _fits(self, value: JsonValue, wanted: str) -> bool:
        """Return whether a value is of a type; one with a parameter in it is known later only."""
        is_open = self._is_bound_later and next(placeholders(value), None) is not None
        return is_open or is_of_type(value, wanted)

    def _value(self, where: Where, value: JsonValue, wanted: str) -> JsonValue:
        reference = _reference_of(value)
        if reference is None:
            if not self._fits(value, wanted):
                raise self._error(where, f"{value!r} is not of type {wanted}.")
            return value
        provider = self._bound[reference[0]]
        outputs = provider.definition.subtask.outputs
        self._require(where, f"output of {reference[0]!r}", reference[1], outputs)
        provided = outputs[reference[1]].type
        if not is_assignable(provided, wanted):
            message = f"{'.'.join(reference)} is of type {provided}; the input is of type {wanted}."
            raise self._error(where, message)
        return provider.outputs[reference[1]]

    def _roles(self, number: int, subtask: Subtask) -> dict[str, str]:
        given = self.composed.subtasks[number].roles
        for name in given:
            self._require((number, "roles", name), f"role of {subtask.id}", name, subtask.roles)
        roles = {name: given.get(name, name) for name in subtask.roles}
        for name, role in roles.items():
            where: Where = (number, "roles", name)
            self._require(where, "role in this task", role, self.composed.roles)
            if self.composed.roles[role] is not subtask.roles[name]:
                message = f"the role {role!r} is a {self.composed.roles[role]}; "
                raise self._error(where, f"{message}{subtask.id} needs a {subtask.roles[name]}.")
        return roles

    def _require(self, where: Where, what: str, name: str, names: Collection[str]) -> None:
        require_known(self.source, ("subtasks", *where), what, name, names)

    def _error(self, where: Where, message: str) -> SpecError:
        return self.source.error(("subtasks", *where), message)


def _reference_of(value: JsonValue) -> tuple[str, str] | None:
    """Return subtask and output that ``{from: subtask.output}`` names; None for other values."""
    if not isinstance(value, dict) or set(value) != {FROM}:
        return None
    subtask, _, output = str(value[FROM]).partition(".")
    return subtask, output


def _fill(
    definition: Definition,
    use: str,
    values: Mapping[str, JsonValue],
    key: str,
    content: JsonValue,
    *,
    escapes: bool,
) -> JsonValue:
    try:
        fill = substitute if key == "outputs" else substitute_entry
        return fill(content, values, keeps_escapes=escapes)
    except TypeError as exc:
        raise definition.source.error((key,), f"{exc}.", f"Used as {use!r}.") from exc
