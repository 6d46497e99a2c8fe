"""Check that what a task names exists: roles, evaluators, actions, nodes, arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import GraphError, UnknownNameError
from evaluators.model.base import SESSION
from evaluators.model.dag import build_graph
from evaluators.model.oracle import Act, WaitFor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.model.node import Check
    from evaluators.model.task import Task
    from evaluators.model.yaml_source import Source, Where
    from provisioning.protocols import Json

_PLACED_BY_TARGET: Mapping[str, Json] = {"x": 0, "y": 0}


def check_task(source: Source, task: Task, vocabulary: Vocabulary) -> None:
    """Find names and arguments in a task that nothing carries.

    Args:
        source: the file the task was read from.
        task: what it says.
        vocabulary: what it may name.

    Raises:
        SpecError: the first mistake: file, line, what was expected, the nearest match.
    """
    speller = _Speller(source, task)
    for number, step in enumerate(task.setup):
        speller.call(("setup", number), step.on, step.do, step.args, tools=vocabulary.setups)
    ids = [node.id for node in task.graph]
    for number, node in enumerate(task.graph):
        if node.id in ids[:number]:
            raise source.error(("graph", number, "id"), f"another node is called {node.id!r}.")
        speller.check(("graph", number), node, vocabulary.evaluators)
        for place, other in enumerate(node.alternatives):
            speller.check(("graph", number, "or", place), other, vocabulary.evaluators)
        for place, name in enumerate(node.after):
            speller.known(
                ("graph", number, "after", place), "node", name, [n.id for n in task.graph]
            )
    try:
        build_graph(task.graph)
    except GraphError as exc:
        raise source.error(("graph",), exc.brief, exc.details, exc.resolution) from exc
    for number, oracle_step in enumerate(task.oracle):
        where: Where = ("oracle", number)
        match oracle_step:
            case WaitFor(wait_for=check):
                speller.check((*where, "wait_for"), check, vocabulary.evaluators)
            case Act(on=on, do=do, args=args, at=at):
                placed = args if at is None else {**_PLACED_BY_TARGET, **args}
                speller.call(where, on, do, placed, tools=vocabulary.actions)


class _Speller:
    """Looks names up and says where the wrong ones stand."""

    def __init__(self, source: Source, task: Task) -> None:
        self._source = source
        self._task = task

    def known(self, where: Where, what: str, name: str, names: list[str]) -> None:
        if name not in names:
            unknown = UnknownNameError.of(what, name, names)
            raise self._source.error(where, unknown.brief, resolution=unknown.resolution)

    def check(self, where: Where, check: Check, tools: Tools) -> None:
        self.call(where, check.on, check.check, check.args, tools=tools, key="check")

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
        place = self._task.place_of(role)
        if place is None:
            self.known((*where, "on"), "role", str(role), [*self._task.roles, SESSION])
        if tools is None or place is None:
            return
        offered = tools.get(place, {})
        kind = "evaluator" if key == "check" else "operation"
        self.known((*where, key), f"{kind} for {place}", name, list(offered))
        for fault in offered[name].faults(args):
            raise self._source.error(
                (*where, "with", fault.argument),
                f"wrong arguments for {name}: {fault.words}",
                resolution=offered[name].usage,
            )
