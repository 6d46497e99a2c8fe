"""Five dimensions of task complexity, and their levels.

=============  =============================================  ======  =======  ======
dimension      measure                                        easy    medium   hard
=============  =============================================  ======  =======  ======
dependency     edges of the transitive reduction              0-1     2-3      4 on
instruction    subtasks                                       0-2     3-4      5 on
knowledge      categories of the applications                 0-1     2-3      4 on
hierarchy      subtasks on the longest path (depth)           0-2     3-4      5 on
branch         most subtasks of which none is before another  0-2     3-4      5 on
=============  =============================================  ======  =======  ======

Definitions that the paper leaves open: an edge implied by other edges (a to c in addition to a to b
to c) does not count; depth counts subtasks, so a source has depth 1; width is the largest
antichain, computed with Dilworth's theorem as the number of subtasks minus a maximum matching in
the transitive closure, and not the largest level, which can be smaller. Graphs of several
components are allowed.

Knowledge is measured only if the application of every subtask is known.

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
    """Level of a dimension."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Dimension(StrEnum):
    """Dimension of complexity."""

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
"""Largest measure of the levels easy and medium."""


@dataclass(frozen=True, slots=True)
class Complexity:
    """The measures of a task.

    Attributes:
        measures: counts by dimension; without knowledge if applications are unknown.
    """

    measures: Mapping[Dimension, int]

    def level(self, dimension: Dimension) -> Level | None:
        """Return the level in a dimension; None if it was not measured."""
        if dimension not in self.measures:
            return None
        easy, medium = LARGEST[dimension]
        measure = self.measures[dimension]
        if measure <= easy:
            return Level.EASY
        return Level.MEDIUM if measure <= medium else Level.HARD

    def to_dict(self) -> dict[str, Json]:
        """Return measure and level of each dimension as JSON; null if not measured."""
        rows: dict[str, Json] = {}
        for dimension in Dimension:
            level = self.level(dimension)
            rows[dimension.value] = (
                None
                if level is None
                else {"measure": self.measures[dimension], "level": level.value}
            )
        return rows


def measure_complexity(structure: Structure, categories: Mapping[str, str]) -> Complexity:
    """Measure a task in all five dimensions.

    Args:
        structure: structure of the task.
        categories: category by application, such as ``Office`` for ``LibreOffice Calc``.
    """
    measures = {
        Dimension.DEPENDENCY: nx.transitive_reduction(structure.graph).number_of_edges(),
        Dimension.INSTRUCTION: len(structure.order),
        Dimension.HIERARCHY: max(structure.depths.values()),
        Dimension.BRANCH: largest_antichain(structure),
    }
    if structure.has_apps:
        used = {categories.get(app, app) for app in structure.apps.values()}
        measures[Dimension.KNOWLEDGE] = len(used)
    return Complexity(measures)


def largest_antichain(structure: Structure) -> int:
    """Return the size of the largest set of subtasks of which none precedes another, directly or not."""
    closure = nx.transitive_closure_dag(structure.graph)
    pairs: nx.Graph[tuple[str, str]] = nx.Graph()
    left = [(name, "before") for name in structure.order]
    pairs.add_nodes_from(left)
    pairs.add_edges_from(((node, "before"), (later, "after")) for node, later in closure.edges)
    matched = nx.bipartite.hopcroft_karp_matching(pairs, left)
    return len(structure.order) - len(matched) // 2
