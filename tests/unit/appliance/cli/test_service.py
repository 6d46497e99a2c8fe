from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from appliance.cli.service_database import open_database
from controller.service.worker.report import WorkerReport
from foundation.files import locked
from foundation.settings import get_settings
from tests.standins.open_files import open_files
from tests.unit.controller.service.context import carry_out_next, make_api_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TINY = Path(__file__).resolve().parents[3] / "suites/tiny"
FAKE = ["--agent", "oracle", "--fleet", "fake"]


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "250")
    get_settings.cache_clear()
    yield tmp_path
    get_settings.cache_clear()


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Return the JSON output of a command."""

    def call(*args: str) -> Any:  # noqa: ANN401 - any JSON
        assert main([*args, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.slow
def test_runs_are_queued_and_requests_stored(
    ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(TINY.parent)
    run = ask("queue", "add", "tiny", *FAKE, "-k", "2", "--priority", "3")["run"]
    assert ask("queue", "show", run)["request"]["suite"] == str(TINY)
    assert ask("queue", "priority", run, "7")["priority"] == 7
    assert ask("queue", "pause", run)["state"] == "paused"
    assert ask("queue", "resume", run)["state"] == "queued"
    assert ask("queue", "cancel", run)["state"] == "cancelled"
    assert ask("queue", "list", "--state", "queued")["runs"] == []
    assert main(["queue", "list"]) == 0
    shown = capsys.readouterr()
    assert run in shown.out
    assert shown.err == ""  # it is cancelled, so no worker has to execute it
    assert main(["queue", "add", "tiny", *FAKE]) == 0
    assert main(["queue", "list"]) == 0
    assert capsys.readouterr().err.count("No service is running") == 2
    monkeypatch.setattr("appliance.bringup.service.has_run_executor", lambda _settings: True)
    assert main(["queue", "list"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["queue", "list", "--state", "queue"]) == 2
    assert "queued" in capsys.readouterr().err


ACTING = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps({"done": "Nothing is to be done."}), flush=True)
"""


@pytest.mark.slow
def test_queued_run_equals_the_run_of_the_same_options(
    ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, state_dir: Path
) -> None:
    (state_dir / "acting.py").write_text(ACTING)
    monkeypatch.chdir(state_dir)
    command = ["--agent-command", f"{sys.executable} acting.py", "--fleet", "fake", "--trees"]
    chosen = ["-t", "*e", "-t", "answer", "-k", "2", "--max-steps", "3", "--time-limit", "20"]
    limits = ["--max-tokens-per-trial", "9000", "--max-usd-per-trial", "0.5", "--retries", "0"]
    args = [str(TINY), *command, *chosen, *limits, "--seed", "7", "--feedback", "hints"]
    at_once = ask("run", *args)["spec"]
    run = ask("queue", "add", *args)["run"]
    assert ask("schedule", "add", "nightly", *args, "--every", "1d")["request"]["repeats"] == 2
    monkeypatch.chdir("/")
    context = make_api_context(open_database(), state_dir / "state")
    carry_out_next(context)
    queued = ask("results", run, "--json")["spec"]
    assert queued["run"] == run
    own = ("run", "started_s")
    assert {**queued, **{name: at_once[name] for name in own}} == at_once
    assert [task["id"] for task in queued["tasks"]] == ["dark-style", "write-file", "answer"]
    assert queued["limits"] == {"steps": 3, "seconds": 20.0, "tokens": 9000, "usd": 0.5}


@pytest.mark.slow
def test_schedule_is_added_paused_run_and_removed(
    ask: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["nightly", str(TINY), *FAKE, "--cron", "0 2 * * *", "--timezone", "Europe/Berlin"]
    notify = ["--webhook", "http://127.0.0.1/hook", "--mail", "a@example.org", "--on", "end"]
    added = ask("schedule", "add", *args, *notify, "--baseline", "previous")
    assert added["trigger"] == {"kind": "cron", "line": "0 2 * * *", "timezone": "Europe/Berlin"}
    assert [target["on"] for target in added["notify"]] == [["end"], ["end"]]
    assert ask("schedule", "add", *args, *notify, "--baseline", "previous") == added
    assert ask("schedule", "pause", "nightly")["next_s"] is None
    assert ask("schedule", "resume", "nightly")["next_s"] == added["next_s"]
    run = ask("schedule", "run-now", "nightly")["run"]
    assert [slot["run"] for slot in ask("schedule", "history", "nightly")["slots"]] == [run]
    assert main(["schedule", "list"]) == 0
    assert "0 2 * * * (Europe/Berlin)" in capsys.readouterr().out
    assert main(["schedule", "history", "nightly"]) == 0
    assert run in capsys.readouterr().out
    ask("schedule", "remove", "nightly")
    assert ask("schedule", "list")["schedules"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "either --cron or --every"),
        (["--cron", "0 0 30 2 *"], "never fires"),
        (["--every", "soon"], "is not an interval"),
        (["--every", "1h", "--on", "end"], "needs a recipient"),
        (["--every", "1h", "--baseline", "20200101-000000-0000"], "no run called"),
        (["--every", "1h", "--task", "nope"], "no task called"),
        (["--every", "1h", "--mail", "nobody"], "notify.0.mail.to"),
    ],
)
def test_wrong_schedules_are_rejected(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "add", "s", str(TINY), *FAKE, *options]) == 2
    assert message in capsys.readouterr().err
    assert main(["schedule", "history", "s"]) == 2


@pytest.mark.slow
def test_state_is_copied_and_overwrites_no_file(
    ask: Callable[..., Any], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = state_dir / "copy.sqlite"
    assert ask("service", "backup", str(target)) == {"path": str(target)}
    assert target.read_bytes().startswith(b"SQLite format 3")
    assert open_files(state_dir / "state/service/state.sqlite") == []  # closed with the command
    assert main(["service", "backup", str(target)]) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.slow
def test_copy_is_restored_only_while_the_service_is_stopped(
    ask: Callable[..., Any], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add = ("schedule", "add", "--cron", "0 2 * * *")
    ask(*add, "kept", str(TINY), *FAKE)
    token = ask("service", "token", "add", "dashboard", "--role", "read")
    copy = state_dir / "copy.sqlite"
    ask("service", "backup", str(copy))
    ask(*add, "late", str(TINY), *FAKE)
    for lock in ("metrics/controller.lock", "run/scheduler.lock", "run/worker.lock"):
        with locked(state_dir / "state" / lock, what="The service"):
            assert main(["service", "restore", str(copy)]) != 0
        assert "The service is running." in capsys.readouterr().err

    def names() -> list[str]:
        return [row["name"] for row in ask("schedule", "list")["schedules"]]

    assert names() == ["kept", "late"]
    done = ask("service", "restore", str(copy))
    assert names() == ["kept"]
    assert [row["name"] for row in ask("service", "token", "list")["tokens"]] == ["dashboard"]
    assert token["token"] not in copy.read_bytes().decode(errors="replace")
    replaced = Path(done["replaced"])
    assert (state_dir / "state/service/state.sqlite").stat().st_mode & 0o777 == 0o600
    ask("service", "restore", str(replaced))
    assert names() == ["kept", "late"]


@pytest.mark.slow
def test_damaged_state_is_replaced_and_an_invalid_copy_rejected(
    ask: Callable[..., Any], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask("schedule", "add", "kept", str(TINY), "--every", "6h", *FAKE)
    copy, path = state_dir / "copy.sqlite", state_dir / "state/service/state.sqlite"
    ask("service", "backup", str(copy))
    for ending in ("", "-wal", "-shm"):  # separate files: the earlier ones are still open
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(b"torn")
    wrong = state_dir / "wrong.sqlite"
    wrong.write_bytes(copy.read_bytes()[:5000])
    empty = state_dir / "empty.sqlite"
    empty.touch()
    newer = state_dir / "newer.sqlite"
    newer.write_bytes(copy.read_bytes())
    with contextlib.closing(sqlite3.connect(newer)) as made, made:
        made.execute("UPDATE alembic_version SET version_num = 'r9999'")
    for file, message in (
        (wrong, "wrong.sqlite is"),
        (empty, "not a backup"),
        (state_dir / "nothing", "not a backup"),
        (newer, "newer Mesocosm"),
    ):
        assert main(["service", "restore", str(file)]) == 2, file
        assert message in capsys.readouterr().err
    assert path.read_bytes() == b"torn"
    ask("service", "restore", str(copy))
    assert [row["name"] for row in ask("schedule", "list")["schedules"]] == ["kept"]
    assert path.with_name("state.sqlite.replaced").read_bytes() == b"torn"


@pytest.mark.slow
def test_token_is_shown_once(ask: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    made = ask("service", "token", "add", "dashboard")
    assert made["role"] == "read"
    assert main(["service", "token", "list"]) == 0
    shown = capsys.readouterr().out
    assert "dashboard" in shown
    assert made["token"] not in shown
    assert main(["service", "token", "add", "dashboard", "--role", "operate"]) == 2
    assert main(["service", "token", "add", "other", "--role", "root"]) == 2
    assert "operate" in capsys.readouterr().err
    assert main(["service", "token", "add", "other", "--role", "reader"]) == 2
    assert "Did you mean 'read'?" in capsys.readouterr().err
    ask("service", "token", "remove", "dashboard")
    assert ask("service", "token", "list") == {"tokens": []}


@pytest.mark.slow
def test_files_missing_in_the_workers_container_are_rejected_at_queueing(
    ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = WorkerReport(version="1", place="container", machines=(), hosts={})
    monkeypatch.setattr("controller.service.worker.report.ask_worker", lambda _settings: inside)
    for command in (["queue", "add"], ["schedule", "add", "nightly", "--every", "1d"]):
        assert main([*command, str(TINY), *FAKE]) == 2
        refused = capsys.readouterr().err
        assert "container cannot see" in refused
        assert str(TINY) in refused
    assert ask("queue", "add", "smoke", *FAKE)["state"] == "queued"
    outside = inside.model_copy(update={"place": "host"})
    monkeypatch.setattr("controller.service.worker.report.ask_worker", lambda _settings: outside)
    assert ask("queue", "add", str(TINY), *FAKE)["state"] == "queued"
