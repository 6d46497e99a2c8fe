"""Options of runs, of every command that asks for one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def _agents() -> list[str]:
    from appliance.base.settings import get_settings
    from controller.agents.registry import AGENTS
    from controller.registered.agents import agent_copies

    return [*AGENTS, *agent_copies(get_settings()).names()]


def _suites() -> list[str]:
    """Return the names of all suites, for completion: those that ship, and those that are registered."""
    from appliance.base.settings import get_settings
    from controller.registered.suites import known_suites

    return known_suites(get_settings())


Suite = Annotated[
    str, typer.Argument(help="Name of a suite, or its folder.", autocompletion=_suites)
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        help="oracle, noop, random, script, model, or a class: module:Class or file.py:Class.",
        autocompletion=_agents,
    ),
]
AgentCommand = Annotated[
    str | None,
    typer.Option("--agent-command", help="A command that acts, by JSON lines; docs/agents.md."),
]
Repeats = Annotated[int, typer.Option("--repeats", "-k", min=1, help="Trials of each task.")]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", "-t", help="Only this task, or those of a pattern; repeatable."),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Only tasks with this tag; repeatable.")
]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", min=1, help="Actions a trial, not the task's limit.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", min=0.001, help="The agent's seconds, not the task's limit."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens-per-trial", min=1, help="The model's tokens, not the task's limit."),
]
MaxUsd = Annotated[
    float | None,
    typer.Option("--max-usd-per-trial", min=0.000001, help="Their price, not the task's limit."),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option("--budget-tokens", min=1, help="Tokens of all attempts of the run together."),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option("--budget-usd", min=0.000001, help="Price of all attempts of the run together."),
]
BudgetSeconds = Annotated[
    float | None,
    typer.Option("--budget-seconds", min=0.001, help="Wall time of all attempts, added up."),
]
ModelExtra = Annotated[
    str | None,
    typer.Option("--model-extra", help="Further fields of each request, as a JSON object."),
]
ImageScale = Annotated[
    float | None,
    typer.Option("--image-scale", min=0.1, max=1.0, help="Make screenshots smaller for the model."),
]
Seed = Annotated[int, typer.Option("--seed", help="Everything random follows from it.")]
Order = Annotated[
    Literal["suite", "shuffled"],
    typer.Option(help="Order in which trials are begun: the suite's, or shuffled by --seed."),
]
Script = Annotated[
    Path | None,
    typer.Option("--script", help="File of actions for --agent script.", dir_okay=False),
]
Solution = Annotated[
    str, typer.Option("--solution", help="Which of a task's `oracles` --agent oracle plays.")
]
Model = Annotated[str | None, typer.Option("--model", help="Model's name for --agent model.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Endpoint for --agent model.")]
Trees = Annotated[bool, typer.Option("--trees", help="Show agents accessibility trees too.")]
Feedback = Annotated[
    Literal["none", "hints", "nodes"],
    typer.Option(help="What agents are told of how far they are: nothing, hints, or all nodes."),
]
Record = Annotated[
    bool, typer.Option("--record", help="Record every machine's screen beside the trial's log.")
]
RecordRate = Annotated[float, typer.Option("--record-rate", help="Frames a second of --record.")]
KeepEndState = Annotated[
    Literal["none", "failed", "all"],
    typer.Option(help="Keep the machines as they were at the end of these trials; see regrade."),
]
Parallel = Annotated[
    int, typer.Option("--parallel", "-p", min=1, help="Trials at a time, as memory allows.")
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries", min=0, help="More attempts at a trial whose machines or model failed."
    ),
]
PreflightOption = Annotated[
    bool,
    typer.Option(
        "--preflight/--no-preflight",
        help="Check model, agent, disk and memory before any machine is leased.",
    ),
]
FleetOption = Annotated[
    str, typer.Option("--fleet", help="real, or fake: machines in memory, for first tries.")
]
