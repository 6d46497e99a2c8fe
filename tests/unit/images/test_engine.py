from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from foundation.errors import RequirementError
from foundation.files import digest_file
from images.bootstrap import _Progress
from images.engine import build_context, connect, parse_packages
from images.log import BuildLog, ignore_progress
from images.progress import show_progress

if TYPE_CHECKING:
    from pathlib import Path


def test_build_context_holds_content_only(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "__pycache__").mkdir(parents=True)
    (source / "__pycache__" / "old.pyc").write_bytes(b"x")
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o700)
    (source / "data").write_text("1")
    files = {"app": source, "Dockerfile": source / "data"}
    build_context(files, tmp_path / "one.tar")
    (source / "data").touch()
    build_context(files, tmp_path / "two.tar")
    assert digest_file(tmp_path / "one.tar") == digest_file(tmp_path / "two.tar")
    with tarfile.open(tmp_path / "one.tar") as tar:
        modes = {info.name: info.mode for info in tar if info.isfile()}
    assert modes["app/run.sh"] == 0o755
    assert modes["app/data"] == 0o644
    assert ".host/pip.conf" in modes
    assert not any("pycache" in name for name in modes)


def test_package_lists_are_read() -> None:
    assert parse_packages("bash 5.2.15-2+b7\nlibc6 2.36\nbroken\n") == {
        "bash": "5.2.15-2+b7",
        "libc6": "2.36",
    }


def test_unresponsive_engine_is_an_unmet_requirement(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(RequirementError, match="make up"), connect(timeout_s=1):
        pass


def test_mmdebstrap_output_becomes_phases_and_fractions() -> None:
    seen: list[tuple[str, float | None]] = []

    def report(phase: str, fraction: float | None = None, line: str = "") -> None:
        seen.append((phase, fraction))

    progress = _Progress(report)
    for line in ("I: installing packages...", "Unpacking a", "Unpacking b", "Setting up a"):
        progress.take(line)
    assert seen[-1] == ("installing packages", 0.5)


def test_log_of_a_failed_build_has_the_cause(tmp_path: Path) -> None:
    log = BuildLog(tmp_path / "logs" / "one.log", ignore_progress)

    def fail() -> None:
        with log:
            log("step", None, "a line")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert log.path.read_text() == "== step\na line\nFAILED: broken\n"


def test_progress_without_a_terminal_is_one_line_per_phase(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with show_progress("base") as report:
        for line in ("one", "two"):
            report("unpack", None, line)
        report("import", 1.0)
    captured = capsys.readouterr()
    assert captured.err == "base: unpack: one\nbase: import\n"
    assert captured.out == ""


def test_progress_on_a_terminal_draws_bars() -> None:
    import io

    from rich.console import Console

    out = io.StringIO()
    with show_progress("base", Console(file=out, force_terminal=True, width=100)) as report:
        report("unpack [0/1]", 0.5, "[bold]line")
    assert "unpack" in out.getvalue()
