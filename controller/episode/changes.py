"""What changed on a machine, as data."""

from __future__ import annotations

from dataclasses import dataclass

from provisioning.protocols import StateKind  # noqa: TC001 - read by pydantic

MAX_LISTED = 200
"""Changes that a result names; the rest are only counted."""


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One thing that is not as it was when the agent began.

    Attributes:
        role: of the machine.
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
    """What a trial changed, less what its task lets it change and what changes by itself.

    Attributes:
        count: all of them.
        changes: the first `MAX_LISTED`, in order.
        has_baseline: whether a no-op trial of the task told what changes by itself.
    """

    count: int
    changes: tuple[Change, ...]
    has_baseline: bool
