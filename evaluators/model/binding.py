"""Bind the subtasks of a composed task: their order, roles, input and output values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import networkx as nx

from evaluators.model.placeholders import placeholders, substitute, substitute_entry
from evaluators.model.repeating import repeat
from evaluators.model.resources import is_assignable, is_of_type
from evaluators.model.spelling import require_known
from evaluators.model.subtask import FROM
from foundation.errors import SpecError
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pydantic import BaseModel, JsonValue

    from evaluators.model.repeating import Entry
    from evaluators.model.subtask import ComposedTask, Subtask, SubtaskUse
    from foundation.yaml_source import Source, Where


@dataclass(frozen=True, slots=True)
class Definition:
    """A subtask and the file that defines it."""

    source: Source
    subtask: Subtask


@dataclass(frozen=True, slots=True)
class BoundUse:
    """One use of a subtask with everything that it needs.

    Attributes:
        use: the use, as written in the task.
        definition: the definition of the subtask.
        before: ids of the uses that precede it.
        roles: the task's role for each role of the subtask.
        values: value of each placeholder.
        outputs: value of each output.
        keeps_escapes: whether ``$${`` stays, because the task has parameters that are bound later.
    """

    use: SubtaskUse
    definition: Definition
    before: tuple[str, ...]
    roles: Mapping[str, str]
    values: Mapping[str, JsonValue]
    outputs: Mapping[str, JsonValue]
    keeps_escapes: bool = False

    def entries(self, where: Where, listed: Sequence[BaseModel]) -> list[Entry]:
        """Return nodes or steps of the definition, with repetitions.

        Args:
            where: their position in the definition's file.
            listed: the nodes or steps.

        Raises:
            SpecError: the input that repeats an entry is not a list with items.
        """
        try:
            return repeat(listed, self.values)
        except TypeError as exc:
            used = f"Used as {self.use.id!r}."
            raise self.definition.source.error(where, f"{exc}.", used) from exc

    def fill(
        self,
        where: Where,
        content: Any,  # noqa: ANN401
        values: Mapping[str, JsonValue] | None = None,
    ) -> Any:  # noqa: ANN401
        """Return a part of the definition with placeholders replaced by values.

        Args:
            where: its position in the definition's file.
            content: an entry, or a text.
            values: values in addition to the inputs.

        Raises:
            SpecError: a value cannot be used inside a text.
        """
        known = {**self.values, **(values or {})}
        return _fill(
            self.definition, self.use.id, known, where, content, escapes=self.keeps_escapes
        )

    def value_errors(self) -> list[SpecError]:
        """Return an error for each value that cannot be used where the definition has it."""
        subtask = self.definition.subtask
        lists: list[tuple[Where, Sequence[BaseModel]]] = [
            (("setup",), subtask.setup),
            (("checks",), subtask.checks),
            (("oracle",), subtask.oracle),
            *((("oracles", name), steps) for name, steps in subtask.oracles.items()),
        ]
        texts: list[tuple[Where, Any, Mapping[str, JsonValue]]] = [
            (("instruction",), subtask.instruction, {})
        ]
        errors: list[SpecError] = []
        for where, listed in lists:
            try:
                texts += [
                    ((*where, entry.number), entry.row, entry.values)
                    for entry in self.entries(where, listed)
                ]
            except SpecError as exc:
                errors.append(exc)
        for where, content, values in texts:
            try:
                self.fill(where, content, values)
            except SpecError as exc:
                errors.append(exc)
        return errors


@dataclass(slots=True)
class Binder:
    """Binder of the uses of subtasks in one task.

    Attributes:
        source: the task's file.
        composed: its content.
        definitions: definitions of subtasks, by id.
        broken: ids of invalid definitions; their uses are not bound.
    """

    source: Source
    composed: ComposedTask
    definitions: Mapping[str, Definition]
    broken: Collection[str] = ()
    _bound: dict[str, BoundUse] = field(default_factory=dict)
    _errors: list[SpecError] = field(default_factory=list)

    def bind(self) -> dict[str, BoundUse]:
        """Return the uses by id, in topological order, ties as in the file.

        Raises:
            SpecError: there are unknown names, types that do not match, missing values, or a cycle
                of uses; the error names all of them.
        """
        if self.mistakes():
            raise join_errors(self._errors)
        return self._bound

    def mistakes(self) -> list[SpecError]:
        """Bind the uses and return all errors."""
        order, before = self._order()
        ids = [use.id for use in self.composed.subtasks]
        for number in order:
            earlier = [other for other in order if ids[other] in before[number]]
            bound = self._bind(number, tuple(ids[other] for other in earlier))
            if bound is not None:
                self._bound.setdefault(bound.use.id, bound)
        return self._errors

    def _order(self) -> tuple[list[int], list[set[str]]]:
        """Return the numbers of the uses in topological order, and the ids that precede each."""
        uses = self.composed.subtasks
        ids = [use.id for use in uses]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                self._report((number, "id"), f"another subtask has the id {name!r}.")
        before = [self._names_before(number, ids) for number in range(len(uses))]
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(uses)))
        graph.add_edges_from(
            (ids.index(other), number) for number in range(len(uses)) for other in before[number]
        )
        if not nx.is_directed_acyclic_graph(graph):
            loop = [ids[edge[0]] for edge in nx.find_cycle(graph)]
            chain = " -> ".join([*loop, loop[0]])
            self._report((), f"the subtasks form a cycle: {chain}.")
            return list(range(len(uses))), before
        return list(nx.lexicographical_topological_sort(graph)), before

    def _names_before(self, number: int, ids: Collection[str]) -> set[str]:
        use = self.composed.subtasks[number]
        places: dict[Where, str] = {
            (number, "after", place): name for place, name in enumerate(use.after)
        }
        for name, value in use.inputs.items():
            reference = _reference_of(value)
            if reference is not None:
                places[number, "inputs", name] = reference[0]
        return {
            name
            for where, name in places.items()
            if self._is_known(where, "subtask in this task", name, ids)
        }

    def _bind(self, number: int, before: tuple[str, ...]) -> BoundUse | None:
        """Return a use with its values; None after reporting an error."""
        use = self.composed.subtasks[number]
        known = [*self.definitions, *self.broken]
        if not self._is_known((number, "use"), "subtask", use.use, known):
            return None
        definition = self.definitions.get(use.use)
        if definition is None:
            return None
        mistakes = len(self._errors)
        roles = self._roles(number, definition.subtask)
        values: dict[str, JsonValue] = {f"roles.{name}": role for name, role in roles.items()}
        values |= self._inputs(number, definition.subtask)
        if len(self._errors) > mistakes or any(name not in values for name in use.inputs):
            return None
        outputs = self._outputs(use, definition, values)
        bound = BoundUse(
            use, definition, before, roles, values, outputs, keeps_escapes=self._is_bound_later
        )
        self._errors += bound.value_errors()
        return bound if len(self._errors) == mistakes else None

    def _inputs(self, number: int, subtask: Subtask) -> dict[str, JsonValue]:
        """Return the values of a use's inputs, except those that come from uses that are not bound."""
        given = self.composed.subtasks[number].inputs
        is_spelt = [
            self._is_known((number, "inputs", name), "input", name, subtask.inputs)
            for name in given
        ]
        values: dict[str, JsonValue] = {}
        for name, wanted in subtask.inputs.items():
            if name in given:
                self._take(values, (number, "inputs", name), name, given[name], wanted.type)
            elif all(is_spelt):  # a misspelled input may be the one that is missing
                message = f"the input {name!r} of {subtask.id} is missing, of type {wanted.type}."
                self._report((number, "inputs"), message)
        return values

    def _outputs(
        self, use: SubtaskUse, definition: Definition, values: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        outputs: dict[str, JsonValue] = {}
        for name, output in definition.subtask.outputs.items():
            try:
                outputs[name] = _fill(
                    definition,
                    use.id,
                    values,
                    ("outputs", name),
                    output.value,
                    escapes=self._is_bound_later,
                )
            except SpecError as exc:
                self._errors.append(exc)
                continue
            if not self._fits(outputs[name], output.type):
                message = f"{name} is {outputs[name]!r}, not of type {output.type}."
                used = f"Used as {use.id!r}."
                self._errors.append(definition.source.error(("outputs", name), message, used))
        return outputs

    @property
    def _is_bound_later(self) -> bool:
        return bool(self.composed.parameters)

    def _fits(self, value: JsonValue, wanted: str) -> bool:
        """Return whether a value is of a type; a value that contains a parameter is checked later."""
        is_open = self._is_bound_later and next(placeholders(value), None) is not None
        return is_open or is_of_type(value, wanted)

    def _take(
        self,
        values: dict[str, JsonValue],
        where: Where,
        name: str,
        value: JsonValue,
        wanted: str,
    ) -> None:
        """Add the value of an input, or of the output that it refers to, if that is bound."""
        reference = _reference_of(value)
        if reference is None:
            if self._fits(value, wanted):
                values[name] = value
            else:
                self._report(where, f"{value!r} is not of type {wanted}.")
            return
        provider = self._definition_of(reference[0])
        if provider is None:
            return
        outputs = provider.subtask.outputs
        if not self._is_known(where, f"output of {reference[0]!r}", reference[1], outputs):
            return
        provided = outputs[reference[1]].type
        if not is_assignable(provided, wanted):
            message = f"{'.'.join(reference)} is of type {provided}; the input is of type {wanted}."
            self._report(where, message)
        elif reference[0] in self._bound:
            values[name] = self._bound[reference[0]].outputs[reference[1]]

    def _definition_of(self, name: str) -> Definition | None:
        """Return the definition of a use; None if there is no such use or no valid definition."""
        uses = {use.id: use.use for use in self.composed.subtasks}
        return self.definitions.get(uses.get(name, ""))

    def _roles(self, number: int, subtask: Subtask) -> dict[str, str]:
        given = self.composed.subtasks[number].roles
        for name in given:
            where: Where = (number, "roles", name)
            self._is_known(where, f"role of {subtask.id}", name, subtask.roles)
        is_misspelt = any(name not in subtask.roles for name in given)
        roles = {name: given.get(name, name) for name in subtask.roles}
        for name, role in roles.items():
            if is_misspelt and name not in given:
                continue  # the misspelled role may be this one
            where = (number, "roles", name)
            if not self._is_known(where, "role in this task", role, self.composed.roles):
                continue
            if not self.composed.roles[role].meets(subtask.roles[name]):
                message = f"the role {role!r} is a {self.composed.roles[role]}; "
                self._report(where, f"{message}{subtask.id} needs a {subtask.roles[name]}.")
        return roles

    def _is_known(self, where: Where, what: str, name: str, names: Collection[str]) -> bool:
        """Return whether a name is known; report it when it is not."""
        try:
            require_known(self.source, ("subtasks", *where), what, name, names)
        except SpecError as exc:
            self._errors.append(exc)
            return False
        return True

    def _report(self, where: Where, message: str) -> None:
        self._errors.append(self.source.error(("subtasks", *where), message))


def _reference_of(value: JsonValue) -> tuple[str, str] | None:
    """Return the subtask and output that ``{from: subtask.output}`` names; None for other values."""
    if not isinstance(value, dict) or set(value) != {FROM}:
        return None
    subtask, _, output = str(value[FROM]).partition(".")
    return subtask, output


def _fill(
    definition: Definition,
    use: str,
    values: Mapping[str, JsonValue],
    where: Where,
    content: JsonValue,
    *,
    escapes: bool,
) -> JsonValue:
    try:
        fill = substitute if where[0] == "outputs" else substitute_entry
        return fill(content, values, keeps_escapes=escapes)
    except TypeError as exc:
        raise definition.source.error(where, f"{exc}.", f"Used as {use!r}.") from exc
