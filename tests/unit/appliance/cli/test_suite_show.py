"""``mesocosm suite show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from tests.unit.evaluators.metrics.suites import write_suite

if TYPE_CHECKING:
    from pathlib import Path


def show(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Any]:
    code = main(["suite", "show", str(folder), *options, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("nodes", "code"), [(6, 0), (7, 1)])
def test_exit_code_says_whether_the_declared_figures_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], nodes: int, code: int
) -> None:
    index = write_suite(tmp_path) / "suite.yaml"
    index.write_text(f"{index.read_text()}statistics: {{source: Counted, nodes: {nodes}}}\n")
    exit_code, shown = show(tmp_path, capsys, "--stats")
    assert (exit_code, shown["ok"]) == (code, code == 0)
    assert shown["statistics"]["nodes"] == 6
    row = {"name": "nodes", "value": 6, "expected": nodes, "within": 0.0, "holds": code == 0}
    assert row in shown["figures"]
    assert main(["suite", "show", str(tmp_path), "--stats"]) == code
    assert ("differs" in capsys.readouterr().out) is (code == 1)
