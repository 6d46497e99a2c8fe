"""Measure how long the exact CS_max of a graph takes (logical consistency, OmniBench)."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import networkx as nx

from appliance.bench.rows import Row
from evaluators.metrics.consistency import largest_coherency
from evaluators.metrics.structure import Structure
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Generator

    from foundation.clock import Clock

NODES = 40
TARGET_S = 0.1
_KINDS = {
    "random": "each node after up to three earlier ones, in one of four applications",
    "ten chains": "ten chains of four nodes, in one of twelve applications",
    "loose": "no edges, in one of four applications",
}
_MOST_PREDECESSORS = 3
_CHAIN = 4


def make_structure(kind: str, seed: int) -> Structure:
    """Create a graph of 40 nodes from a seed: ``random``, ``ten chains`` or ``loose``."""
    chance = random.Random(f"{kind} {seed}")  # noqa: S311 - no secret
    names = [f"n{number}" for number in range(NODES)]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for number, name in enumerate(names):
        before: list[str] = []
        if kind == "random" and number:
            before = chance.sample(
                names[:number], chance.randint(0, min(number, _MOST_PREDECESSORS))
            )
        elif kind == "ten chains" and number % _CHAIN:
            before = [names[number - 1]]
        graph.add_edges_from((predecessor, name) for predecessor in before)
    apps = 12 if kind == "ten chains" else 4
    return Structure(graph, {name: str(chance.randrange(apps)) for name in names})


def bench_consistency(count: int, *, clock: Clock = SYSTEM_CLOCK) -> Generator[Row]:
    """Compute CS_max of `count` graphs of each kind.

    Args:
        count: graphs per kind, each with its own seed.
        clock: for measuring.
    """
    for kind, description in _KINDS.items():
        row = Row(f"CS_max, {NODES} nodes, {kind}", description)
        yield row
        for seed in range(count):
            structure = make_structure(kind, seed)
            row.measure(lambda structure=structure: largest_coherency(structure), clock)  # type: ignore[misc]
        row.extra["max_s"] = max(row.samples_s)
