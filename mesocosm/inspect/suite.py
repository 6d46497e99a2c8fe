"""A suite as an Inspect task: its tasks as samples, its graph as scorer."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ToolEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolSource, computer
from inspect_ai.util import SandboxEnvironmentSpec, sandbox, store

from mesocosm.client.errors import EpisodeOverError
from mesocosm.client.models import Verdict, act
from mesocosm.client.sync import connect
from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.errors import InconclusiveError
from mesocosm.inspect.sandbox import MesocosmSandbox
from mesocosm.inspect.schemas import describe

if TYPE_CHECKING:
    from mesocosm.client.aio import AsyncEnv

SUBMIT = "submit"
"""The action, and the tool of Inspect's `react`, that hands in an answer."""
_ANSWERED = "mesocosm:answered"


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
        solver=chain(instruct(with_actions=True), react(tools=[computer(), actions()])),
        scorer=graph(),
    )


@solver
def instruct(*, with_actions: bool = False) -> Solver:
    """Replace the input by the episode's instruction, whose parameters the seed has bound.

    Args:
        with_actions: whether the agent has the tool `actions`, which the text then mentions.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        content = current_env().instruction
        if with_actions:
            content += (
                "\n\nThe tool `actions` has further actions, on all machines of the task."
                " To hand in an answer, use `submit`."
            )
        state.messages = [ChatMessageUser(content=content)]
        return state

    return solve


class Actions(ToolSource):
    """The tool `actions` of the current episode, with the signatures of its actions."""

    async def tools(self) -> list[Tool]:
        """Return the tool."""
        definition = ToolDef(
            _execute,
            name="actions",
            description="Carry out one action of the task on one of its machines, and return the"
            f" screens. Actions:\n{describe(current_env().actions)}",
            parameters={
                "do": "name of the action, such as tap, open_app, submit, or complete",
                "on": "role of the machine, such as phone; empty for actions on the session",
                "arguments": 'arguments of the action, such as {"x": 10, "y": 20}',
            },
        )
        return [definition.as_tool()]


def actions() -> ToolSource:
    """Return the tool for all actions of the episode, on all its machines."""
    return Actions()


async def _execute(do: str, on: str = "", arguments: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - of contents
    try:
        step = await current_env().step([act(do, on or None, **(arguments or {}))])
    except EpisodeOverError as exc:
        raise ToolError(exc.brief) from None
    if do == SUBMIT:
        store().set(_ANSWERED, True)
    seen = step.observation
    texts = [seen.feedback, *(f"{result.call}: {result.text}" for result in seen.results)]
    if step.done:
        texts.append("The task is over; further actions are not carried out.")
    content: list[ContentText | ContentImage] = [ContentText(text=text) for text in texts if text]
    for role, screen in seen.screens.items():
        content.append(ContentText(text=f"{role}, {screen.width} x {screen.height} px"))
        if screen.png is not None:
            data = base64.b64encode(screen.png).decode()
            content.append(ContentImage(image=f"data:image/png;base64,{data}"))
    return content


def submitted_answer(state: TaskState) -> str:
    """Return the answer of the agent: that of its last tool call `submit`, else its last text."""
    for event in reversed(transcript().events):
        if isinstance(event, ToolEvent) and event.function == SUBMIT and event.error is None:
            return str(event.arguments.get("answer", "")).strip()
    completion: str = state.output.completion
    return completion.strip()


async def _hand_in(env: AsyncEnv, state: TaskState) -> None:
    """Give the agent's answer to the graph, unless the agent did so by an action."""
    answer = submitted_answer(state)
    offers = any(action.do == SUBMIT and action.on is None for action in env.actions)
    if answer and offers and not env.is_over and not store().get(_ANSWERED, False):
        await env.step([act(SUBMIT, answer=answer)])


@scorer(metrics=[accuracy(), stderr()])
def graph() -> Scorer:
    """Score by the task's graph: 1 for PASS, 0 for FAIL; no verdict is an error of the sample.

    What the agent submitted to Inspect is handed to the graph as its answer first.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target
        env = current_env()
        await _hand_in(env, state)
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
