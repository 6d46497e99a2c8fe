"""The agent's Python and shell on a desktop VM: its user, deadlines, bounded output, the host's input path."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.actions.code import run_python, run_shell
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from controller.store.event_log import read_events
from controller.store.runs import Store
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.settings import get_settings
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.fleet.local import LocalFleet
from provisioning.probe.code.output import MAX_CHARS
from provisioning.protocols import Button
from provisioning.resource import DESKTOP, ResourceSpec
from tests.contract.receivers import XevReceiver
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE]

SECONDS = 60.0
"""Deadline of code that has to finish: emulated desktops take long to start a kernel on a busy host."""
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def vm() -> Iterator[DesktopVm]:
    """Lease a desktop as trials do."""
    with LocalFleet(get_settings()).acquire({"desktop": ResourceSpec(DESKTOP)}) as lease:
        machine = lease.environment.machines["desktop"]
        assert isinstance(machine, DesktopVm)
        yield machine


def python(vm: DesktopVm, code: str, seconds: float = SECONDS) -> str:
    return run_python(vm, code, seconds).text


def test_code_on_a_vm_is_the_agents_and_is_interrupted_and_bounded(vm: DesktopVm) -> None:
    user = vm.info.user
    assert python(vm, "import getpass, os\nkept = 6\nprint(getpass.getuser())") == user
    assert run_shell(vm, "id -un; v=kept; cd /tmp", SECONDS).text == user
    # The probe is another program of another user, which the agent's code cannot touch.
    code = (
        "import glob\n"
        "for path in [*glob.glob('/usr/local/lib/mesocosm/probe-*.pyz'), '/proc/1/environ']:\n"
        "    try:\n        print('read', open(path, 'rb').read(1))\n"
        "    except PermissionError:\n        print('denied')"
    )
    assert set(python(vm, code).splitlines()) == {"denied"}

    start_s = SYSTEM_CLOCK.monotonic_s()
    late = python(vm, "import time\nprint('begun')\nwhile True: time.sleep(0.1)", 2)
    assert late.startswith("begun\n")
    assert late.endswith("[interrupted after 2 s]")
    late = run_shell(vm, "echo begun; sleep 600", 2).text
    assert late == "begun\n[interrupted after 2 s]"
    assert SYSTEM_CLOCK.monotonic_s() - start_s < 2 * 2 + PATIENCE_S

    flood = python(vm, "for n in range(40000): print(n, 'x' * 50)")
    assert len(flood) < MAX_CHARS + 100
    assert flood.startswith("0 x")
    assert re.search(r"characters left out", flood)
    assert "39999 x" in flood[-200:]
    # Neither the interrupts nor the flood cost what both have kept.
    assert python(vm, "kept * 7") == "42"
    assert run_shell(vm, 'pwd; echo "$v"', SECONDS).text == "/tmp\nkept"


def test_mouse_and_keyboard_of_code_are_the_hosts(
    vm: DesktopVm, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = XevReceiver(vm, vm.info.home)
    x, y = receiver.open_for_clicks()
    assert not receiver.has_clicked(Button.LEFT, 1)
    with caplog.at_level(logging.DEBUG, "provisioning.desktop.qemu.input_monitor"):
        assert python(vm, f"mouse.click({x}, {y})\nmouse.position") == f"({x}, {y})"
        assert wait_until(lambda: receiver.has_clicked(Button.LEFT, 1), timeout_s=PATIENCE_S)
        sent = [row for row in caplog.messages if "input-send-event" in row]
        assert any('"btn"' in row for row in sent)
        caplog.clear()
        receiver.open_for_keys()
        assert not receiver.has_pressed(["a"])
        python(vm, "keyboard.press('a')")
        assert wait_until(lambda: receiver.has_pressed(["a"]), timeout_s=PATIENCE_S)
        assert any('"key"' in row for row in caplog.messages if "input-send-event" in row)
    refused = python(
        vm, "try:\n    mouse.click(99999, 1)\nexcept RuntimeError as exc:\n    print(exc)"
    )
    assert "outside the screen" in refused


def test_code_returns_what_the_agent_then_sees(tmp_path: Path) -> None:
    """A model runs code in a run, and is sent its result with the screen as the code left it."""
    open_window = (
        "import subprocess, time\n"
        "subprocess.Popen(['gnome-terminal'])\ntime.sleep(12)\nprint('opened', 6 * 7)"
    )
    solve = "mkdir -p ~/Badges && echo 7Q4-1186 > ~/Badges/badge.txt"
    rules: list[dict[str, Any]] = [
        {
            "when": {"turn": 1, "images": 1},
            "reply": {"calls": [{"name": "desktop__run_python", "with": {"code": open_window}}]},
        },
        {
            "when": {"turn": 2, "images": 2, "text": "^opened 42"},
            "reply": {"calls": [{"name": "desktop__run_shell", "with": {"command": solve}}]},
        },
    ]
    script = parse_script({"members": {"coder": {"rules": rules}}})
    out = io.StringIO()
    with serving(script) as server:
        model = ["--agent", "model", "--model", "coder", "--base-url", f"{server.address}/v1"]
        options = ["--task", "desktop-badge", "--code", "--no-preflight", "--retries", "0"]
        with contextlib.redirect_stdout(out):
            main(["run", "smoke", *model, *options, "--json"])
    assert server.responder.violations == []
    report = json.loads(out.getvalue())
    (trial,) = report["trials"]
    assert (trial["verdict"], trial["steps"]) == ("PASS", 2), trial
    first, second = (record["images"] for record in server.responder.records)
    assert second[-1] != first[0]
    folder = Store(get_settings().runs_dir).open(report["run"]).path
    (log,) = folder.rglob("events.jsonl")
    events = list(read_events(log))
    steps = [row for row in events if row["type"] == "step"]
    begun = next(row for row in events if row["type"] == "observation")
    assert steps[0]["returned"]["text"] == "opened 42"
    assert steps[0]["screens"] != begun["screens"]
