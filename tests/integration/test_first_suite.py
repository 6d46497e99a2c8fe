"""Tests of the example suite ``first``: each task passes `suite validate` on real machines."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from foundation.process import run
from foundation.settings import REPOSITORY
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

_HOUR_S = 3600

pytestmark = [
    pytest.mark.docker,
    pytest.mark.vm,
    pytest.mark.timeout(_HOUR_S),
    NEEDS_APPLIANCE,
    nightly("a dozen trials per task; `make test` validates two tasks in memory"),
]
FIRST = REPOSITORY / "examples/suites/first"
TASKS = ("booking", "sheet", "pictures", "appearance", "contact", "commit", "web-page")


@pytest.mark.parametrize("task", TASKS)
def test_task_is_sound(task: str) -> None:
    args = ["suite", "validate", str(FIRST), "--task", task, "--again", "--json"]
    result = run([sys.executable, "-m", "appliance.cli.main", *args], timeout_s=_HOUR_S)
    report: dict[str, Any] = json.loads(result.stdout)
    (row,) = report["tasks"]
    assert row["faults"] == []
    assert row["evidence"] >= 3
