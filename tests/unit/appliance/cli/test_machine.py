"""`mesocosm machine`: what commands print about operations on machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli import machine
from appliance.cli.main import main
from foundation.settings import get_settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP
from tests.unit.provisioning.fleet.test_local import ForkingFake

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ForkingFake:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    backend = ForkingFake(get_settings())
    backend.make(lambda _line: None).claim.release()
    operations = MachineOperations(
        get_settings(), lambda _settings: FixedBackends({DESKTOP: backend})
    )
    monkeypatch.setattr(machine, "operations", lambda: operations)
    return backend


@pytest.mark.slow
def test_machine_is_operated(backend: ForkingFake, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> MachineState | None:
        record = backend.folder("desktop-1").read()
        return record.state if record else None

    backend.write(backend.folder("desktop-1"), MachineState.STOPPED)
    assert main(["machine", "rewind", "desktop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"path", "seconds", "phases_s"}
    assert state() is MachineState.READY
    assert main(["machine", "verify", "desktop-1", "--json"]) == 1  # its df answers nothing
    verified = json.loads(capsys.readouterr().out)
    assert (verified["machine"], verified["ok"]) == ("desktop-1", False)
    assert [row["name"] for row in verified["checks"]] == ["link", "clock", "screen", "disk"]
    for command in (["snapshot", "desktop-1", "mine"], ["stop", "desktop"], ["start", "desktop"]):
        assert main(["machine", *command]) == 0
    assert main(["machine", "fork", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"machine": "desktop-fork-1", "seconds": 0.1}
    assert main(["machine", "delete", "desktop-1"]) == 0
    assert state() is None


def test_machine_in_use_is_reported(
    backend: ForkingFake, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = backend.folder("desktop-1").require_claim()
    assert main(["machine", "rewind", "desktop-1"]) == 1
    assert "The machine desktop-1 is in use by another process." in capsys.readouterr().err
    claim.release()
