"""A run on this host needs nothing of the service."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from foundation.process import run

TINY = Path(__file__).resolve().parents[2] / "suites/tiny"
CODE = f"""
import sys
from appliance.cli.main import main

code = main(["run", {str(TINY)!r}, "--fleet", "fake", "--agent", "oracle", "--task", "answer", *sys.argv[1:]])
loaded = sorted(name for name in sys.modules if name.startswith("controller.service"))
print("code", code, "loaded", loaded)
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--isolate"], ["--dry-run"]])
def test_local_run_imports_nothing_of_the_service(tmp_path: Path, options: list[str]) -> None:
    environment = {"PYTHONPATH": str(TINY.parents[2]), "MESOCOSM_STATE_DIR": str(tmp_path)}
    reply = run([sys.executable, "-c", CODE, *options], timeout_s=120, env=environment)
    assert reply.text.splitlines()[-1] == "code 0 loaded []", reply
