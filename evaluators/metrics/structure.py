"""Structure of a task's subtasks for metrics: their order, applications and completion."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

import networkx as nx

from evaluators.model.dag import build_part_graph, owners

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evaluators.model.task import Task


@dataclass(frozen=True)
class Structure:
    """Subtasks, edges and applications of one task.

    A node that belongs to no subtask is a subtask of its own, as is every node of a task written as
    a graph. Keep nodes are not included.

    Attributes:
        graph: edges from predecessor to successor, without a cycle, at least one subtask.
        apps: application of each subtask; empty if the task names none.
        members: nodes of each subtask; by default one node with the same id.
    """

    graph: nx.DiGraph[str]
    apps: Mapping[str, str]
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the structure of a task.

        Raises:
            GraphError: see `evaluators.model.dag.build_part_graph`.
        """
        graph = build_part_graph(task)
        owner_of = owners(task)
        apps = dict.fromkeys(graph.nodes, "")
        apps |= {owner_of[node.id]: node.app for node in task.credit_nodes}
        apps |= {part.id: part.app for part in task.parts}
        members: dict[str, set[str]] = {}
        for node, owner in owner_of.items():
            members.setdefault(owner, set()).add(node)
        return cls(graph, apps, {name: frozenset(nodes) for name, nodes in members.items()})

    @property
    def has_apps(self) -> bool:
        """Whether the application of every subtask is known."""
        return all(self.apps.values())

    def completed(self, nodes: Collection[str]) -> frozenset[str]:
        """Return the subtasks whose nodes are all in `nodes`."""
        known = frozenset(nodes)
        return frozenset(name for name in self.apps if self._members_of(name) <= known)

    def completions(self, steps: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        """Return the newly completed subtasks of each step.

        Args:
            steps: newly met nodes of each step.
        """
        met: set[str] = set()
        done: frozenset[str] = frozenset()
        completions = []
        for step in steps:
            met.update(step)
            now = self.completed(met)
            completions.append(tuple(name for name in self.apps if name in now - done))
            done = now
        return completions

    def _members_of(self, name: str) -> frozenset[str]:
        return self.members.get(name, frozenset({name}))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All subtasks in topological order, ties in the order of the task."""
        rank = {name: number for number, name in enumerate(self.apps)}
        return tuple(nx.lexicographical_topological_sort(self.graph, key=rank.__getitem__))

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Number of subtasks on the longest path from a source to each subtask, including itself."""
        depths: dict[str, int] = {}
        for name in self.order:
            before = (depths[other] for other in self.graph.predecessors(name))
            depths[name] = 1 + max(before, default=0)
        return depths

    def part(self, names: Collection[str]) -> Structure:
        """Return the induced subgraph of some of the subtasks.

        The order between two subtasks that depends on omitted ones is lost. Nothing is lost if the
        set contains all predecessors of each of its subtasks, which is always true for what an
        agent has done.
        """
        kept = [name for name in self.apps if name in names]
        return Structure(
            nx.DiGraph(self.graph.subgraph(kept)),
            {name: self.apps[name] for name in kept},
            {name: self._members_of(name) for name in kept},
        )
