"""Tests that end states of a forked or rewound desktop and a phone are kept, regraded, opened and cleaned up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.episode.context import RunContext
from controller.episode.end_state import EndStateKeeper, machine_folders, read_end_state, size_mib
from controller.executors.local import LocalExecutor, LocalTrials
from controller.planning import specify_run
from controller.regrade.regrading import Regrading
from controller.scheduling.execution import execute_run
from controller.specification.agent import CustomSpec
from controller.store.runs import Store
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from foundation.clock import SYSTEM_CLOCK
from foundation.process import run
from foundation.settings import get_settings
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.vnc import VncRelay
from provisioning.end_state import read_kept
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.runs import RunFolder

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
    nightly("regrading runs in `make test` on machines in memory"),
]

SUITE = 'name: notes\nversion: "1"\ndescription: One task.\ntasks: [note.yaml]\n'
TASK = """\
id: note
instruction: Do nothing, the note and the contact are there.
roles: {{desktop: desktop, phone: phone}}
setup:
  - {{on: desktop, do: put_file, with: {{path: ~/note.txt, content: hello}}}}
  - {{on: phone, do: add_contact, with: {{name: Ada Lovelace, phone: "+44 20 1234", email: ada@example.org}}}}
graph:
  - {{id: unmet, on: desktop, check: file_text_equals, with: {{path: ~/note.txt, text: never}}, mode: once}}
  - {{id: written, on: desktop, check: file_text_equals, with: {{path: ~/note.txt, text: {text}}}, after: [unmet]}}
  - {{id: contact, on: phone, check: contact_exists, with: {{name: {name}}}, after: [unmet]}}
oracle:
  - {{do: complete}}
"""
MIB, SECONDS = 4096, 240.0


def write_suite(folder: Path, *, text: str, name: str, without: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    lines = TASK.format(text=text, name=name).splitlines(keepends=True)
    kept = "".join(line for line in lines if not without or f"id: {without}" not in line)
    after = f", after: [{without}]" if without else "\0"
    (folder / "note.yaml").write_text(kept.replace(after, ""))
    (folder / "suite.yaml").write_text(SUITE)
    return folder


def run_and_keep(fleet: LocalFleet, suite: Path, runs: Path) -> RunFolder:
    """Run a trial that fails, and keep its machines."""
    chosen = open_suite(str(suite))
    driver = AgentDriver(NoopAgent)
    spec = specify_run(chosen, CustomSpec(name="test"), keep_end_state="failed")
    keeper = EndStateKeeper("failed", runs, 20000, SYSTEM_CLOCK)
    context = RunContext(fleet, vocabulary=chosen.vocabulary, keeper=keeper)
    folder = Store(runs).create(spec)
    (result,) = execute_run(folder, LocalExecutor(LocalTrials(chosen, context, driver)))
    assert result.verdict is Verdict.FAIL, result
    return folder


@pytest.mark.parametrize("reset", ["fork", "rewind"])
def test_kept_failed_trial_is_evaluated_again_and_opened(
    tmp_path: Path, reset: Literal["fork", "rewind"]
) -> None:
    settings = get_settings().model_copy(update={"desktop_reset": reset})
    is_fork = reset == "fork"
    if is_fork:
        assert QemuBackend(settings).has_template(), "there is no template of today's image"
    fleet = LocalFleet(settings)
    before = {folder.machine_id for folder in iter_folders(settings)}
    wrong = write_suite(tmp_path / "wrong", text="helo", name="Nobody")
    right = write_suite(tmp_path / "right", text="hello", name="Ada Lovelace", without="unmet")
    runs = tmp_path / "runs"
    runs.mkdir()

    folder = run_and_keep(fleet, wrong, runs)
    attempt = folder.attempts("note", 0)[-1]
    kept = attempt.events[-1]
    assert kept["type"] == "end_state", kept
    assert kept["kept"], kept["why"]
    assert (kept["mib"] < MIB, kept["seconds"] < SECONDS) == (True, True), kept
    state = read_end_state(attempt.folder)
    assert state is not None
    folders = machine_folders(attempt.folder, state)
    has_base = (folders["desktop"] / "base.qcow2").exists()  # not if rewound: based on its image
    assert has_base is is_fork
    print({role: f"{size_mib([path])} MiB" for role, path in folders.items()}, kept)  # noqa: T201

    (row,) = Regrading(folder, open_suite(str(right)), fleet).run()
    assert row.regrade is not None, row.why
    assert (row.regrade.former[0], row.regrade.verdict) == (Verdict.FAIL, Verdict.PASS)
    print(f"judged again in {row.regrade.seconds} s")  # noqa: T201
    (row,) = Regrading(folder, open_suite(str(wrong)), fleet).run()
    assert row.regrade is not None, row.why
    assert [regrade.verdict for regrade in attempt.regrades] == [Verdict.PASS, Verdict.FAIL]

    with fleet.start_kept(folders) as lease:
        desktop = lease.environment.machines["desktop"]
        assert desktop.files.get(f"{desktop.info.home}/note.txt") == b"hello"
        socket = settings.machines_dir / desktop.info.machine_id / "vnc.sock"
        with VncRelay(socket) as relay:
            assert relay.port
        assert len(desktop.screen.capture()) > 0
    fleet.wait_for_jobs()
    left = [folder.read() for folder in iter_folders(settings) if folder.machine_id not in before]
    busy = [
        record for record in left if record is not None and record.state is not MachineState.WAITING
    ]
    assert [record.machine_id for record in busy if record.is_fork] == []


def test_keeping_does_not_change_snapshots_of_the_machine(tmp_path: Path) -> None:
    """Test with a snapshot like that of a desktop that is rewound repeatedly."""
    backend = QemuBackend(get_settings())
    handle = backend.start_standby()
    assert handle is not None, "there is no template of today's image"
    with handle.temporary() as desktop:
        backend.wake(desktop)
        note = f"{desktop.info.home}/note.txt"
        desktop.snapshots.save("before")
        desktop.files.put(note, b"hello")
        desktop.keep_state(tmp_path)
        assert desktop.files.get(note) == b"hello"  # it keeps running
        desktop.snapshots.rewind("before")
        assert desktop.files.stat(note) is None
    listed = run(["qemu-img", "snapshot", "-l", str(tmp_path / "disk.qcow2")]).require().text
    assert re.findall(r"^\d+ +(\w+)", listed, re.MULTILINE) == ["end"]
    record = read_kept(tmp_path)
    assert record is not None
    with backend.start_kept(tmp_path, record).temporary() as copy:
        assert copy.files.get(note) == b"hello"
