"""The allowed transitions of a machine's state."""

from __future__ import annotations

import pytest

from appliance.base.errors import MachineError
from provisioning.machine_state import TRANSITIONS, MachineState, require_transition


def test_every_state_has_a_row_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(MachineState)
    reached = {MachineState.STARTING}.union(*TRANSITIONS.values())
    assert reached == set(MachineState)


def test_a_state_may_follow_itself() -> None:
    for state in MachineState:
        require_transition("desktop-1", state, state)


def test_a_fork_that_stands_by_is_not_lent_without_being_woken() -> None:
    with pytest.raises(MachineError, match="waiting and cannot become leased") as caught:
        require_transition("desktop-1", MachineState.WAITING, MachineState.LEASED)
    assert "starting" in caught.value.details


def test_what_was_made_by_hand_is_never_lent() -> None:
    for state in (MachineState.LEASED, MachineState.READY, MachineState.WAITING):
        with pytest.raises(MachineError):
            require_transition("desktop-1", MachineState.KEPT, state)
