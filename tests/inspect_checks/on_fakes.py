"""Evaluations with Inspect against a service with machines in memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate_tasks
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentImage, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import computer

import mesocosm
from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.sandbox import MesocosmSandbox
from mesocosm.inspect.suite import graph, instruct
from mesocosm.inspect.suite import suite as suite_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.log import EvalLog

HELLO = "echo hello > note.txt\n"


def model(*calls: tuple[str, dict[str, Any]]) -> Any:
    """Return a model that makes these calls and then ends; counting tokens would need a network."""
    name = "mockllm/model"
    outputs = [ModelOutput.for_tool_call(name, tool, arguments) for tool, arguments in calls]
    outputs += [ModelOutput.from_content(name, "done")]
    outputs += [ModelOutput.for_tool_call(name, "submit", {"answer": "done"})] * 3
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model(
        name, custom_outputs=[output.model_copy(update={"usage": usage}) for output in outputs]
    )


def evaluate(task: Task, tmp_path: Path, **options: Any) -> EvalLog:
    (log,) = evaluate_tasks(task, log_dir=str(tmp_path), display="none", **options)
    with mesocosm.connect() as client:
        assert all(row.phase == "over" for row in client.episodes())
    return log


def test_suite_is_scored_by_its_graph(tmp_path: Path) -> None:
    oracle = model(
        ("actions", {"do": "open_app", "on": "phone", "arguments": {"name": "Settings"}}),
        ("actions", {"do": "open_app", "on": "phone", "arguments": {"name": "Contacts"}}),
    )
    passed = evaluate(suite_task("tiny", tasks="two-apps", fleet="fake"), tmp_path, model=oracle)
    assert passed.status == "success", passed.error
    assert passed.results
    assert passed.results.scores[0].metrics["accuracy"].value == 1.0
    (sample,) = passed.samples or []
    assert sample.scores
    assert sample.scores["graph"].metadata == {"nodes_met": 2, "nodes": 2, "unmet": {}}
    idle = evaluate(suite_task("tiny", tasks="two-apps", fleet="fake"), tmp_path, model=model())
    assert idle.results
    assert idle.results.scores[0].metrics["accuracy"].value == 0.0


def answering(*outputs: ModelOutput) -> Any:
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    made = [output.model_copy(update={"usage": usage}) for output in outputs]
    return get_model("mockllm/model", custom_outputs=made)


def submit(answer: str, content: str = "") -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": answer}, content=content)


ACTION = {"do": "submit", "arguments": {"answer": "0"}}


@pytest.mark.parametrize(
    ("outputs", "accuracy"),
    [
        ([submit("0")], 1.0),
        ([submit("0", "I have counted 3 twice.")], 1.0),
        ([submit("7")], 0.0),
        ([ModelOutput.for_tool_call("mockllm/model", "actions", ACTION), submit("done")], 1.0),
    ],
)
def test_answers_to_inspect_reach_the_graph(
    outputs: list[ModelOutput], accuracy: float, tmp_path: Path
) -> None:
    task = suite_task("tiny", tasks="answer", fleet="fake")
    log = evaluate(task, tmp_path, model=answering(*outputs))
    assert log.status == "success", log.error
    assert log.results
    assert log.results.scores[0].metrics["accuracy"].value == accuracy


def test_last_text_is_the_answer_of_an_agent_without_tools(tmp_path: Path) -> None:
    config = MesocosmConfig(task="tiny/answer", fleet="fake")
    task = Task(
        dataset=[Sample(input="x", sandbox=("mesocosm", config))],
        solver=[instruct(), generate()],
        scorer=graph(),
    )
    log = evaluate(task, tmp_path, model=answering(ModelOutput.from_content("mockllm/model", "0")))
    assert log.results
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    (sample,) = log.samples or []
    assert "`actions`" not in sample.messages[0].text


def test_model_gets_the_arguments_of_actions(tmp_path: Path) -> None:
    task = suite_task("tiny", tasks="answer", fleet="fake")
    log = evaluate(task, tmp_path, model=answering(submit("0")))
    (sample,) = log.samples or []
    call = next(event for event in sample.events if event.event == "model")
    (tool,) = (tool for tool in call.tools if tool.name == "actions")
    description = sample.attachments[tool.description.removeprefix("attachment://")]
    for line in ("- tap(x: integer, y: integer): ", "- submit(answer: string): ", "- complete(): "):
        assert line in description
    assert any("`actions`" in message.text for message in sample.messages)


@pytest.mark.parametrize("screen", ["native", (1366, 768)])
def test_computer_hits_what_it_shows(screen: Any, tmp_path: Path) -> None:
    with (
        mesocosm.connect() as client,
        client.open("tiny/write-file", fleet="fake", trees=True) as env,
    ):
        assert env.observation
        (button,) = (e for e in env.observation.trees["desktop"] if e.name == "Terminal")
        size = (env.observation.screen.width, env.observation.screen.height)
    shown = size if screen == "native" else screen
    x, y = (
        round((button.bounds[side] + button.bounds[side + 2]) / 2 * shown[side] / size[side])
        for side in (0, 1)
    )
    clicks = model(
        ("computer", {"action": "screenshot"}),
        ("computer", {"action": "left_click", "coordinate": [x, y]}),
        ("computer", {"action": "type", "text": HELLO}),
    )
    config = MesocosmConfig(task="tiny/write-file", screen=screen, fleet="fake")
    task = Task(
        dataset=[Sample(input="x", sandbox=("mesocosm", config))],
        solver=[use_tools(computer(max_screenshots=None)), generate()],
        scorer=graph(),
    )
    log = evaluate(task, tmp_path, model=clicks)
    assert log.status == "success", log.error
    assert log.results
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    (sample,) = log.samples or []
    pictures = [
        part
        for message in sample.messages
        if message.role == "tool" and not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ContentImage)
    ]
    assert len(pictures) == 3


@solver
def fail_while_others_think() -> Solver:
    """Raise in the first sample once another episode is open; the others never end."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id != 0:
            await asyncio.Event().wait()
        assert await asyncio.to_thread(becomes_true, lambda: len(is_open()) > 1)
        raise ConnectionError("the model is gone")

    return solve


def is_open() -> list[str]:
    with mesocosm.connect() as client:
        return [row.id for row in client.episodes() if row.phase != "over"]


def becomes_true(is_so: Callable[[], bool]) -> bool:
    limit_s = time.monotonic() + 10
    while not is_so() and time.monotonic() < limit_s:
        time.sleep(0.1)
    return is_so()


def test_failed_evaluation_closes_the_other_episodes_at_once(tmp_path: Path) -> None:
    config = MesocosmConfig(task="tiny/write-file", fleet="fake")
    samples = [Sample(id=n, input="x", sandbox=("mesocosm", config)) for n in range(6)]
    task = Task(dataset=samples, solver=fail_while_others_think(), scorer=graph())
    (log,) = evaluate_tasks(
        task, model="mockllm/model", log_dir=str(tmp_path), display="none", max_samples=6
    )
    assert log.status == "error"
    assert becomes_true(lambda: not is_open())  # without heartbeats, one lives for a minute


def test_half_made_sandboxes_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("the machine is silent")

    monkeypatch.setattr("mesocosm.inspect.guest.Guest.home", fail)
    config = MesocosmConfig(task="tiny/write-file", fleet="fake")
    with pytest.raises(RuntimeError, match="silent"):
        asyncio.run(MesocosmSandbox.sample_init("x", config, {}))
    with mesocosm.connect() as client:
        assert client.episodes()[0].end == "cancelled"


def test_logs_open_in_inspects_tools(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    log = evaluate(suite_task("tiny", tasks="two-apps", fleet="fake"), logs, model=model())
    assert read_eval_log(log.location).samples  # with its configuration, which it reads again
    inspect = str(Path(sys.executable).with_name("inspect"))
    for arguments in (
        ["log", "dump", log.location],
        ["view", "bundle", "--log-dir", str(logs), "--output-dir", str(tmp_path / "view")],
    ):
        subprocess.run([inspect, *arguments], check=True, capture_output=True, timeout=120)
    assert (tmp_path / "view/index.html").is_file()
