"""Steps of a task's reference solution, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Discriminator, Field, JsonValue, Tag, model_validator
from pydantic_core import PydanticCustomError

from evaluators.model.base import Strict
from evaluators.model.node import Check  # noqa: TC001  (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Element


class Target(Strict):
    """An element of the UI to act on, as a user would name it.

    Attributes:
        name: exact accessible name, text or description; None is any.
        role: exact role or Android class; None is any.
        resource_id: exact Android resource id, with or without its ``package:id/``; None is any.
        index: which of the elements that match, in document order, from 0.
    """

    name: str | None = None
    role: str | None = None
    resource_id: str | None = None
    index: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _require_a_criterion(self) -> Self:
        if self.name is None and self.role is None and self.resource_id is None:
            raise PydanticCustomError(
                "empty_target", "Name at least one of name, role and resource_id."
            )
        return self

    def pick(self, elements: Sequence[Element]) -> Element | None:
        """Return the element meant, or None when it is not there (yet)."""
        matching = [element for element in elements if self._matches(element)]
        return matching[self.index] if self.index < len(matching) else None

    def _matches(self, element: Element) -> bool:
        wanted = self.resource_id
        return (
            (self.name is None or element.name == self.name)
            and (self.role is None or element.role == self.role)
            and (
                wanted is None
                or element.resource_id == wanted
                or element.resource_id.endswith(f":id/{wanted}")
            )
        )


class Act(Strict):
    """A step of the reference solution: one of the agent's own actions.

    Attributes:
        on: the role acted on; None for session actions (``complete``, ``submit``, ``wait``).
        do: name of the action.
        args: its arguments (``with``).
        at: the element whose centre gives the arguments ``x`` and ``y``.
        seconds: how long the player of the oracle asks the tree again until `at` is there; that
            takes no step of the limit. Not there in the end: an `AgentError`.
    """

    on: str | None = None
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")
    at: Target | None = None
    seconds: float = Field(default=20.0, gt=0, le=600)


class WaitFor(Strict):
    """A step of the reference solution that only waits: a slow app must come up first.

    It is no action and takes no step; its time counts. The player of the oracle runs the check
    through the trial's own runner every half second (``runners[wait_for.on].evaluate``) until it
    is met; not met in `seconds`: an `AgentError`. Agents other than the oracle have no such step.
    """

    wait_for: Check
    seconds: float = Field(default=30.0, gt=0, le=600)


def _which_step(data: Any) -> str:  # noqa: ANN401
    if isinstance(data, WaitFor) or (isinstance(data, dict) and "wait_for" in data):
        return "waits"
    return "acts"


OracleStep = Annotated[
    Annotated[Act, Tag("acts")] | Annotated[WaitFor, Tag("waits")], Discriminator(_which_step)
]
"""`Act` or `WaitFor`; tell them apart with ``match``."""
