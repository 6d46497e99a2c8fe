"""Tasks that offer code, whatever the run offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.controller.bench import Bench, Scripted, make_task

if TYPE_CHECKING:
    from controller.protocol import Agent, AgentContext
    from evaluators.model.task import Task


def offered(bench: Bench, task: Task) -> set[str]:
    """Return the actions on the desktop that the agent of a task is offered."""
    seen: list[set[str]] = []

    class Reader(Scripted):
        def __call__(self, context: AgentContext, /) -> Agent:
            seen.append(set(context.space.tools["desktop"]))
            return self

    bench.run(task, Reader())
    return seen[0]


def test_a_task_may_offer_code_that_the_run_does_not(bench: Bench) -> None:
    without, with_code = offered(bench, make_task()), offered(bench, make_task(code=True))
    assert with_code - without == {"run_python", "run_shell"}
    assert without < with_code
    assert "code" not in make_task().model_dump(mode="json")
