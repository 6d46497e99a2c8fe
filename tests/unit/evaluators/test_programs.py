"""Which program a process runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from evaluators.desktop.programs import runs_program
from tests.evaluator_cases.processes import ProgramsFixture

if TYPE_CHECKING:
    from pathlib import Path


def test_an_interpreter_runs_the_script_it_was_started_with(tmp_path: Path) -> None:
    desktop = ProgramsFixture(tmp_path)
    try:
        script = desktop.write("~/calc", "import time; open('runs', 'w'); time.sleep(60)\n")
        other = desktop.write("~/other", "")
        desktop.run(["/usr/bin/python3", str(script)], cwd=desktop.home)
        assert wait_until((desktop.home / "runs").exists, timeout_s=20)
        process = (desktop.processes or [])[-1]
        guest = desktop.subject()
        assert runs_program(guest, process.pid, str(script))
        assert runs_program(guest, process.pid, "/usr/bin/python3")
        for path in (str(other), "/bin/cat", "/nonexistent", ""):
            assert not runs_program(guest, process.pid, path)
        assert not runs_program(guest, process.pid + (1 << 23), str(script))
    finally:
        desktop.close()
