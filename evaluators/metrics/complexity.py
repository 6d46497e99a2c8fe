"""Five dimensions of how complex a task is, and their levels.

=============  =============================================  ======  =======  ======
dimension      measure                                        easy    medium   hard
=============  =============================================  ======  =======  ======
dependency     edges of the transitive reduction              0-1     2-3      4 on
instruction    nodes                                          0-2     3-4      5 on
knowledge      categories of the applications                 0-1     2-3      4 on
hierarchy      nodes on the longest way (depth)               0-2     3-4      5 on
branch         most nodes of which none comes before another  0-2     3-4      5 on
=============  =============================================  ======  =======  ======

What the paper leaves open is set so: an edge that other edges imply (a to c beside a to b to c)
does not count; depth counts nodes, a source having 1; width is the largest antichain, found by
Dilworth's theorem as nodes less a largest matching in the transitive closure, and not the largest
level, which can be smaller. Parts of a graph that hang together nowhere are allowed.

The measures are those of the graph they are given. OmniBench's nodes are sub-tasks; the nodes of a
task here are checks, of which a sub-task may have several.

Source: Bu et al., OmniBench, 2025, table 2; Dilworth, Annals of Mathematics 51 (1950), 161-166.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.metrics.structure import Structure
    from provisioning.protocols import Json


class Level(StrEnum):
    """How much of a dimension."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Dimension(StrEnum):
    """In which way a task is complex."""

    DEPENDENCY = "dependency"
    INSTRUCTION = "instruction"
    KNOWLEDGE = "knowledge"
    HIERARCHY = "hierarchy"
    BRANCH = "branch"


LARGEST: Mapping[Dimension, tuple[int, int]] = {
    Dimension.DEPENDENCY: (1, 3),
    Dimension.INSTRUCTION: (2, 4),
    Dimension.KNOWLEDGE: (1, 3),
    Dimension.HIERARCHY: (2, 4),
    Dimension.BRANCH: (2, 4),
}
"""Largest measure that is still easy, and still medium."""


@dataclass(frozen=True, slots=True)
class Complexity:
    """What a graph measures in each dimension.

    Attributes:
        measures: counts, by dimension.
    """

    measures: Mapping[Dimension, int]

    def level(self, dimension: Dimension) -> Level:
        """Give the level in a dimension."""
        easy, medium = LARGEST[dimension]
        measure = self.measures[dimension]
        if measure <= easy:
            return Level.EASY
        return Level.MEDIUM if measure <= medium else Level.HARD

    def to_dict(self) -> dict[str, Json]:
        """Give measure and level of each dimension as JSON."""
        return {
            dimension.value: {"measure": measure, "level": self.level(dimension).value}
            for dimension, measure in self.measures.items()
        }


def measure_complexity(
    structure: Structure, categories: Mapping[str, str] | None = None
) -> Complexity:
    """Measure a graph in all five dimensions.

    Args:
        structure: the graph.
        categories: of applications, such as ``Office`` of ``LibreOffice Calc``; an application that
            is not among them is a category of its own.
    """
    known = categories or {}
    return Complexity(
        {
            Dimension.DEPENDENCY: nx.transitive_reduction(structure.graph).number_of_edges(),
            Dimension.INSTRUCTION: len(structure.order),
            Dimension.KNOWLEDGE: len({known.get(app, app) for app in structure.apps.values()}),
            Dimension.HIERARCHY: max(structure.depths.values()),
            Dimension.BRANCH: largest_antichain(structure),
        }
    )


def largest_antichain(structure: Structure) -> int:
    """Give the most nodes of which none comes before another, directly or not."""
    closure = nx.transitive_closure_dag(structure.graph)
    pairs: nx.Graph[tuple[str, str]] = nx.Graph()
    left = [(name, "before") for name in structure.order]
    pairs.add_nodes_from(left)
    pairs.add_edges_from(((one, "before"), (other, "after")) for one, other in closure.edges)
    matched = nx.bipartite.hopcroft_karp_matching(pairs, left)
    return len(structure.order) - len(matched) // 2
