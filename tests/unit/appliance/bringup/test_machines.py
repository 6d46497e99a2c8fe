"""Machines as bring-up sees them while parts of the appliance are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.machines import count_machines, describe, remove_machines
from appliance.services.engine import engine_answers
from foundation.settings import Settings
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path


def leave_desktop(settings: Settings, machine_id: str, state: MachineState) -> MachineFolder:
    folder = MachineFolder(settings.machines_dir / machine_id)
    folder.write(desktop_record(machine_id, state=state))
    return folder


def test_machines_are_counted_by_kind_and_state(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    assert describe(count_machines(settings)) == "none"
    leave_desktop(settings, "desktop-1", MachineState.READY)
    leave_desktop(settings, "desktop-2", MachineState.READY)
    (settings.machines_dir / "desktop-3").mkdir()  # killed before it wrote a record
    assert count_machines(settings) == {("desktop", "ready"): 2}
    assert describe(count_machines(settings)) == "2 desktop ready"


@pytest.mark.docker
@pytest.mark.skipif(not engine_answers(), reason="docker does not answer")
def test_desktops_are_removed_without_the_hypervisor(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    folder = leave_desktop(settings, "desktop-1", MachineState.LEASED)
    assert "desktop-1" in remove_machines(settings)
    assert not folder.path.exists()
    assert remove_machines(settings) == []
