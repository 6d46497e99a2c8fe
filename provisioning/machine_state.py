"""The states of a machine, and the table of what may follow what."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Mapping


class MachineState(StrEnum):
    """Where a machine is in its life, as its record says; metrics count machines by it."""

    STARTING = "starting"
    """It is being made, or woken; useless if whoever does that is gone."""
    WAITING = "waiting"
    """A fork that stands by."""
    READY = "ready"
    """Saved, idle, and rewound when it is next lent."""
    LEASED = "leased"
    """Lent to somebody."""
    KEPT = "kept"
    """A fork that was made by hand: neither lent nor swept."""
    STOPPED = "stopped"
    """Saved, and not running."""


TRANSITIONS: Mapping[MachineState, frozenset[MachineState]] = {
    MachineState.STARTING: frozenset(
        {
            MachineState.WAITING,
            MachineState.READY,
            MachineState.LEASED,
            MachineState.KEPT,
            MachineState.STOPPED,
        }
    ),
    MachineState.WAITING: frozenset({MachineState.STARTING, MachineState.STOPPED}),
    MachineState.READY: frozenset({MachineState.LEASED, MachineState.STOPPED}),
    MachineState.LEASED: frozenset({MachineState.READY, MachineState.STOPPED}),
    MachineState.KEPT: frozenset({MachineState.STOPPED}),
    MachineState.STOPPED: frozenset({MachineState.READY, MachineState.LEASED}),
}
"""What each state may be followed by, beside itself. From every state a machine can be removed."""


def require_transition(machine_id: str, old: MachineState, new: MachineState) -> None:
    """Check that one state may follow another; a state may always follow itself.

    Raises:
        MachineError: it may not.
    """
    if new is not old and new not in TRANSITIONS[old]:
        raise MachineError(
            f"{machine_id} is {old.value} and cannot become {new.value}.",
            details=f"From {old.value}: {', '.join(sorted(TRANSITIONS[old]))}.",
        )
