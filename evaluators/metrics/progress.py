"""Coverage rate: the share of the task that is done, deep subtasks weighing more.

A subtask's weight is its depth d (1 for a source), as more must be done before it:

    coverage = sum of d_i over the completed subtasks / sum of d_i over all subtasks

and with a progress p_i from 0 to 1 for each subtask:

    coverage = sum of d_i p_i / sum of d_i

From 0 to 1; 1 exactly when all is done. On a task without edges whose subtasks are single nodes it
is CRAB's completion ratio. A subtask whose predecessor was undone keeps its own credit here, as
nodes do in the graph.

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


def coverage_rate(structure: Structure, completed: Collection[str]) -> float:
    """Return the coverage of the completed subtasks.

    Raises:
        UnknownNameError: a subtask is not of this task.
    """
    return coverage_of_progress(structure, dict.fromkeys(completed, 1.0))


def coverage_of_progress(structure: Structure, progress: Mapping[str, float]) -> float:
    """Return the coverage where subtasks may be done in part.

    Args:
        structure: of the task.
        progress: from 0 to 1 by subtask; subtasks left out have 0.

    Raises:
        UnknownNameError: a subtask is not of this task.
        ValueError: a progress is out of range.
    """
    depths = structure.depths
    for name, value in progress.items():
        if name not in depths:
            raise UnknownNameError.of("subtask", name, depths)
        if not 0 <= value <= 1:
            raise ValueError(f"progress must be from 0 to 1, got {value} for {name}")
    done = math.fsum(depths[name] * value for name, value in progress.items())
    return done / sum(depths.values())
