"""CRAB's twelve settings on real machines against the stand-in server: killed once, resumed, exported."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.experiments.record import ExperimentStore
from controller.model_server.script import read_script
from controller.model_server.server import serving
from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/experiments"
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
ADDRESS = "http://127.0.0.1:8765"
ROWS, TASKS = 12, 8
KILL_AFTER = 10
"""Trials before the kill, so that it hits the second row."""
_START_S, _PLAY_S = 900.0, 5400.0
EXPECTED: Mapping[str, Mapping[str, int]] = {
    "GPT-4o, single": {"PASS": 4, "FAIL": 4},
    "GPT-4o, by function": {"PASS": 2, "FAIL": 6},
    "GPT-4o, by environment": {"PASS": 2, "FAIL": 6},
    "GPT-4 Turbo, single": {"PASS": 1, "FAIL": 7},
    "GPT-4 Turbo, by function": {"PASS": 1, "FAIL": 7},
}
"""Verdicts as scripted; all trials of the other rows fail."""


def play(folder: Path) -> dict[str, Any]:
    """Play the settings, with a kill, and return the report.

    Args:
        folder: for the experiment file with the server's address.
    """
    store, path = Store(get_settings().runs_dir), folder / "matrix.yaml"
    with serving(read_script(EXAMPLES / "crab-models.yaml")) as server:
        text = (EXAMPLES / "crab-twelve-settings.yaml").read_text()
        path.write_text(text.replace(ADDRESS, server.address))
        experiments = ExperimentStore(get_settings().experiments_dir)
        known = set(experiments.names())
        argv = [*MESOCOSM, "run", "--matrix", str(path), "--json"]
        with start([*argv, "--new"], merge=False) as process:
            reached = wait_until(
                lambda: _ended(store, experiments, known) >= KILL_AFTER, timeout_s=_START_S
            )
            os.killpg(process.pid, signal.SIGKILL)
        if not reached:
            sys.exit(f"{KILL_AFTER} trials did not end within {_START_S:g} s")
        done = run(argv, timeout_s=_PLAY_S)
        if server.responder.violations:
            sys.exit("\n".join(server.responder.violations))
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        sys.exit(done.stderr.decode(errors="replace"))
    return report


def _ended(store: Store, experiments: ExperimentStore, known: set[str]) -> int:
    """Return the number of trials of the new experiment that have ended."""
    names = set(experiments.names()) - known
    runs = {row.run for name in names for row in experiments.open(name).rows}
    return sum(len(store.open(run).results()) for run in runs if run and store.has(run))


def check(report: Mapping[str, Any]) -> list[str]:
    """Return what is not as scripted."""
    store, problems = Store(get_settings().runs_dir), []
    if len(report["rows"]) != ROWS or not report["complete"]:
        problems.append("the experiment is not complete")
    for row in report["rows"]:
        results = store.open(row["run"]).results()
        counts = {name: sum(one.verdict == name for one in results) for name in ("PASS", "FAIL")}
        expected = EXPECTED.get(row["name"], {"PASS": 0, "FAIL": TASKS})
        if counts != expected:
            problems.append(f"{row['name']}: {counts}, not {dict(expected)}")
        is_counted = all(one.usage.is_known for one in results)
        if is_counted == row["name"].startswith("Gemini"):
            problems.append(f"{row['name']}: tokens are {'known' if is_counted else 'unknown'}")
    return problems


def export(report: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Export all trials, and return the summary."""
    names = [row["run"] for row in report["rows"]]
    argv = [*MESOCOSM, "export", *names, "-o", str(folder / "export"), "--json"]
    summary: dict[str, Any] = json.loads(run(argv, timeout_s=600).require().stdout)
    return summary


def main() -> int:
    """Return 0 if everything is as scripted, else 1."""
    with tempfile.TemporaryDirectory() as name:
        report = play(Path(name))
        problems = check(report)
        summary = export(report, Path(name))
    if summary["trials"] != ROWS * TASKS or summary["missing_pictures"]:
        problems.append(f"the export is not complete: {summary}")
    for problem in problems:
        print(problem)  # noqa: T201 - the job's output
    print(f"{ROWS} rows of {TASKS} trials, {len(problems)} not as scripted")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
