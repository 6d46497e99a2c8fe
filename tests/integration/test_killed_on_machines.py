"""Tests that a killed run on a real desktop and phone loses nothing and leaves nothing unmanaged."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from foundation.settings import get_settings
from provisioning.fleet.host_backends import HostBackends
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

pytestmark = [
    pytest.mark.vm,
    pytest.mark.phone,
    NEEDS_APPLIANCE,
    nightly("`make test` kills runs and services with simulated machines"),
]

MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
TASK = "cross-dark-style"


def machines() -> dict[str, MachineState | None]:
    """Return the state of each machine, except forks, which are created and deleted on demand."""
    records = {folder.machine_id: folder.read() for folder in iter_folders(get_settings())}
    return {
        name: record.state if record else None
        for name, record in records.items()
        if record is None or not record.is_fork
    }


def test_killed_run_loses_no_step_and_its_machines_are_leased_again() -> None:
    settings = get_settings()
    run([*MESOCOSM, "run", "smoke", "--agent", "noop", "--task", TASK], timeout_s=300).require()
    before = machines()
    store = Store(settings.runs_dir)
    known = set(store.names())
    process = start([*MESOCOSM, "run", "smoke", "--agent", "oracle", "--task", TASK, "--json"])
    with process:
        assert wait_until(lambda: set(store.names()) - known, timeout_s=60)
        folder = store.open(max(set(store.names()) - known))

        def steps() -> list[int]:
            return [event["n"] for event in folder.events(TASK, 0) if event["type"] == "step"]

        assert wait_until(lambda: len(steps()) >= 2, timeout_s=120)
        assert MachineState.LEASED in machines().values()
        seen = steps()
        os.killpg(process.pid, signal.SIGKILL)

    assert steps()[: len(seen)] == seen
    done = run(
        [*MESOCOSM, "run", "smoke", "--agent", "noop", "--task", TASK, "--json"], timeout_s=300
    )
    (trial,) = json.loads(done.require().stdout)["trials"]
    assert (trial["verdict"], trial["nodes_met"]) == ("FAIL", 0)
    # The same machines are still in use, and no unregistered machine runs.
    assert machines() == before
    assert not any(backend.remove_strays() for backend in HostBackends(settings).opened())
