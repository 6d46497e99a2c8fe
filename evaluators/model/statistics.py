"""The figures that a suite declares about itself in ``suite.yaml``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluators.model.platforms import Platform  # noqa: TC001  (pydantic reads it)
from foundation.strict import Name, Strict

_Count = Annotated[int, Field(ge=0)]


class Histogram(Strict):
    """Expected number of tasks by their number of nodes.

    Attributes:
        tasks: how many tasks have one node, two nodes, and so on; none have more.
        within: largest deviation of each number of tasks.
    """

    tasks: Annotated[tuple[_Count, ...], Field(strict=False, min_length=1)]
    within: int = Field(default=0, ge=0)


class Mean(Strict):
    """An expected mean.

    Attributes:
        mean: the expected value.
        within: largest deviation.
    """

    mean: float = Field(ge=0)
    within: float = Field(default=0.0, ge=0)


class Statistics(Strict):
    """The key ``statistics`` of ``suite.yaml``: figures that the suite must have.

    Counts are exact. What is not declared is not checked.

    Attributes:
        source: where the figures come from, such as a paper and its table.
        tasks: tasks.
        platforms: tasks by platform.
        composed: tasks composed of subtasks.
        hand_made: tasks written as a graph.
        subtasks: definitions of subtasks by platform.
        nodes: nodes that earn credit, of all tasks.
        histogram: tasks by number of such nodes.
        applications: applications per task.
        tags: tasks by tag.
    """

    source: str = ""
    tasks: _Count | None = None
    platforms: dict[Platform, _Count] = Field(default_factory=dict)
    composed: _Count | None = None
    hand_made: _Count | None = None
    subtasks: dict[Platform, _Count] = Field(default_factory=dict)
    nodes: _Count | None = None
    histogram: Histogram | None = None
    applications: Mean | None = None
    tags: dict[Name, _Count] = Field(default_factory=dict)
