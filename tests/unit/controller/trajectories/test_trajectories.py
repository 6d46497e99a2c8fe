"""Exports of trials on machines in memory: of models by the stand-in server, of people, of solutions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.actions.space import Action
from controller.executors.local import LocalExecutor, LocalTrials
from controller.experiments.record import ExperimentStore
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.specification.agent import CustomSpec
from controller.store.event_log import EVENTS
from controller.store.runs import Store
from controller.wiring import make_context, open_suite
from foundation.clock import FakeClock
from foundation.files import digest_bytes
from foundation.settings import get_settings
from provisioning.fake import FakeFleet
from tests.unit.controller.lab import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.episode.episode import Episode
    from controller.observation.observer import Observation

TINY = Path(__file__).resolve().parents[3] / "suites/tiny"
TASK = "write-file"
AGENT_FIELDS = ("model_name", "reasoning_content", "tool_calls", "metrics")
"""Fields that ATIF allows in steps of the agent only."""
MODEL = {
    "members": {
        "m": {
            "rules": [
                {
                    "when": {"turn": 1},
                    "reply": {
                        "text": "A terminal.",
                        "reasoning": "It writes files.",
                        "calls": [{"name": "desktop__open_app", "with": {"name": "Terminal"}}],
                        "usage": {"input": 100, "output": 10, "cached": 40},
                    },
                },
                {"when": {"turn": 2}, "reply": {"text": "I think.", "usage": "missing"}},
                {
                    "reply": {
                        "calls": [
                            {
                                "name": "desktop__type_text",
                                "with": {"text": "echo hello > note.txt\n"},
                            }
                        ],
                        "usage": {"input": 300, "output": 20, "cached": 0},
                    }
                },
            ]
        }
    }
}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    yield tmp_path / "state"
    get_settings.cache_clear()


@pytest.fixture
def export(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Any], str]]:
    """Return a command that exports to ``out``, and returns exit code, summary and errors."""

    def call(*args: str) -> tuple[int, dict[str, Any], str]:
        capsys.readouterr()
        code = main(["export", "-o", str(tmp_path / "out"), "--json", *args])
        shown = capsys.readouterr()
        return code, json.loads(shown.out or "{}"), shown.err

    return call


def play(*args: str) -> None:
    assert main(["run", str(TINY), "--fleet", "fake", "--task", TASK, "--json", *args]) in {0, 1}


def play_model(server: str, *args: str) -> None:
    play(
        *("--agent", "model", "--model", "m", "--base-url", f"{server}/v1", "--no-preflight"),
        *args,
    )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    (file,) = (folder / "messages").iterdir()
    return [json.loads(line) for line in file.read_text().splitlines()]


def atif_of(folder: Path) -> dict[str, Any]:
    (file,) = (folder / "atif").iterdir()
    document: dict[str, Any] = json.loads(file.read_text())
    check_atif(document, file.parent)
    return document


def check_atif(document: dict[str, Any], folder: Path) -> None:
    """Check the rules of ATIF 1.8. Source: the validators of Harbor 0.26."""
    assert document["schema_version"] == "ATIF-v1.8"
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    assert document["final_metrics"]["total_steps"] == len(steps)
    for step in steps:
        if step["source"] != "agent":
            assert [name for name in AGENT_FIELDS if name in step] == []
        if step.get("llm_call_count") == 0:
            assert "metrics" not in step
            assert "reasoning_content" not in step
        ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = step.get("observation", {}).get("results", [])
        named = {row["source_call_id"] for row in results if "source_call_id" in row}
        assert named <= ids
        contents = [step["message"], *(row["content"] for row in results)]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        for part in parts:
            if part["type"] == "image":
                path = folder / part["source"]["path"]
                assert digest_bytes(path.read_bytes()) == path.stem


@pytest.mark.slow
def test_rows_of_a_model_are_what_it_was_sent(
    export: Callable[..., tuple[int, dict[str, Any], str]], tmp_path: Path
) -> None:
    with serving(parse_script(MODEL)) as server:
        play_model(server.address)
        sent = [record["images"] for record in server.responder.records]
    code, summary, err = export()
    assert (code, summary["written"], summary["exact_message_rows"]) == (0, 1, 3), err
    rows = rows_of(tmp_path / "out")
    for row, digests in zip(rows, sent, strict=True):
        images = [
            part["image"]
            for message in row["messages"]
            for part in message["content"]
            if part["type"] == "image"
        ]
        assert [Path(image).stem for image in images] == digests
        assert row["loss_mask"] == [0] * (len(row["messages"]) - 1) + [1]
        assert row["messages"][-1]["role"] == "assistant"
        assert "tokens" not in row
        assert 0 < row["seconds"]["model"] <= row["seconds"]["agent"] + 0.01
    assert rows[0]["usage"] == {"prompt": 100, "completion": 10, "cached": 40}
    assert "usage" not in rows[1]
    assert (rows[1]["executed"], rows[1]["refused"]) == (0, "unusable_reply")
    assert rows[2]["reward"] == {
        "trial": 1.0,
        "turn": 1.0,
        "met": ["written"],
        "verdict": "PASS",
        "reason": "success",
    }
    assert {tool["function"]["name"] for tool in rows[0]["tools"]} >= {"desktop__open_app"}

    document = atif_of(tmp_path / "out")
    first, unread, last = document["steps"][-3:]
    assert (first["message"], first["reasoning_content"]) == ("A terminal.", "It writes files.")
    assert first["metrics"] == {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 40}
    assert "metrics" not in unread
    assert last["extra"]["reward"] == 1.0
    assert "total_prompt_tokens" not in document["final_metrics"]
    assert document["extra"]["reward"] == 1.0
    (trial,) = map(json.loads, (tmp_path / "out/trials.jsonl").read_text().splitlines())
    assert (trial["reward"], trial["graph"]["written"]["state"]) == (1.0, "met")


class Person:
    """Does the task as a person on a page would, with a mistake."""

    def drive(self, episode: Episode, _observation: Observation) -> None:
        """Act until the trial is over."""
        moves = [
            Action("click", "desktop", {"x": 9999, "y": 1}),
            Action("open_app", "desktop", {"name": "Terminal"}),
            Action("type_text", "desktop", {"text": "echo hello > note.txt\n"}),
        ]
        while not episode.step([moves.pop(0)]).done:
            pass


def play_person(state: Path) -> None:
    suite, clock = open_suite(str(TINY)), FakeClock()
    spec = specify_run(suite, CustomSpec(name="human"), tasks=(TASK,), fleet="fake")
    folder = Store(state / "runs").create(spec)
    context = make_context(spec, suite, FakeFleet(clock), clock=clock, take=ignore)
    execute_run(folder, LocalExecutor(LocalTrials(suite, context, Person())))


def test_trials_of_people_have_screens_actions_and_rewards(
    export: Callable[..., tuple[int, dict[str, Any], str]], state: Path, tmp_path: Path
) -> None:
    play_person(state)
    code, summary, err = export("latest:*,human")
    assert (code, summary["exact_message_rows"], summary["message_rows"]) == (0, 0, 3), err
    rows = rows_of(tmp_path / "out")
    assert [row["is_exact"] for row in rows] == [False] * 3
    shown, act = rows[2]["messages"]
    assert [part["type"] for part in shown["content"]] == ["text", "text", "image"]
    assert act["tool_calls"][0]["function"]["name"] == "desktop__type_text"
    assert (rows[0]["refused"], rows[2]["reward"]["turn"]) == ("off_screen", 1.0)
    document = atif_of(tmp_path / "out")
    assert document["agent"]["name"] == "human"
    assert [step["llm_call_count"] for step in document["steps"][1:]] == [0, 0, 0]
    assert "prompt_tokens" not in json.dumps(document)


@pytest.mark.slow
def test_export_continues_and_keeps_what_is_unchanged(
    export: Callable[..., tuple[int, dict[str, Any], str]], state: Path, tmp_path: Path
) -> None:
    play("--agent", "oracle")
    assert export()[1]["written"] == 1
    (file,) = (tmp_path / "out/atif").iterdir()
    stamp = file.stat().st_mtime_ns
    play("--agent", "noop")
    summary = export()[1]
    assert (summary["written"], summary["kept"]) == (1, 1)
    assert file.stat().st_mtime_ns == stamp
    file.unlink()  # as if the export had been killed before
    assert (export()[1]["written"], file.is_file()) == (1, True)
    rows = (tmp_path / "out/trials.jsonl").read_text().splitlines()
    assert {json.loads(row)["verdict"] for row in rows} == {"PASS", "FAIL"}


@pytest.mark.slow
def test_filters_choose_trials(
    export: Callable[..., tuple[int, dict[str, Any], str]], tmp_path: Path
) -> None:
    play("--agent", "oracle")
    play("--agent", "noop")
    code, summary, _ = export("--passed", "--suite", "tiny", "--task", "write-*")
    assert (code, summary["written"], summary["left_out"]) == (0, 1, 1)
    code, _, err = export("--passed")
    assert code == 2
    assert "other options: suites, tasks" in err
    code, _, err = export("--suite", "none")
    assert code == 2
    assert "No trial matches" in err
    code, _, err = export("--format", "atiff")
    assert (code, "'atif'" in err) == (2, True)
    code, _, err = export("20200101")
    assert (code, "no run" in err.lower() or "There is no" in err) == (2, True)


@pytest.mark.slow
def test_runs_of_an_experiment_are_chosen_by_its_name(
    export: Callable[..., tuple[int, dict[str, Any], str]], tmp_path: Path, state: Path
) -> None:
    play("--agent", "oracle")
    path = tmp_path / "matrix.yaml"
    path.write_text(
        f"name: mine\nsuite: {TINY}\ntasks: [{TASK}]\nfleet: fake\n"
        "rows:\n  - {name: one, agent: noop}\n  - {name: two, agent: random}\n"
    )
    assert main(["run", "--matrix", str(path), "--json"]) == 0
    code, summary, err = export("--experiment", "mine")
    assert (code, summary["written"]) == (0, 2), err
    rows = (tmp_path / "out/trials.jsonl").read_text().splitlines()
    assert {json.loads(row)["agent"] for row in rows} == {"noop", "random"}
    code, _, err = export("--experiment", "mien")
    assert (code, "'mine'" in err) == (2, True)
    store = ExperimentStore(state / "experiments")
    record = store.open("mine")
    begun = tuple(row.model_copy(update={"run": ""}) for row in record.rows)
    store.save(record.model_copy(update={"rows": begun}))
    code, _, err = export("--experiment", "mine")
    assert (code, "has begun" in err) == (2, True)
    code, _, err = export("latest:*,human")
    assert (code, "No run matches '*', 'human'" in err) == (2, True)
    assert all(f"tiny,{agent}" in err for agent in ("random", "noop", "oracle"))


@pytest.mark.slow
def test_a_damaged_log_and_missing_pictures_are_named(
    export: Callable[..., tuple[int, dict[str, Any], str]], state: Path, tmp_path: Path
) -> None:
    play("--agent", "oracle")
    play("--agent", "noop")
    first, second = (Store(state / "runs").open(name) for name in Store(state / "runs").names())
    log = next(first.path.glob(f"trials/*/*/{EVENTS}"))
    log.write_bytes(log.read_bytes().replace(b'{"type":"observation"', b"broken", 1))
    for picture in second.path.glob("blobs/*.png"):
        picture.unlink()
    code, summary, _ = export()
    assert code == 1
    (why,) = summary["failed"].values()
    assert why.startswith(f"{log}:")
    assert why.endswith(" is damaged.")
    assert summary["missing_pictures"] > 0
    check_atif(json.loads(next((tmp_path / "out/atif").iterdir()).read_text()), tmp_path)


def test_a_folder_with_something_else_is_refused(
    export: Callable[..., tuple[int, dict[str, Any], str]], tmp_path: Path
) -> None:
    play("--agent", "oracle")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.txt").write_text("mine")
    code, _, err = export()
    assert code == 2
    assert "not an export" in err
