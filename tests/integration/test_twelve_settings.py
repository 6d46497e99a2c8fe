"""CRAB's twelve settings against the stand-in server, killed once and resumed, on machines in memory.

The whole suite on real machines is the nightly job ``twelve-settings``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.model_server.script import read_script
from controller.model_server.server import serving
from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples/experiments"
TINY = REPOSITORY / "tests/suites/tiny"
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
ADDRESS = "http://127.0.0.1:8765"
ROWS = 12
WITHOUT_TOKENS = {"Gemini 1.5 Pro, single", "Gemini 1.5 Pro, by function"}


def write_slice(folder: Path, address: str) -> Path:
    """Write the example for one task of two machines, on machines in memory, with few turns."""
    text = (EXAMPLES / "crab-twelve-settings.yaml").read_text()
    small = f"suite: {TINY}\ntasks: [dark-style]\nfleet: fake"
    for before, after in (
        ("suite: smoke", small),
        ("{turns: 15}", "{turns: 4}"),
        (ADDRESS, address),
    ):
        assert before in text
        text = text.replace(before, after)
    path = folder / "matrix.yaml"
    path.write_text(text)
    return path


def ended(store: Store) -> Iterator[str]:
    """Yield the runs whose only trial has ended."""
    for name in store.names():
        if store.open(name).results():
            yield name


@pytest.mark.timeout(1200)
def test_twelve_settings_are_killed_once_and_resumed(tmp_path: Path) -> None:
    environment = {"MESOCOSM_STATE_DIR": str(tmp_path / "state")}
    store = Store(tmp_path / "state/runs")
    with serving(read_script(EXAMPLES / "crab-models.yaml")) as server:
        path = write_slice(tmp_path, server.address)
        argv = [*MESOCOSM, "run", "--matrix", str(path), "--json"]
        with start(argv, env=environment, merge=False) as process:
            assert wait_until(lambda: len([*ended(store)]) >= 3, timeout_s=300)
            before = {name: (store.root / name / "run.json").stat() for name in ended(store)}
            os.killpg(process.pid, signal.SIGKILL)
        done = run(argv, env=environment, timeout_s=600)
        assert done.exit_code == 0, done.stderr.decode()
        assert server.responder.violations == []
    report: dict[str, Any] = json.loads(done.stdout)
    rows = {row["name"]: row for row in report["rows"]}
    assert (len(rows), report["complete"]) == (ROWS, True)
    assert {row["ended"] for row in rows.values()} == {1}
    assert before.keys() <= {row["run"] for row in rows.values()}
    attempts = {name: len(store.open(name).attempts("dark-style", 0)) for name in before}
    assert set(attempts.values()) == {1}
    assert len(store.names()) == ROWS
    shares = [row["figures"]["endings"] for row in rows.values()]
    assert all(sum(share.values()) == 1 for share in shares)
    assert {name for share in shares for name, value in share.items() if value} >= {
        *("false_completion", "step_limit", "parse_error"),
    }
    unknown = {name for name, row in rows.items() if row["figures"]["CE"] is None}
    assert unknown == WITHOUT_TOKENS
    assert {tuple(row["platforms"]) for row in rows.values()} == {("cross",)}
