"""Coverage rate: the proportion of the task that is done, with higher weights for deeper subtasks.

A subtask's weight is its depth d (1 for a source), because deeper subtasks have more predecessors:

    coverage = sum of d_i over the completed subtasks / sum of d_i over all subtasks

and with a progress p_i from 0 to 1 for each subtask:

    coverage = sum of d_i p_i / sum of d_i

The range is 0 to 1, with 1 exactly if everything is done. For a task without edges whose subtasks
are single nodes it equals CRAB's completion ratio. A subtask whose predecessor was undone keeps its
own credit, like nodes in the graph.

Source: Bu et al., What Limits Virtual Agent Application? OmniBench: A Scalable Multi-Dimensional
Benchmark for Essential Virtual Agent Capabilities, 2025, section 4.1. The paper divides by the
sum of the normalised weights, which is 1. It does not define the depth of a source; it is 1 here,
because with 0 a source would have no weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evaluators.metrics.structure import Structure


def coverage_rate(structure: Structure, completed: Collection[str]) -> float:
    """Return the coverage of the completed subtasks.

    Raises:
        UnknownNameError: a subtask does not belong to this task.
    """
    return coverage_of_progress(structure, dict.fromkeys(completed, 1.0))


def coverage_of_progress(structure: Structure, progress: Mapping[str, float]) -> float:
    """Return the coverage of subtasks that may be partially done.

    Args:
        structure: structure of the task.
        progress: progress of each subtask, from 0 to 1; 0 for subtasks left out.

    Raises:
        UnknownNameError: a subtask does not belong to this task.
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
