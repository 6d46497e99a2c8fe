"""Check that the names in tasks and subtasks exist: roles, tools, nodes, arguments, placeholders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.coordinates import points_of
from evaluators.model.dag import build_graph, build_part_graph
from evaluators.model.oracle import Act, WaitFor
from evaluators.model.placeholders import placeholders
from evaluators.model.repeating import ITEM_NAMES, repetitions
from evaluators.model.roles import place_of
from evaluators.model.suite_files import locate, named_files
from evaluators.model.task import INFEASIBLE_CHECK
from evaluators.schema import FaultKind
from evaluators.strict import SESSION
from foundation.errors import GraphError, SpecError, UnknownNameError
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.model.node import Check, Node
    from evaluators.model.oracle import OracleStep, SetupEntry
    from evaluators.model.pressing import Press
    from evaluators.model.subtask import Subtask
    from evaluators.model.task import Task
    from evaluators.schema import Fault, Tool
    from foundation.yaml_source import Source, Where
    from provisioning.protocols import Json
    from provisioning.resource import ResourceSpec

_WITH_PLACEHOLDERS = ("setup", "checks", "oracle", "oracles", "instruction", "outputs")


def check_task(
    source: Source, task: Task, vocabulary: Vocabulary, applications: Collection[str]
) -> None:
    """Check the names and arguments of a task.

    Args:
        source: the task's file.
        task: its content.
        vocabulary: the functions that the task may name.
        applications: names that nodes may use as ``app``.

    Raises:
        SpecError: there are errors; the brief has file, line, what was expected and the nearest
            matches of the first, the details have all.
    """
    checker = NameChecker(source, task.roles, vocabulary)
    checker.setup(task.setup)
    checker.nodes("graph", task.graph, applications)
    for number, press in enumerate(task.press_before_judging):
        checker.press(("press_before_judging", number), press)
    checker.oracle(("oracle",), task.oracle, task.limits.steps)
    for key, solutions in (("oracles", task.oracles), ("must_fail", task.must_fail)):
        for name, steps in solutions.items():
            checker.oracle((key, name), steps, task.limits.steps)
    checker.add(_check_feasibility(source, task))
    if not checker.errors:
        try:
            build_part_graph(task)
        except GraphError as exc:
            checker.errors.append(source.error(("parts",), exc.brief, exc.details, exc.resolution))
    checker.raise_errors()


def _check_feasibility(source: Source, task: Task) -> SpecError | None:
    """Return an error if only one of the key `infeasible` and the check for the agent's declaration is used."""
    says_so = [
        any((check.on, check.check) == (SESSION, INFEASIBLE_CHECK) for check in node.checks)
        for node in task.credit_nodes
    ]
    if task.infeasible and not all(says_so):
        message = f"all nodes of an infeasible task, except keep nodes, must use the check {INFEASIBLE_CHECK}."
        wrong = [
            node.id for node, right in zip(task.credit_nodes, says_so, strict=True) if not right
        ]
        resolution = f"Write `on: {SESSION}, check: {INFEASIBLE_CHECK}`, or `mode: keep`, at: {', '.join(wrong)}."
        return source.error(("graph",), message, resolution=resolution)
    if any(says_so) and not task.infeasible:
        message = f"the check {INFEASIBLE_CHECK} requires the key `infeasible`."
        return source.error(("graph",), message)
    return None


def check_subtask(
    source: Source, subtask: Subtask, vocabulary: Vocabulary, applications: Collection[str]
) -> list[SpecError]:
    """Check the names, placeholders and constant arguments of a subtask; return all errors.

    Arguments with placeholders are checked where a task uses the subtask. The parameters are those
    of `check_task`.
    """
    checker = NameChecker(source, subtask.roles, vocabulary, has_placeholders=True)
    checker.known(("app",), "application", subtask.app, applications)
    errors, used = placeholders_of_subtask(source, subtask.inputs, subtask.roles)
    if not errors:  # a misspelled placeholder may be the one that uses an input
        for name in [name for name in subtask.inputs if name not in used]:
            message = f"no placeholder uses the input {name!r}."
            errors.append(source.error(("inputs", name), message))
    checker.setup(subtask.setup)
    checker.nodes("checks", subtask.checks, applications)
    checker.oracle(("oracle",), subtask.oracle, None)
    for name, steps in subtask.oracles.items():
        checker.oracle(("oracles", name), steps, None)
    return errors + checker.errors


def placeholders_of_subtask(
    source: Source, inputs: Collection[str], roles: Collection[str]
) -> tuple[list[SpecError], set[str]]:
    """Return the errors in a definition's placeholders, and the names that they use.

    Args:
        source: the definition's file.
        inputs: names of its inputs.
        roles: names of its roles.
    """
    known = [*inputs, *(f"roles.{role}" for role in roles)]
    used: set[str] = set()
    errors: list[SpecError] = []
    for where, name in repetitions(source.data):
        if name not in inputs:
            unknown = UnknownNameError.of("input", name, [*inputs])
            errors.append(source.error(where, unknown.brief, resolution=unknown.resolution))
        used.add(name)
    repeated = {where[:-1] for where, _ in repetitions(source.data)}
    for key in _WITH_PLACEHOLDERS:
        for name, where in placeholders(source.data.get(key), (key,)):
            is_repeated = not repeated.isdisjoint({where[:2], where[:3]})
            names = [*known, *ITEM_NAMES] if is_repeated else known
            errors += unknown_placeholder(source, where, name, names)
            used.add(name)
    return errors, used


def require_known(
    source: Source, where: Where, what: str, name: str, names: Collection[str]
) -> None:
    """Check a name in a file.

    Raises:
        SpecError: the name is not in `names`; the message has the nearest match.
    """
    if name not in names:
        unknown = UnknownNameError.of(what, name, names)
        raise source.error(where, unknown.brief, resolution=unknown.resolution)


def unknown_placeholder(
    source: Source, where: Where, name: str, names: Collection[str]
) -> list[SpecError]:
    """Return an error for an unknown placeholder; None if it is known."""
    if name in names:
        return []
    unknown = UnknownNameError.of("placeholder", name, names)
    advice = f"{unknown.resolution} To write this text literally, use $${{{name}}}."
    return [source.error(where, unknown.brief, resolution=advice.strip())]


def _without_phantoms(faults: Sequence[Fault]) -> list[Fault]:
    """Drop faults about missing arguments if a name is misspelled, which explains them."""
    is_misspelt = any(fault.kind is FaultKind.UNKNOWN for fault in faults)
    return [fault for fault in faults if not (is_misspelt and fault.kind is FaultKind.MISSING)]


class NameChecker:
    """Checker of names; collects an error for each unknown one.

    Args:
        source: the file.
        roles: what each role needs.
        vocabulary: the functions that the file may name.
        has_placeholders: whether there may be placeholders; arguments with them are not checked.
    """

    def __init__(
        self,
        source: Source,
        roles: Mapping[str, ResourceSpec],
        vocabulary: Vocabulary,
        *,
        has_placeholders: bool = False,
    ) -> None:
        self._has_placeholders = has_placeholders
        self._source = source
        self._roles = roles
        self._vocabulary = vocabulary
        self.errors: list[SpecError] = []

    def raise_errors(self) -> None:
        """Raise all errors as one, if there are any."""
        if self.errors:
            raise join_errors(self.errors)

    def add(self, error: SpecError | None) -> None:
        """Record an error, if there is one."""
        if error is not None:
            self.errors.append(error)

    def known(self, where: Where, what: str, name: str, names: Collection[str]) -> bool:
        """Check a name; return whether it is known."""
        try:
            require_known(self._source, where, what, name, names)
        except SpecError as exc:
            self.errors.append(exc)
            return False
        return True

    def setup(self, steps: Sequence[SetupEntry]) -> None:
        """Check the setup."""
        for number, step in enumerate(steps):
            self.setup_step(number, step)

    def setup_step(self, number: int, step: SetupEntry) -> None:
        """Check one step of the setup."""
        where = ("setup", number)
        if isinstance(step, WaitFor):
            self.check((*where, "wait_for"), step.wait_for)
        else:
            self.call(where, step.on, step.do, step.args, tools=self._vocabulary.setups)

    def nodes(self, key: str, nodes: Sequence[Node], applications: Collection[str]) -> None:
        """Check the nodes at `key` of the file, and the graph that they form."""
        ids = [node.id for node in nodes]
        before = len(self.errors)
        for number, node in enumerate(nodes):
            self.node((key, number), node, ids, applications)
        self.require_unique(key, ids)
        if len(self.errors) > before:
            return  # checking the graph would only repeat these errors
        try:
            build_graph(nodes)
        except GraphError as exc:
            error = self._source.error((key,), exc.brief, exc.details, exc.resolution)
            self.errors.append(error)

    def require_unique(self, key: str, ids: Sequence[str | None]) -> None:
        """Check that no two nodes at `key` share an id; an unknown id is None."""
        for number, name in enumerate(ids):
            if name is not None and name in ids[:number]:
                message = f"another node has the id {name!r}."
                self.errors.append(self._source.error((key, number, "id"), message))

    def node(
        self, where: Where, node: Node, ids: Collection[str], applications: Collection[str]
    ) -> None:
        """Check one node: its checks, predecessors and application."""
        self.check(where, node)
        for key, checks in (("and", node.conjuncts), ("or", node.alternatives)):
            for place, other in enumerate(checks):
                self.check((*where, key, place), other)
        for place, name in enumerate(node.after):
            self.known((*where, "after", place), "node", name, ids)
        if node.app:
            self.known((*where, "app"), "application", node.app, applications)

    def oracle(self, where: Where, steps: Sequence[OracleStep], limit: int | None) -> None:
        """Check the steps of the solution at `where`."""
        for number, step in enumerate(steps):
            self.step((*where, number), step)
        if limit is not None:
            self.length(where, sum(isinstance(step, Act) for step in steps), limit)

    def length(self, where: Where, actions: int, limit: int) -> None:
        """Check the number of actions of a solution."""
        if actions > limit:
            message = (
                f"{'.'.join(map(str, where))} takes {actions} actions; limits.steps allows {limit}."
            )
            self.errors.append(self._source.error(where, message))

    def step(self, where: Where, step: OracleStep) -> None:
        """Check one step of a solution."""
        match step:
            case WaitFor(wait_for=check):
                self.check((*where, "wait_for"), check)
            case Act(on=on, do=do, args=args, at=at):
                placed = {} if at is None else self._placed(where, on, do)
                self.call(where, on, do, {**placed, **args}, tools=self._vocabulary.actions)

    def press(self, where: Where, press: Press) -> None:
        """Check role and names of keys of an entry of ``press_before_judging``."""
        tools = self._vocabulary.actions
        self.call(where, press.on, "key", {"keys": list(press.keys)}, tools=tools, key="on")

    def _placed(self, where: Where, role: str | None, name: str) -> dict[str, Json]:
        """Return examples of the coordinates that the key `at` determines."""
        place = place_of(self._roles, role)
        tool = (self._vocabulary.actions or {}).get(place or "", {}).get(name)
        if tool is None:
            return {}
        if not (points := points_of(tool)):
            message = f"{name} takes no point on the screen, which an element could determine."
            self.errors.append(self._source.error((*where, "at"), message))
            return {}
        return dict.fromkeys(points[0], 0)

    def check(self, where: Where, check: Check) -> None:
        """Check a call of an evaluator."""
        tools = self._vocabulary.evaluators
        self.call(where, check.on, check.check, check.args, tools=tools, key="check")

    def _files(self, where: Where, tool: Tool, args: Mapping[str, Json]) -> None:
        """Check that the files in the suite's folder that a call names exist."""
        for _, name in named_files(tool, args):
            try:
                locate(self._vocabulary.folder, name)
            except SpecError as exc:
                self.errors.append(self._source.error((*where, "with"), exc.brief))

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
        if self._has_placeholders and next(placeholders([role, name]), None):
            return
        place = place_of(self._roles, role)
        if place is None:
            self.known((*where, "on"), "role", str(role), [*self._roles, SESSION])
        if tools is None or place is None:
            return
        offered = tools.get(place, {})
        kind = "evaluator" if key == "check" else "operation"
        if not self.known((*where, key), f"{kind} for {place}", name, offered):
            return
        if self._has_placeholders and next(placeholders(dict(args)), None):
            return
        self._files(where, offered[name], args)
        for fault in _without_phantoms(offered[name].faults(args)):
            error = self._source.error(
                (*where, "with", fault.argument),
                f"wrong arguments for {name}: {fault.message}",
                resolution=offered[name].usage,
            )
            self.errors.append(error)
