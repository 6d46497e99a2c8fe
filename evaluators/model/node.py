"""Nodes of a task's graph and their checks, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from foundation.strict import Name, Strict, is_empty


class Mode(StrEnum):
    """When a node counts.

    ``once`` latches: an event occurred (an app was opened). ``hold`` is a state that must still
    hold when the trial ends. ``keep`` is an invariant: true at the start and at the end; it earns
    no credit, has no edges, and fails the trial if it is broken.
    """

    ONCE = "once"
    HOLD = "hold"
    KEEP = "keep"


class Check(Strict):
    """An evaluator, the role it checks, and its arguments (written ``with`` in task files)."""

    on: str
    check: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


class Node(Check):
    """A node of a task's graph; active once all nodes of `after` are met.

    Attributes:
        id: its name in the graph.
        mode: when it counts.
        after: ids of the nodes that must be met before it counts; not allowed for keep nodes.
        conjuncts: further checks (written ``and`` in task files), on any role, which must be met at
            the same time as the node's own.
        alternatives: further checks (written ``or`` in task files), on any role; one of them is
            enough if the node's own, or one of `conjuncts`, is not met.
        weight: the node's weight in the weighted completion ratio, which is reported in addition to
            CR; not allowed for keep nodes.
        app: the application used. Metrics that compare applications (knowledge, logical
            consistency) are undefined for a task in which a subtask has none.
        hint: feedback that an agent may get while the node is unmet; must not reveal the answer.
    """

    id: Name
    mode: Annotated[Mode, Field(strict=False)] = Mode.HOLD
    after: tuple[str, ...] = Field(default=(), strict=False)
    # Omitted from dumps if not given, so that digests of older suites do not change.
    alternatives: tuple[Check, ...] = Field(
        default=(), alias="or", strict=False, exclude_if=is_empty
    )
    conjuncts: tuple[Check, ...] = Field(default=(), alias="and", strict=False, exclude_if=is_empty)
    weight: float = Field(default=1.0, gt=0, exclude_if=lambda value: value == 1)
    app: str = Field(default="", exclude_if=is_empty)
    hint: str = Field(default="", exclude_if=is_empty)

    @model_validator(mode="after")
    def _require_credit_to_weigh(self) -> Self:
        if self.mode is Mode.KEEP and self.weight != 1:
            raise PydanticCustomError("weight", "A keep node earns no credit and has no weight.")
        return self

    @property
    def together(self) -> tuple[Check, ...]:
        """The checks that must be met at the same time; the node's own comes first."""
        return (self, *self.conjuncts)

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks: those that must be met together, then the alternatives to them."""
        return (*self.together, *self.alternatives)


class RepeatedNode(Node):
    """A node of a subtask, which an input may repeat.

    Attributes:
        each: name of an input of type ``list``; there is one node for each of its items, with
            ``${item}`` and ``${number}`` in its arguments; their ids end with the number.
    """

    each: str = Field(default="", exclude_if=is_empty)
