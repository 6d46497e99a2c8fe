"""The state of a trial's graph, as stored in the event log."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from evaluators.graph.outcome import Cause  # noqa: TC001  (pydantic reads it)


class NodeState(StrEnum):
    """The state of a node."""

    WAITING = "waiting"
    """A predecessor is not met."""
    ACTIVE = "active"
    """Not met when last evaluated, or not evaluated yet."""
    MET = "met"
    UNDONE = "undone"
    """A hold node that was met but, at the end, is unmet or can no longer be verified."""
    INCONCLUSIVE = "inconclusive"
    """The last evaluation could not decide."""
    KEPT = "kept"
    """A keep node that is not broken."""
    BROKEN = "broken"
    """A keep node that is not met at the end."""


class NodeRecord(BaseModel):
    """One node.

    Attributes:
        state: its state.
        met_at_step: the step that first met it, from 1; None if it was never met.
        reason: why it is inconclusive or can no longer be verified; empty otherwise.
        cause: why an inconclusive node could not be decided.
    """

    model_config = ConfigDict(extra="forbid")

    state: NodeState
    met_at_step: int | None
    reason: str
    cause: Cause | None = None


class GraphRecord(BaseModel):
    """The whole graph.

    Attributes:
        steps: number of evaluated steps.
        finished: whether the final check was done.
        nodes: records of nodes, by id.
        ended: reason by role, for machines that the agent stopped.
        hindered: reason by role, for machines where the agent blocks evaluators.
    """

    model_config = ConfigDict(extra="forbid")

    steps: int
    finished: bool
    nodes: dict[str, NodeRecord]
    ended: dict[str, str] = Field(default_factory=dict)
    hindered: dict[str, str] = Field(default_factory=dict)
