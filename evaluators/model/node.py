"""Nodes of a task's graph and their checks, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from evaluators.model.base import Name, Strict, is_empty


class Mode(StrEnum):
    """When a node counts.

    ``once`` latches: something happened (an app was opened). ``hold`` is a state that must still
    be there when the trial ends. ``keep`` is an invariant: true at the start and at the end; it
    earns no credit, has no edges, and fails the trial when it is broken.
    """

    ONCE = "once"
    HOLD = "hold"
    KEEP = "keep"


class Check(Strict):
    """An evaluator, where it looks, and its arguments (written ``with`` in task files)."""

    on: str
    check: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


class Node(Check):
    """A node of a task's graph; active once all nodes of `after` are met.

    Attributes:
        id: its name in the graph.
        mode: when it counts.
        after: ids of the nodes that must be met before it counts; none for keep nodes.
        alternatives: further checks (written ``or`` in task files), on any role; one of all is
            enough.
        app: the application worked in, for metrics about switching; the role when empty.
        hint: what an agent may be told while the node is unmet; must not give the answer away.
    """

    id: Name
    mode: Annotated[Mode, Field(strict=False)] = Mode.HOLD
    after: tuple[str, ...] = Field(default=(), strict=False)
    # Left out of dumps when not given: digests of suites from before these keys stay as they were.
    alternatives: tuple[Check, ...] = Field(
        default=(), alias="or", strict=False, exclude_if=is_empty
    )
    app: str = Field(default="", exclude_if=is_empty)
    hint: str = Field(default="", exclude_if=is_empty)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of which one must be met; the node's own comes first."""
        return (self, *self.alternatives)
