"""Graphs for the tests of metrics."""

from __future__ import annotations

import networkx as nx
from hypothesis import strategies as st

from evaluators.metrics.structure import Structure


def structure(*edges: str, **apps: str) -> Structure:
    """Create a graph; edges are written ``ab`` (b comes after a), nodes are single letters."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(apps)
    graph.add_edges_from((edge[0], edge[1]) for edge in edges)
    return Structure(graph, apps)


@st.composite
def structures(draw: st.DrawFn, most: int = 7) -> Structure:
    """Draw any DAG of up to `most` nodes in any order, in up to four applications."""
    names = "abcdefghij"[: draw(st.integers(1, most))]
    pairs = [earlier + other for i, other in enumerate(names) for earlier in names[:i]]
    edges = [pair for pair in pairs if draw(st.booleans())]
    order = draw(st.permutations(names))
    return structure(*edges, **{name: draw(st.sampled_from("WXYZ")) for name in order})
