"""The allowed transitions of a machine's state."""

from __future__ import annotations

import pytest

from foundation.errors import MachineError
from provisioning.machine_state import TRANSITIONS, MachineState, require_transition


def test_every_state_has_a_row_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(MachineState)
    reached = {MachineState.STARTING}.union(*TRANSITIONS.values())
    assert reached == set(MachineState)


def test_state_may_follow_itself() -> None:
    for state in MachineState:
        require_transition("desktop-1", state, state)


def test_standby_fork_is_not_leased_before_it_is_woken() -> None:
    with pytest.raises(MachineError, match="waiting and cannot become leased") as caught:
        require_transition("desktop-1", MachineState.WAITING, MachineState.LEASED)
    assert "starting" in caught.value.details


def test_manually_made_machine_is_never_leased() -> None:
    for state in (MachineState.LEASED, MachineState.READY, MachineState.WAITING):
        with pytest.raises(MachineError):
            require_transition("desktop-1", MachineState.KEPT, state)
