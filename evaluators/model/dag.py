"""The directed acyclic graph of a task's nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

from evaluators.model.node import Mode
from foundation.errors import GraphError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.model.node import Node
    from evaluators.model.task import Task


def build_graph(nodes: Sequence[Node]) -> nx.DiGraph[str]:
    """Build the graph of a task, with edges from predecessor to successor and nodes in the given order.

    Raises:
        GraphError: there are no nodes, duplicate ids, an unknown predecessor, a cycle (the message
            shows it), an edge at a keep node, or only keep nodes.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in nodes:
        if node.id in graph:
            raise GraphError(f"Two nodes of the graph are called {node.id!r}.")
        graph.add_node(node.id)
    if not nodes:
        raise GraphError("The graph has no nodes.", resolution="Add at least one node.")
    for node in nodes:
        for name in node.after:
            if name not in graph:
                unknown = UnknownNameError.of("node", name, graph.nodes)
                raise GraphError(
                    f"Node {node.id!r} comes after {name!r}, which does not exist.",
                    resolution=unknown.resolution,
                )
            graph.add_edge(name, node.id)
    _require_free_keeps(nodes, graph)
    _require_acyclic(graph)
    return graph


def owners(task: Task) -> dict[str, str]:
    """Return the subtask of each node that earns credit, in the task's order.

    A node that belongs to no part of the task is a subtask of its own, with the same id.
    """
    by_node = {name: part.id for part in task.parts for name in part.nodes}
    return {node.id: by_node.get(node.id, node.id) for node in task.credit_nodes}


def build_part_graph(task: Task) -> nx.DiGraph[str]:
    """Build the graph of a task's subtasks, with an edge if a node of one follows a node of another.

    Raises:
        GraphError: see `build_graph`; or the subtasks form a cycle.
    """
    build_graph(task.graph)
    owner_of = owners(task)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(dict.fromkeys(owner_of.values()))
    for node in task.credit_nodes:
        for name in node.after:
            if owner_of[name] != owner_of[node.id]:
                graph.add_edge(owner_of[name], owner_of[node.id])
    _require_acyclic(graph)
    return graph


def _require_acyclic(graph: nx.DiGraph[str]) -> None:
    if not nx.is_directed_acyclic_graph(graph):
        loop = [edge[0] for edge in nx.find_cycle(graph)]
        raise GraphError(
            f"The graph has a cycle: {' -> '.join([*loop, loop[0]])}.",
            resolution="Remove one of these edges (`after`).",
        )


def _require_free_keeps(nodes: Sequence[Node], graph: nx.DiGraph[str]) -> None:
    keeps = [node.id for node in nodes if node.mode is Mode.KEEP]
    for name in keeps:
        if graph.degree(name):
            raise GraphError(
                f"The keep node {name!r} has an edge.",
                resolution="An invariant holds from start to end; remove it from `after`.",
            )
    if len(keeps) == len(nodes):
        raise GraphError(
            "The graph has only keep nodes, so an agent that does nothing would pass.",
            resolution="Add a once or hold node.",
        )
