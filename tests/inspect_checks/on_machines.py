"""Evaluations with Inspect against a service with a real desktop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate_tasks
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import bash_session, computer
from inspect_ai.util import sandbox

import mesocosm
from mesocosm import act
from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.suite import current_env, graph

if TYPE_CHECKING:
    from pathlib import Path


@solver
def play() -> Solver:
    """Play the reference solutions of both tasks."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        env = current_env()
        if env.task == "desktop-editor":
            await env.step([act("open_app", "desktop", name="Text Editor")])
            command = "setsid gedit ~/Documents/packing.txt >/dev/null 2>&1 &"
            await sandbox().exec(["sh", "-c", command])
            for _ in range(15):
                step = await env.step([act("wait", seconds=2)])
                if "file-open" in step.newly_met:
                    break
            await sandbox().exec(["sh", "-c", "echo 'Items: 7' >> ~/Documents/packing.txt"])
            await env.step([act("wait", seconds=1)])
        else:
            await sandbox().write_file(".done", "done")
        return state

    return solve


def samples(*tasks: str, commands: Any = "agent") -> list[Sample]:
    return [
        Sample(
            input=name, id=name, sandbox=("mesocosm", MesocosmConfig(task=name, commands=commands))
        )
        for name in tasks
    ]


def test_two_tasks_pass_with_their_solutions(tmp_path: Path) -> None:
    task = Task(
        dataset=samples("bare/desktop", "smoke/desktop-editor"), solver=play(), scorer=graph()
    )
    (log,) = evaluate_tasks(
        task, model="mockllm/model", log_dir=str(tmp_path), display="none", max_samples=1
    )
    assert log.status == "success", log.error
    assert log.results
    assert log.results.scores[0].metrics["accuracy"].value == 1.0, [
        sample.scores for sample in log.samples or []
    ]
    with mesocosm.connect() as client:
        assert all(row.phase == "over" for row in client.episodes())


@pytest.mark.parametrize("commands", ["root", "agent"])
def test_bash_session_and_computer_share_the_machine(commands: str, tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("bash_session", {"action": "type_submit", "input": "cd /tmp; echo $((6 * 7)) is; pwd"}),
        ("computer", {"action": "screenshot"}),
        ("bash_session", {"action": "type_submit", "input": "printf done > ~/.done"}),
    ]
    outputs = [ModelOutput.for_tool_call("mockllm/model", *call) for call in calls]
    outputs += [ModelOutput.from_content("mockllm/model", "done")]
    for output in outputs:  # counting would need a network
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = Task(
        dataset=samples("bare/desktop", commands=commands),
        solver=[use_tools(bash_session(), computer()), generate()],
        scorer=graph(),
    )
    chosen = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = evaluate_tasks(task, model=chosen, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    tools = [message for message in sample.messages if message.role == "tool"]
    assert [message.error for message in tools] == [None] * 3
    assert "42 is" in tools[0].text
    assert log.results
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
