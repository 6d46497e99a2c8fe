"""`mesocosm logs` over the log of real commands."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from foundation.log_file import FILE
from foundation.process import kill_group, start
from foundation.settings import REPOSITORY, get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TINY = REPOSITORY / "tests/suites/tiny"
KEY = "sk-a-very-secret-key"


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", KEY)
    get_settings.cache_clear()
    yield tmp_path
    get_settings.cache_clear()


def shown(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["logs", "--json", *args]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def run_tiny(*args: str) -> int:
    return main(["run", str(TINY), "--fleet", "fake", "--agent", "noop", *args])


@pytest.mark.slow
def test_log_is_filtered_by_run_trial_and_level(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tiny("--task", "answer") == 0
    assert run_tiny("--task", "answer", "--task", "write-file", "--parallel", "2") == 0
    assert main(["run", "nowhere", "--agent", "noop"]) == 2
    assert run_tiny("--agent", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1") == 3
    (run,) = {row["run"] for row in shown(capsys, "--run", "latest")}
    rows = shown(capsys, "--run", run)
    assert {row["trial"] for row in rows} == {"answer.0", "write-file.0"}
    (begin, end) = shown(capsys, "--run", run, "--trial", "answer.0")
    assert begin["message"] == "attempt 1 starts"
    assert end["message"].startswith("attempt 1 ended: FAIL (false_completion), 0/1 nodes")
    assert begin["program"] == "run"
    (error,) = shown(capsys, "--level", "error")
    assert error["message"].startswith("requirement: ")
    assert len(shown(capsys, "-n", "1")) == 1


@pytest.mark.slow
def test_every_command_logs_its_end_and_its_errors(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tiny("--task", "answer") == 0
    assert main(["resume", "latest", "--fleet", "fake"]) == 0
    assert main(["resume", "nowhere"]) == 2
    assert main(["resume", "latest", "--retry", "nonsense"]) == 2
    assert main(["resume", "latest", "--nonsense"]) == 2
    assert run_tiny("--agent", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1") == 3
    assert main(["results"]) == 0
    rows = shown(capsys)
    ended = [row["message"] for row in rows if "ended with exit code" in row["message"]]
    assert [text.split(" after")[0] for text in ended] == [
        f"mesocosm run {TINY} ended with exit code 0",
        "mesocosm resume latest ended with exit code 0",
        "mesocosm resume nowhere ended with exit code 2",
        "mesocosm resume latest ended with exit code 2",
        "mesocosm resume latest ended with exit code 2",
        f"mesocosm run {TINY} ended with exit code 3",
        "mesocosm results ended with exit code 0",
    ]
    refused = [row for row in rows if "nonsense" in row["message"] and row["program"] == "resume"]
    assert [row["level"] for row in refused] == ["info"]


@pytest.mark.slow
def test_no_secret_is_logged(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--agent", "model", "--model", "m", "--base-url", f"http://u:{KEY}@127.0.0.1:9/v1"]
    assert main(["run", str(TINY), "--fleet", "fake", *options, "--debug"]) != 0
    text = (state_dir / "logs" / FILE).read_text()
    assert '"level":"error"' in text
    assert KEY not in text
    assert KEY not in capsys.readouterr().err


def test_text_output_is_readable_and_escapes_control_characters(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = state_dir / "logs"
    folder.mkdir()
    row = {
        "t": "2026-11-22T10:00:00.250+00:00",
        "level": "warning",
        "logger": "provisioning.fleet",
        "program": "serve",
        "pid": 7,
        "message": "title \x1b]0;gone\x07",
        "machine": "desktop-1",
    }
    about = {**row, "machine": "", "message": "desktop-1 is thrown away"}
    both = {**row, "machine": "phone-1,desktop-1", "message": "a step of a trial"}
    other = {**row, "machine": "desktop-10"}
    lines = [json.dumps(record) for record in (row, about, both, other)]
    (folder / FILE).write_text("\n".join([*lines, "torn"]) + "\n")
    assert main(["logs", "--machine", "desktop-1"]) == 0
    out = capsys.readouterr().out
    head = "2026-11-22 10:00:00.250 WARNING serve[7] provisioning.fleet"
    assert out.splitlines() == [
        f"{head} machine=desktop-1: title \\x1b]0;gone\\x07",
        f"{head} machine=: desktop-1 is thrown away",
        f"{head} machine=phone-1,desktop-1: a step of a trial",
    ]


def test_empty_log_is_reported_and_nothing_created(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs"]) == 0
    assert "There are no matching log lines" in capsys.readouterr().err
    assert list(state_dir.iterdir()) == []
    assert main(["logs", "--run", "latest"]) == 2


@pytest.mark.slow
def test_following_shows_new_lines_until_interrupted(state_dir: Path) -> None:
    import signal

    argv = [sys.executable, "-m", "appliance.cli.main", "logs", "--follow", "--json"]
    process = start(argv, env={"PYTHONUNBUFFERED": "1"}, cwd=REPOSITORY)
    try:
        assert run_tiny("--task", "answer") == 0
        assert process.stdout is not None
        lines = iter(process.stdout.readline, b"")
        messages = (json.loads(line)["message"] for line in lines)
        assert next(text for text in messages if "attempt 1 ended" in text)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        kill_group(process)
        process.communicate()
