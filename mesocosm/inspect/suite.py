"""A suite as an Inspect task: its tasks as samples, its graph as scorer."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
from inspect_ai.tool import Tool, ToolError, computer, tool
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from mesocosm.client.errors import EpisodeOverError
from mesocosm.client.models import Verdict, act
from mesocosm.client.sync import connect
from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.errors import InconclusiveError
from mesocosm.inspect.sandbox import MesocosmSandbox

if TYPE_CHECKING:
    from mesocosm.client.aio import AsyncEnv


def current_env() -> AsyncEnv:
    """Return the episode of the current sample."""
    env: AsyncEnv = sandbox().as_type(MesocosmSandbox).env
    return env


@task
def suite(
    name: str,
    tasks: str = "",
    seed: int = 0,
    server: str | None = None,
    commands: Literal["agent", "root"] = "agent",
    feedback: Literal["none", "hints", "nodes"] = "none",
    fleet: Literal["real", "fake"] = "real",
) -> Task:
    """Return the tasks of a suite as an Inspect task.

    Args:
        name: name of the suite.
        tasks: ids of its tasks, separated by commas; all by default.
        seed: seed of the tasks' parameters.
        server: address of the service.
        commands: see `MesocosmConfig`.
        feedback: feedback on progress in observations.
        fleet: ``fake`` leases machines in memory.

    Raises:
        ValueError: the suite has no such task.
    """
    with connect(server) as client:
        known = {entry.id: entry for entry in client.suite(name).tasks}
    chosen = [part.strip() for part in tasks.split(",") if part.strip()] or list(known)
    if unknown := sorted(set(chosen) - known.keys()):
        raise ValueError(f"{name} has no task {', '.join(unknown)}; it has {', '.join(known)}.")
    samples = [
        Sample(
            id=task_id,
            input=known[task_id].instruction,
            target=Verdict.PASS.value,
            sandbox=SandboxEnvironmentSpec(
                "mesocosm",
                MesocosmConfig(
                    task=f"{name}/{task_id}",
                    seed=seed,
                    server=server,
                    commands=commands,
                    feedback=feedback,
                    fleet=fleet,
                ),
            ),
            metadata={"roles": known[task_id].roles},
        )
        for task_id in chosen
    ]
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=chain(instruct(), react(tools=[computer(), actions()])),
        scorer=graph(),
    )


@solver
def instruct() -> Solver:
    """Replace the input by the episode's instruction, whose parameters the seed has bound."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        env = current_env()
        kinds = sorted({f"{action.on}: {action.do}" for action in env.actions if action.on})
        state.messages = [
            ChatMessageUser(
                content=f"{env.instruction}\n\nFurther actions, for the tool `actions`: "
                + ", ".join(kinds)
            )
        ]
        return state

    return solve


@tool
def actions() -> Tool:
    """Return the tool for all actions of the episode, on all its machines."""

    async def execute(do: str, on: str = "", arguments: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - of contents
        """Carry out one action of the task on one of its machines, and return the screens.

        Args:
            do: name of the action, such as tap, open_app, submit, or complete.
            on: role of the machine, such as phone; empty for actions on the session.
            arguments: arguments of the action, such as {"x": 10, "y": 20}.

        Returns:
            Feedback, results and screens.
        """
        try:
            step = await current_env().step([act(do, on or None, **(arguments or {}))])
        except EpisodeOverError as exc:
            raise ToolError(exc.brief) from exc
        seen = step.observation
        texts = [seen.feedback, *(f"{result.call}: {result.text}" for result in seen.results)]
        if step.done:
            texts.append("The task is over; further actions are not carried out.")
        content: list[ContentText | ContentImage] = [
            ContentText(text=text) for text in texts if text
        ]
        for role, screen in seen.screens.items():
            content.append(ContentText(text=f"{role}, {screen.width} x {screen.height} px"))
            if screen.png is not None:
                data = base64.b64encode(screen.png).decode()
                content.append(ContentImage(image=f"data:image/png;base64,{data}"))
        return content

    return execute


@scorer(metrics=[accuracy(), stderr()])
def graph() -> Scorer:
    """Score by the task's graph: 1 for PASS, 0 for FAIL; no verdict is an error of the sample."""

    async def score(state: TaskState, target: Target) -> Score:
        del state, target
        env = current_env()
        standing = await env.evaluate()
        if not env.is_over:
            await env.step([act("complete")])
        outcome = await env.close()
        if outcome is None or outcome.reward is None:
            raise InconclusiveError(f"{env.suite}/{env.task} has no verdict: {outcome}")
        return Score(
            value=outcome.reward,
            answer=outcome.verdict.value,
            explanation=f"{outcome.reason}: {outcome.detail}".rstrip(": "),
            metadata={
                "nodes_met": standing.nodes_met,
                "nodes": standing.nodes,
                "unmet": {row.node: row.why for row in standing.unmet},
            },
        )

    return score
