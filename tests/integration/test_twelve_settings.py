"""CRAB's twelve settings against the stand-in server, killed once and resumed, on the reference phone.

All tasks of the suite, on a desktop VM, too, are the nightly job ``twelve-settings``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.experiments.record import ExperimentStore
from controller.model_server.script import read_script
from controller.model_server.server import serving
from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from foundation.settings import get_settings
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples/experiments"
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
ADDRESS = "http://127.0.0.1:8765"
NAME, TASK, ROWS = "test-of-twelve-settings", "phone-tick-off", 12
PASSED = {"GPT-4o, single", "GPT-4o, by function"}
WITHOUT_TOKENS = {"Gemini 1.5 Pro, single", "Gemini 1.5 Pro, by function"}


pytestmark = [pytest.mark.phone, NEEDS_APPLIANCE, pytest.mark.timeout(1200)]


def write_slice(folder: Path, address: str) -> Path:
    """Write the example for one task of the phone, with few turns."""
    text = (EXAMPLES / "crab-twelve-settings.yaml").read_text()
    for before, after in (
        ("name: crab-twelve-settings", f"name: {NAME}"),
        ("suite: smoke", f"suite: smoke\ntasks: [{TASK}]"),
        ("{turns: 15}", "{turns: 6}"),
        (ADDRESS, address),
    ):
        assert before in text
        text = text.replace(before, after)
    path = folder / "matrix.yaml"
    path.write_text(text)
    return path


def ended(store: Store) -> set[str]:
    """Return the experiment's runs whose only trial has ended."""
    experiments = ExperimentStore(get_settings().experiments_dir)
    id_ = experiments.latest(NAME)
    runs = {row.run for row in experiments.open(id_).rows} if id_ else set()
    return {name for name in runs if store.has(name) and store.open(name).results()}


@pytest.fixture
def experiments() -> Iterator[Path]:
    """Return the folder of experiments, from which those of the test are removed in the end."""
    folder = get_settings().experiments_dir
    yield folder
    for own in folder.glob(f"{NAME}*"):
        shutil.rmtree(own)


@pytest.mark.usefixtures("experiments")
def test_twelve_settings_are_killed_once_and_resumed(tmp_path: Path) -> None:
    store = Store(get_settings().runs_dir)
    with serving(read_script(EXAMPLES / "crab-models.yaml")) as server:
        path = write_slice(tmp_path, server.address)
        argv = [*MESOCOSM, "run", "--matrix", str(path), "--json"]
        with start([*argv, "--new"], merge=False) as process:
            assert wait_until(lambda: len(ended(store)) >= 3, timeout_s=300)
            before = ended(store)
            os.killpg(process.pid, signal.SIGKILL)
        done = run(argv, timeout_s=600)
        assert done.exit_code == 0, done.stderr.decode()
        assert server.responder.violations == []
    report: dict[str, Any] = json.loads(done.stdout)
    rows = {row["name"]: row for row in report["rows"]}
    assert (len(rows), report["complete"]) == (ROWS, True)
    assert {row["ended"] for row in rows.values()} == {1}
    assert before <= {row["run"] for row in rows.values()}
    assert {len(store.open(name).attempts(TASK, 0)) for name in before} == {1}
    assert len(ended(store)) == ROWS
    assert {name for name, row in rows.items() if row["figures"]["SR"] == 1} == PASSED
    shares = {name: row["figures"]["endings"] for name, row in rows.items()}
    assert {sum(share.values()) for name, share in shares.items() if name not in PASSED} == {1}
    assert {name for share in shares.values() for name, value in share.items() if value} == {
        *("false_completion", "step_limit", "parse_error"),
    }
    unknown = {name for name, row in rows.items() if row["figures"]["CE"] is None}
    assert unknown == WITHOUT_TOKENS
    assert {tuple(row["platforms"]) for row in rows.values()} == {("phone",)}
