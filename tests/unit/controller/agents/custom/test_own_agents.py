from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.agents.custom import command
from controller.agents.registry import make_driver, specify_agent
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.result import Reason
from controller.episode.trial import run_trial
from controller.specification.agent import agent_name
from evaluators.graph.outcome import Verdict
from foundation.errors import SpecError, UnknownNameError, UsageError
from provisioning.fake import FakeFleet
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.episode.result import TrialResult
    from tests.unit.controller.bench import Bench

OPEN = {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}
TYPE = {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}}
CLASS = """
from mine_words import TURNS

class Mine:
    def __init__(self):
        self.turns = list(TURNS)

    def act(self, observation):
        return self.turns.pop(0)
"""
WORDS = f"TURNS = [{OPEN!r}, {TYPE!r}]\n"
RAISING = """
class Mine:
    def act(self, observation):
        return json_of(observation)

def json_of(observation):
    import json
    return json.loads("{")
"""
COMMAND = f"""
import json, os, sys
print("awake", file=sys.stderr, flush=True)
turns = iter({[OPEN, TYPE]!r})
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        names = {{action["do"] for action in message["actions"] if action["on"] == "desktop"}}
        print(json.dumps({{"type": "log", "pid": os.getpid(), "click": "click" in names}}))
    elif message["type"] == "observation":
        size = (message["screens"]["desktop"]["width"], len(message["screens"]["desktop"]["png"]))
        print(json.dumps({{"actions": [next(turns)], "note": str(size[1] > 100)}}), flush=True)
"""


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(command, "_END_S", 0.5)
    yield
    sys.modules.pop("mine_words", None)


def write(folder: Path, source: str, name: str = "mine.py") -> None:
    (folder / name).write_text(source)


PROGRESS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "observation":
        print(json.dumps({"type": "log", "progress": message.get("progress")}), flush=True)
        print(json.dumps({"do": "complete"}), flush=True)
"""


def tried(bench: Bench, agent: str, command: str | None = None) -> TrialResult:
    spec = specify_agent(agent, command=command)
    return bench.drive(make_task(), make_driver(spec))


def entries(bench: Bench, kind: str) -> list[dict[str, Any]]:
    rows = [row for row in bench.events if row["type"] == "agent"]
    return [row["data"] for row in rows if row["kind"] == kind]


def test_class_acts_and_a_changed_one_is_rejected(bench: Bench, tmp_path: Path) -> None:
    write(tmp_path, CLASS)
    write(tmp_path, WORDS, "mine_words.py")
    spec = specify_agent("mine.py:Mine")
    assert agent_name(spec) == "mine.py:Mine"
    os.chdir("/")
    assert bench.drive(make_task(), make_driver(spec)).verdict is Verdict.PASS
    write(tmp_path, WORDS + "# other\n", "mine_words.py")
    with pytest.raises(UsageError, match=r"mine.py:Mine has changed"):
        make_driver(spec)


def test_exception_of_a_class_is_summarised_in_the_result_and_logged(
    bench: Bench, tmp_path: Path
) -> None:
    write(tmp_path, RAISING)
    result = tried(bench, "mine.py:Mine")
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert "raised JSONDecodeError" in result.detail
    assert "mine.py:8, in json_of" in result.detail
    (logged,) = entries(bench, "traceback")
    assert 'mine.py", line 4, in act' in logged["text"]


def test_wrong_return_value_is_an_agent_error(bench: Bench, tmp_path: Path) -> None:
    write(tmp_path, "class Mine:\n    def act(self, observation):\n        return 7\n")
    result = tried(bench, "mine.py:Mine")
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert "invalid turn: 7" in result.detail
    assert "mine.py:2, in act\nit is an int" in result.detail


@pytest.mark.parametrize(
    ("source", "reference", "error", "message"),
    [
        ("", "none.py:Mine", UsageError, "no file"),
        ("", "no_such_module:Mine", UsageError, "no module 'no_such_module'"),
        ("class Mine:\n    act = 1\n", "mine.py:Mina", UnknownNameError, "'Mine'"),
        ("class Mine: pass\n", "mine.py:Mine", UsageError, "method act"),
        ("import no_such_module\n", "mine.py:Mine", SpecError, "mine.py:1"),
        ("x = 1\nraise SystemExit('no')\n", "mine.py:Mine", SpecError, "mine.py:2"),
        ("class Mine:\n  def\n", "mine.py:Mine", SpecError, "mine.py:2"),
    ],
)
def test_unusable_class_is_rejected_before_the_run(
    tmp_path: Path, source: str, reference: str, error: type[Exception], message: str
) -> None:
    write(tmp_path, source)
    with pytest.raises(error) as caught:
        specify_agent(reference)
    assert message in str(caught.value)


def test_command_acts_and_ends_with_its_trial(bench: Bench, tmp_path: Path) -> None:
    write(tmp_path, COMMAND)
    spec = specify_agent(command=f"{sys.executable} mine.py")
    assert agent_name(spec) == f"{sys.executable} mine.py"
    assert bench.drive(make_task(), make_driver(spec)).verdict is Verdict.PASS
    (logged,) = entries(bench, "log")
    assert logged["click"] is True
    assert entries(bench, "stderr") == [{"text": "awake\n"}]
    assert [row["note"] for row in bench.events if row["type"] == "step"] == ["True", "True"]
    write(tmp_path, COMMAND + "# other\n")
    with pytest.raises(UsageError, match="have changed"):
        make_driver(spec)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys\nsys.stdin.readline()\nraise RuntimeError('boom')", 'mine.py", line 3'),
        ("import os\nos.kill(os.getpid(), 15)\ninput()\ninput()", "was killed by SIGTERM"),
        ("import os\nos.kill(os.getpid(), 9)\ninput()\ninput()", "was killed by SIGKILL"),
        ("import os\nos.abort()", "was killed by SIGABRT"),
        ("raise SystemExit(7)", "ended with exit code 7"),
        ("print('Loading ...', flush=True)\ninput()\ninput()", "not JSON: 'Loading ...'"),
        ("print('[1]', flush=True)\ninput()\ninput()", "invalid turn: [1]"),
    ],
)
def test_failing_command_is_an_agent_error(
    bench: Bench, tmp_path: Path, source: str, message: str
) -> None:
    write(tmp_path, source)
    result = tried(bench, "", command=f"{sys.executable} mine.py")
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert message in result.detail


@pytest.mark.slow
def test_unresponsive_command_is_killed(tmp_path: Path, bench: Bench) -> None:
    write(tmp_path, "import signal\nfor _ in iter(int, 1):\n    signal.pause()\n")
    spec = specify_agent(command=f"{sys.executable} mine.py")
    limits = {"seconds": 60.0, "wall_seconds": 1.0}
    driver = make_driver(spec)
    result = bench.drive(make_task(limits=limits), driver)
    assert result.reason is Reason.WALL_LIMIT
    left = [path for path in Path("/proc").glob("[0-9]*") if _runs_in(path, tmp_path)]
    assert left == []


def _runs_in(process: Path, folder: Path) -> bool:
    try:
        return b"mine.py" in (process / "cmdline").read_bytes() and (
            (process / "cwd").readlink() == folder
        )
    except OSError:
        return False


@pytest.mark.parametrize(
    ("command", "message"),
    [("", "empty"), ("'x", "quoting"), ("no-such-program --x", "no program 'no-such-program'")],
)
def test_command_that_cannot_start_is_rejected_before_the_run(command: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        specify_agent(command=command)


def test_agent_is_a_name_or_a_command() -> None:
    with pytest.raises(UsageError, match="Both the agent"):
        specify_agent("oracle", command="true")
    with pytest.raises(UsageError, match="No agent was specified"):
        specify_agent("")
    assert json.loads(specify_agent(command="true").model_dump_json())


LIAR = """
import json, sys, time
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        time.sleep(0.2)
        print(json.dumps({"actions": [{"do": "wait", "with": {"seconds": 0.1}}], "outage_s": 8}))
        sys.stdout.flush()
"""
LYING = """
import time

class Mine:
    def act(self, observation):
        time.sleep(0.2)
        return {"actions": [{"do": "wait", "with": {"seconds": 0.1}}], "outage_s": 8}
"""


@pytest.mark.parametrize(
    ("source", "agent", "command"),
    [(LIAR, "", f"{sys.executable} mine.py"), (LYING, "mine.py:Mine", None)],
    ids=["command", "class"],
)
@pytest.mark.slow
def test_outage_that_is_only_reported_is_charged(
    tmp_path: Path, source: str, agent: str, command: str | None
) -> None:
    write(tmp_path, source)
    driver = make_driver(specify_agent(agent, command=command))
    task = make_task(limits={"seconds": 1.0, "steps": 30, "repetitions": 99})
    result = run_trial(Episode(RunContext(FakeFleet())), task, driver)
    assert result.reason is Reason.TIME_LIMIT


def test_command_gets_task_progress_on_request(bench: Bench, tmp_path: Path) -> None:
    write(tmp_path, PROGRESS, "far.py")
    tried(bench, "", f"{sys.executable} far.py")
    assert [entry["progress"] for entry in entries(bench, "log")] == [None]
    bench.feedback = "nodes"
    tried(bench, "", f"{sys.executable} far.py")
    ((progress,),) = [entry["progress"] for entry in entries(bench, "log")]
    assert progress.startswith("dark: Not yet satisfied")
