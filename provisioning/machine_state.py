"""The states of a machine and their allowed transitions."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Mapping


class MachineState(StrEnum):
    """The state in a machine's record; metrics count machines by it."""

    STARTING = "starting"
    """Being made or woken; unusable if the process that does so is gone."""
    WAITING = "waiting"
    """A standby fork."""
    READY = "ready"
    """Saved and idle; rewound when it is next leased."""
    LEASED = "leased"
    """Held by a lease."""
    KEPT = "kept"
    """A manually made fork: neither leased nor swept."""
    STOPPED = "stopped"
    """Saved and not running."""


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
"""States that may follow each state, in addition to itself. A machine can be removed in any state."""


def require_transition(machine_id: str, old: MachineState, new: MachineState) -> None:
    """Check that a machine may change from one state to another, or stay in the same state.

    Raises:
        MachineError: the transition is not allowed.
    """
    if new is not old and new not in TRANSITIONS[old]:
        raise MachineError(
            f"{machine_id} is {old.value} and cannot become {new.value}.",
            details=f"From {old.value}: {', '.join(sorted(TRANSITIONS[old]))}.",
        )
