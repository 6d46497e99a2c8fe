"""Check that what tasks and subtasks name exists: roles, tools, nodes, arguments, placeholders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import GraphError, SpecError, UnknownNameError
from evaluators.model.base import SESSION
from evaluators.model.dag import build_graph, build_part_graph
from evaluators.model.oracle import Act, WaitFor
from evaluators.model.placeholders import placeholders
from evaluators.model.task import INFEASIBLE_CHECK, place_of
from evaluators.suite_files import locate, named_files

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.model.node import Check, Node
    from evaluators.model.oracle import OracleStep
    from evaluators.model.subtask import Subtask
    from evaluators.model.task import SetupStep, Task
    from evaluators.model.yaml_source import Source, Where
    from evaluators.schema import Tool
    from provisioning.protocols import Json, Kind

_PLACED_BY_TARGET: Mapping[str, Json] = {"x": 0, "y": 0}
_WITH_PLACEHOLDERS = ("setup", "checks", "oracle", "instruction")


def check_task(
    source: Source, task: Task, vocabulary: Vocabulary, applications: Collection[str]
) -> None:
    """Check the names and arguments of a task.

    Args:
        source: the file the task was read from.
        task: its content.
        vocabulary: what it may name.
        applications: what nodes may name as ``app``.

    Raises:
        SpecError: the first mistake: file, line, what was expected, the nearest match.
    """
    speller = _Speller(source, task.roles, vocabulary)
    speller.setup(task.setup)
    speller.nodes("graph", task.graph, applications)
    _check_feasibility(source, task)
    try:
        build_part_graph(task)
    except GraphError as exc:
        raise source.error(("parts",), exc.brief, exc.details, exc.resolution) from exc
    speller.oracle(task.oracle)


def _check_feasibility(source: Source, task: Task) -> None:
    """Check that an infeasible task asks for the agent's saying so, and no other task does."""
    says_so = [
        any((check.on, check.check) == (SESSION, INFEASIBLE_CHECK) for check in node.checks)
        for node in task.credit_nodes
    ]
    if task.infeasible and not all(says_so):
        message = (
            f"every node of an infeasible task but keep nodes is the check {INFEASIBLE_CHECK}."
        )
        raise source.error(
            ("graph",), message, resolution=f"Write `on: session, check: {INFEASIBLE_CHECK}`."
        )
    if any(says_so) and not task.infeasible:
        message = f"the check {INFEASIBLE_CHECK} is for tasks with the key `infeasible`."
        raise source.error(("graph",), message)


def check_subtask(
    source: Source, subtask: Subtask, vocabulary: Vocabulary, applications: Collection[str]
) -> None:
    """Check the names, placeholders and constant arguments of a subtask's definition.

    Arguments with placeholders are checked where a task uses the subtask. Arguments as in
    `check_task`.

    Raises:
        SpecError: the first mistake: file, line, what was expected, the nearest match.
    """
    speller = _Speller(source, subtask.roles, vocabulary, has_placeholders=True)
    speller.known(("app",), "application", subtask.app, applications)
    _check_placeholders(source, subtask)
    speller.setup(subtask.setup)
    speller.nodes("checks", subtask.checks, applications)
    speller.oracle(subtask.oracle)


def _check_placeholders(source: Source, subtask: Subtask) -> None:
    known = [*subtask.inputs, *(f"roles.{role}" for role in subtask.roles)]
    used: set[str] = set()
    places = [(key, source.data.get(key)) for key in _WITH_PLACEHOLDERS]
    for place, value in places:
        for name, where in placeholders(value, (place,)):
            require_known(source, where, "placeholder", name, known)
            used.add(name)
    for output, content in subtask.outputs.items():
        for name, _ in placeholders(content.value):
            require_known(source, ("outputs", output, "value"), "placeholder", name, known)
            used.add(name)
    for name in subtask.inputs:
        if name not in used:
            raise source.error(("inputs", name), f"no placeholder uses the input {name!r}.")


def require_known(
    source: Source, where: Where, what: str, name: str, names: Collection[str]
) -> None:
    """Check a name in a file.

    Raises:
        SpecError: it is not among `names`; with the nearest match.
    """
    if name not in names:
        unknown = UnknownNameError.of(what, name, names)
        raise source.error(where, unknown.brief, resolution=unknown.resolution)


class _Speller:
    """Looks names up and reports where the wrong ones are.

    Args:
        source: of the content.
        roles: kind of each role that it may name.
        vocabulary: tools that it may name.
        has_placeholders: arguments with placeholders are not checked.
    """

    def __init__(
        self,
        source: Source,
        roles: Mapping[str, Kind],
        vocabulary: Vocabulary,
        *,
        has_placeholders: bool = False,
    ) -> None:
        self._has_placeholders = has_placeholders
        self._source = source
        self._roles = roles
        self._vocabulary = vocabulary

    def known(self, where: Where, what: str, name: str, names: Collection[str]) -> None:
        require_known(self._source, where, what, name, names)

    def setup(self, steps: Sequence[SetupStep]) -> None:
        for number, step in enumerate(steps):
            tools = self._vocabulary.setups
            self.call(("setup", number), step.on, step.do, step.args, tools=tools)

    def nodes(self, key: str, nodes: Sequence[Node], applications: Collection[str]) -> None:
        """Check nodes, which are at `key` of the file, and the graph that they make."""
        ids = [node.id for node in nodes]
        for number, node in enumerate(nodes):
            where: Where = (key, number)
            if node.id in ids[:number]:
                message = f"another node is called {node.id!r}."
                raise self._source.error((*where, "id"), message)
            self.check(where, node)
            for key_of, checks in (("and", node.conjuncts), ("or", node.alternatives)):
                for place, other in enumerate(checks):
                    self.check((*where, key_of, place), other)
            for place, name in enumerate(node.after):
                self.known((*where, "after", place), "node", name, ids)
            if node.app:
                self.known((*where, "app"), "application", node.app, applications)
        try:
            build_graph(nodes)
        except GraphError as exc:
            raise self._source.error((key,), exc.brief, exc.details, exc.resolution) from exc

    def oracle(self, steps: Sequence[OracleStep]) -> None:
        for number, step in enumerate(steps):
            where: Where = ("oracle", number)
            match step:
                case WaitFor(wait_for=check):
                    self.check((*where, "wait_for"), check)
                case Act(on=on, do=do, args=args, at=at):
                    placed = args if at is None else {**_PLACED_BY_TARGET, **args}
                    self.call(where, on, do, placed, tools=self._vocabulary.actions)

    def check(self, where: Where, check: Check) -> None:
        tools = self._vocabulary.evaluators
        self.call(where, check.on, check.check, check.args, tools=tools, key="check")

    def _files(self, where: Where, tool: Tool, args: Mapping[str, Json]) -> None:
        """Check that the files exist that a call names in the suite's folder."""
        for name in named_files(tool, args):
            try:
                locate(self._vocabulary.folder, name)
            except SpecError as exc:
                raise self._source.error((*where, "with"), exc.brief) from exc

    def call(
        self,
        where: Where,
        role: str | None,
        name: str,
        args: Mapping[str, Json],
        *,
        tools: Tools | None,
        key: str = "do",
    ) -> None:
        """Check one call of a function: its role, its name, its arguments."""
        place = place_of(self._roles, role)
        if place is None:
            self.known((*where, "on"), "role", str(role), [*self._roles, SESSION])
        if tools is None or place is None:
            return
        offered = tools.get(place, {})
        kind = "evaluator" if key == "check" else "operation"
        self.known((*where, key), f"{kind} for {place}", name, offered)
        if self._has_placeholders and next(placeholders(dict(args)), None):
            return
        self._files(where, offered[name], args)
        for fault in offered[name].faults(args):
            raise self._source.error(
                (*where, "with", fault.argument),
                f"wrong arguments for {name}: {fault.words}",
                resolution=offered[name].usage,
            )
