"""Steps of a task's setup and reference solution, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Discriminator, Field, JsonValue, Tag, model_validator
from pydantic_core import PydanticCustomError

from evaluators.model.node import Check  # noqa: TC001  (pydantic reads it)
from foundation.strict import Strict, is_empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Element


class Target(Strict):
    """An element of the user interface to act on, described as a user would.

    Attributes:
        name: exact accessible name, text or description; None matches any.
        role: exact role or Android class; None matches any.
        resource_id: exact Android resource id, with or without its ``package:id/``; None matches
            any.
        index: index among the matching elements, from 0: those in open menus and dialogs, then in the
            active window, then others, each in document order.
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
        """Return the matching element, or None if there is none (yet)."""
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
        seconds: how long the oracle polls the tree for `at`, which uses no step of the limit; after
            that, an `AgentError`.
    """

    on: str | None = None
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")
    at: Target | None = None
    seconds: float = Field(default=20.0, gt=0, le=600)


class WaitFor(Strict):
    """A step of the reference solution that only waits, for example for a slow app to start.

    The check runs through the trial's own runner every half second
    (``runners[wait_for.on].evaluate``) until it is met. In a reference solution it is not an action
    and uses no step of the limit; its time counts; if it is not met within `seconds`, that is an
    `AgentError`. In a setup, where a busy host stretches `seconds`, it is a `task_error`.
    """

    wait_for: Check
    seconds: float = Field(default=30.0, gt=0, le=600)


def _which_step(data: Any) -> str:  # noqa: ANN401
    if isinstance(data, WaitFor) or (isinstance(data, dict) and "wait_for" in data):
        return "waits"
    return "acts"


class SetupStep(Strict):
    """One setup operation, which runs before the agent's first observation."""

    on: str
    do: str
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")


OracleStep = Annotated[
    Annotated[Act, Tag("acts")] | Annotated[WaitFor, Tag("waits")], Discriminator(_which_step)
]
"""`Act` or `WaitFor`; distinguish them with ``match``."""
SetupEntry = Annotated[
    Annotated[SetupStep, Tag("acts")] | Annotated[WaitFor, Tag("waits")], Discriminator(_which_step)
]
"""`SetupStep` or `WaitFor`."""


class _Repeated(Strict):
    """Base of a subtask's entries, which an input may repeat.

    Attributes:
        each: name of an input of type ``list``; the entry is repeated for each of its items, with
            ``${item}`` and ``${number}``. Neighbours with the same `each` are repeated together.
    """

    each: str = Field(default="", exclude_if=is_empty)


class RepeatedAct(_Repeated, Act):
    """An `Act` of a subtask."""


class RepeatedWait(_Repeated, WaitFor):
    """A `WaitFor` of a subtask."""


class RepeatedSetup(_Repeated, SetupStep):
    """A `SetupStep` of a subtask."""


RepeatedStep = Annotated[
    Annotated[RepeatedAct, Tag("acts")] | Annotated[RepeatedWait, Tag("waits")],
    Discriminator(_which_step),
]
"""`OracleStep` of a subtask."""
RepeatedEntry = Annotated[
    Annotated[RepeatedSetup, Tag("acts")] | Annotated[RepeatedWait, Tag("waits")],
    Discriminator(_which_step),
]
"""`SetupEntry` of a subtask."""
