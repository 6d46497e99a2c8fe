"""Which program a process runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluators.desktop import programs
from evaluators.desktop.programs import process_absent, runs_program, script_running
from foundation.clock import wait_until
from tests.evaluator_cases.processes import ProgramsFixture

if TYPE_CHECKING:
    import os


def test_interpreter_runs_the_script_it_was_started_with(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("events", "runs"), [("populated 1\nfrozen 1\n", False), ("frozen 0\n", True), (None, True)]
)
def test_script_in_a_frozen_control_group_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: str | None, runs: bool
) -> None:
    desktop = ProgramsFixture(tmp_path)
    try:
        script = desktop.write("~/s.sh", ": >runs\nsleep 60\n")
        desktop.run(["/bin/sh", str(script)], cwd=desktop.home)
        assert wait_until((desktop.home / "runs").exists, timeout_s=20)
        pid = (desktop.processes or [])[-1].pid
        (tmp_path / "unit").mkdir()
        if events is not None:
            (tmp_path / "unit" / "cgroup.events").write_text(events)
        read = Path.read_text

        def with_group(path: Path, **options: str) -> str:
            is_group = str(path) == f"/proc/{pid}/cgroup"
            return "1:cpu:/x\n0::/unit\n" if is_group else read(path, **options)

        monkeypatch.setattr(programs, "_GROUPS", str(tmp_path))
        monkeypatch.setattr(Path, "read_text", with_group)
        assert script_running(desktop.subject(), str(script)) is runs
    finally:
        desktop.close()


@pytest.mark.parametrize(
    ("library", "runs"),
    [
        ("/usr/lib/x.so", True),
        ("/opt/tmp/x.so", True),
        *(
            (f"/{place}/x.so", False)
            for place in ("dev/shm", "home/u", "media", "mnt", "run", "srv", "tmp", "var/lib")
        ),
    ],
)
@pytest.mark.slow
def test_shell_with_code_from_a_root_service_does_not_run_its_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, runs: bool
) -> None:
    desktop = ProgramsFixture(tmp_path)
    try:
        script = desktop.write("~/s.sh", ": >runs\nsleep 60\n")
        desktop.run(["/bin/sh", str(script)], cwd=desktop.home)
        assert wait_until((desktop.home / "runs").exists, timeout_s=20)
        own, look = programs._memory_map, programs._status
        row = f"7f00-7fff r-xp 00000000 fe:01 99999999 {library}\n"
        monkeypatch.setattr(programs, "_memory_map", lambda pid: row + own(pid))

        def of_root(path: Path) -> os.stat_result | None:
            is_added = str(path) == library or path.name == "7f00-7fff"
            return Path("/proc/1").stat() if is_added else look(path)

        monkeypatch.setattr(programs, "_status", of_root)
        assert script_running(desktop.subject(), str(script)) is runs
    finally:
        desktop.close()


def test_unreadable_program_may_be_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desktop = ProgramsFixture(tmp_path)
    try:
        desktop.run(["/bin/sleep", "60"], cwd=desktop.home)
        guest, look = desktop.subject(), Path.stat
        assert process_absent(guest, "/usr/bin/cat")

        def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
            if path.name == "exe" and path.parts[1] == "proc":
                raise PermissionError(path)
            return look(path, follow_symlinks=follow_symlinks)

        monkeypatch.setattr(Path, "stat", refused)
        assert not process_absent(guest, "/usr/bin/cat")
    finally:
        desktop.close()
