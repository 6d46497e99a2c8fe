"""The state of a trial's graph as the event log holds it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from evaluators.graph.outcome import Cause  # noqa: TC001  (pydantic reads it)


class NodeState(StrEnum):
    """The state of a node."""

    WAITING = "waiting"
    """Some predecessor is not met."""
    ACTIVE = "active"
    """Not met when last evaluated, or not evaluated yet."""
    MET = "met"
    UNDONE = "undone"
    """A hold node that was met and, at the end, is not or can no longer be verified."""
    INCONCLUSIVE = "inconclusive"
    """Its evaluator could not decide when last asked."""
    KEPT = "kept"
    """A keep node that was not found broken."""
    BROKEN = "broken"
    """A keep node that is not met at the end."""


class NodeRecord(BaseModel):
    """One node.

    Attributes:
        state: of `NodeState`.
        met_at_step: the step that first met it, from 1; None for a node never met.
        reason: why it is inconclusive or can no longer be verified; empty otherwise.
        cause: who is responsible for an inconclusive node.
    """

    model_config = ConfigDict(extra="forbid")

    state: NodeState
    met_at_step: int | None
    reason: str
    cause: Cause | None = None


class GraphRecord(BaseModel):
    """The whole graph.

    Attributes:
        steps: evaluated so far.
        finished: whether the final check is done.
        nodes: by id.
        ended: reason by role, for machines that the agent ended.
        hindered: reason by role, for machines where the agent keeps evaluators from answering.
    """

    model_config = ConfigDict(extra="forbid")

    steps: int
    finished: bool
    nodes: dict[str, NodeRecord]
    ended: dict[str, str] = Field(default_factory=dict)
    hindered: dict[str, str] = Field(default_factory=dict)
