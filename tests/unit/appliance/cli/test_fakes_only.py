"""Runs on fake machines say at once which kinds have none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.main import main

if TYPE_CHECKING:
    import pytest

WORLD = Path(__file__).parents[4] / "examples" / "suites" / "world"


def test_run_on_fakes_is_refused_if_tasks_need_a_world(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", str(WORLD), "--fleet", "fake", "--agent", "noop"]) == 1
    assert "There are no fake machines of the kind world." in capsys.readouterr().err
