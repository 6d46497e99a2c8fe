"""The API returns the current states of machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.cli.service_api import _machines_seen
from foundation.settings import Settings
from provisioning.fleet.liveness import ENDED, LivenessReport, ObservedMachine
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path


class Watch:
    """Has observed that one of two machines ended."""

    def latest(self) -> LivenessReport:
        return LivenessReport((ObservedMachine("desktop-1", "desktop", ENDED),))


def test_process_without_machine_access_uses_the_report_of_another(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    for name in ("desktop-1", "desktop-2"):
        folder = MachineFolder(settings.machines_dir / name)
        folder.write(desktop_record(name, "libvirt", state=MachineState.READY))
    rows = _machines_seen(settings, Watch())
    assert [(row["machine_id"], row["state"]) for row in rows] == [
        ("desktop-1", "ended"),
        ("desktop-2", "ready"),
    ]
