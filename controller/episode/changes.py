"""Changes on a machine, as data."""

from __future__ import annotations

from dataclasses import dataclass

from provisioning.protocols import StateKind  # noqa: TC001 - read by pydantic

MAX_LISTED = 200
"""Maximum number of changes listed in a result; the rest are only counted."""


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A difference from the state when the agent started.

    Attributes:
        role: role of the machine.
        kind: file, setting, process or record.
        name: path, key or name.
        change: ``added``, ``removed`` or ``changed``.
    """

    role: str
    kind: StateKind
    name: str
    change: str


@dataclass(frozen=True, slots=True)
class SideEffects:
    """The changes of a trial, except those that its task allows and those without an agent.

    Attributes:
        count: number of all changes.
        changes: the first `MAX_LISTED`, in order.
        has_baseline: whether a no-op trial of the task provided a baseline.
    """

    count: int
    changes: tuple[Change, ...]
    has_baseline: bool
