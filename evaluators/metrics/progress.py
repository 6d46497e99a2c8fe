"""Coverage rate: how far an agent came, deep nodes weighing more.

A node's weight is its depth d (1 for a source), as more must be done before it:

    coverage = sum of d_i over the nodes with credit / sum of d_i over all nodes

and with a progress p_i from 0 to 1 for each node instead of credit or none:

    coverage = sum of d_i p_i / sum of d_i

From 0 to 1; 1 exactly when all is done. On a graph without edges it is CRAB's completion ratio. A
node whose predecessor was undone keeps its own credit here as in the graph.

Source: Bu et al., What Limits Virtual Agent Application? OmniBench: A Scalable Multi-Dimensional
Benchmark for Essential Virtual Agent Capabilities, 2025, section 4.1. The paper divides by the
sum of the normalised weights, which is 1. It leaves the depth of a source open; from 0 a source
would weigh nothing, so it is 1 here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from appliance.base.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evaluators.metrics.structure import Structure


def coverage_rate(structure: Structure, met: Collection[str]) -> float:
    """Give the coverage of the nodes with credit.

    Raises:
        UnknownNameError: a node is not of this graph.
    """
    return coverage_of_progress(structure, dict.fromkeys(met, 1.0))


def coverage_of_progress(structure: Structure, progress: Mapping[str, float]) -> float:
    """Give the coverage where nodes may be done in part.

    Args:
        structure: the graph.
        progress: from 0 to 1 by node; nodes left out have 0.

    Raises:
        UnknownNameError: a node is not of this graph.
        ValueError: a progress is out of range.
    """
    depths = structure.depths
    for name, value in progress.items():
        if name not in depths:
            raise UnknownNameError.of("node", name, depths)
        if not 0 <= value <= 1:
            raise ValueError(f"the progress {value} of {name} cannot be")
    done = math.fsum(depths[name] * value for name, value in progress.items())
    return done / sum(depths.values())
