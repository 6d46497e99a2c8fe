"""A task's graph as metrics see it: what comes before what, and which application it is in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import networkx as nx

from evaluators.model.dag import build_graph
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evaluators.model.node import Node


@dataclass(frozen=True)
class Structure:
    """Nodes, edges and applications of one graph.

    Attributes:
        graph: edges from predecessor to successor, without a cycle, at least one node.
        apps: application of each node; where a task names none it is the role, so that on a task
            across devices what counts is the change of device.
    """

    graph: nx.DiGraph[str]
    apps: Mapping[str, str]

    @classmethod
    def of(cls, nodes: Sequence[Node]) -> Self:
        """Return the graph of a task's nodes; keep nodes are no part of it.

        Raises:
            GraphError: see `evaluators.graph.evaluator.build_graph`.
        """
        build_graph(nodes)
        earning = [node for node in nodes if node.mode is not Mode.KEEP]
        return cls(build_graph(earning), {node.id: node.app or node.on for node in earning})

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All nodes, none before one that it comes after; ties as the task has them."""
        rank = {name: number for number, name in enumerate(self.apps)}
        found = nx.lexicographical_topological_sort(self.graph, key=rank.__getitem__)
        return tuple(found)

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Number of nodes on the longest way from a source to each node, itself counted: from 1."""
        depths: dict[str, int] = {}
        for name in self.order:
            before = (depths[one] for one in self.graph.predecessors(name))
            depths[name] = 1 + max(before, default=0)
        return depths

    def part(self, names: Collection[str]) -> Structure:
        """Give the graph that some of the nodes span.

        The order that nodes left out put between two others is lost; a set that holds with each
        node all that it comes after, as what an agent has met always does, loses none.
        """
        kept = [name for name in self.apps if name in names]
        return Structure(
            nx.DiGraph(self.graph.subgraph(kept)), {name: self.apps[name] for name in kept}
        )
