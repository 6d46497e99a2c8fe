"""Test of the comparison of two runs with different versions of an evaluator."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from foundation.process import run

REPOSITORY = Path(__file__).resolve().parents[2]
TINY = REPOSITORY / "tests/suites/tiny"
PACKAGES = (
    "mesocosm",
    "foundation",
    "appliance",
    "images",
    "provisioning",
    "monitoring",
    "controller",
)
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]


def mesocosm(root: Path, *args: str) -> bytes:
    """Run the command with the sources in a folder."""
    env = {"PYTHONPATH": str(root), "MESOCOSM_STATE_DIR": str(root / "state")}
    return run([*MESOCOSM, *args], env=env, cwd=root, timeout_s=120).require().stdout


def test_changed_evaluator_excludes_the_tasks_that_use_it(tmp_path: Path) -> None:
    for name in PACKAGES:
        (tmp_path / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "evaluators", tmp_path / "evaluators")
    args = ("run", str(TINY), "--fleet", "fake", "--json", "--agent")
    first = json.loads(mesocosm(tmp_path, *args, "oracle", "--repeats", "2"))["run"]
    module = tmp_path / "evaluators/desktop/settings.py"
    old = "return current == value or (is_no_text(current) and is_same_variant(current, value))"
    assert old in module.read_text()
    module.write_text(module.read_text().replace(old, f"{old} or False", 1))
    second = json.loads(mesocosm(tmp_path, *args, "noop", "--trees"))["run"]
    comparison: dict[str, Any] = json.loads(mesocosm(tmp_path, "compare", first, second, "--json"))
    assert comparison["left_out"] == {
        "dark-style": "differs in: evaluator desktop.gsetting_equals",
    }
    assert comparison["tasks"] == ["write-file", "two-apps", "answer"]
    assert (comparison["SR"]["tasks"], comparison["SR"]["difference"]) == (3, -1.0)
    assert comparison["SR"]["difference_95"] == [-1.0, -1.0]
    assert {row["name"] for row in comparison["differences"]} == {
        "agent.kind",
        "agent.solution",
        "observation.trees",
        "repeats",
    }
    shown = mesocosm(tmp_path, "compare", first, second).decode()
    assert "left out: dark-style: differs in: evaluator desktop.gsetting_equals" in shown
    assert "SR -1.000 (95 %: -1.000 to -1.000)" in shown
