"""Options of the commands that request a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def _agents() -> list[str]:
    from controller.agents.registry import AGENTS
    from controller.registered.agents import agent_copies
    from foundation.settings import get_settings

    return [*AGENTS, *agent_copies(get_settings()).names()]


def _suites() -> list[str]:
    """Return the names of all suites and subsets, for completion."""
    from controller.registered.suites import known_suites
    from evaluators.loading.suite import list_subsets
    from foundation.settings import get_settings

    return [*known_suites(get_settings()), *list_subsets()]


def _observations() -> list[str]:
    """Return the names of all observations, for completion."""
    from controller.specification.presets import PRESETS

    return [*PRESETS]


Suite = Annotated[str, typer.Argument(help="Name or folder of a suite.", autocompletion=_suites)]
Agent = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        help="oracle, noop, random, heuristic, script, replay, model, or a class: module:Class or "
        "file.py:Class.",
        autocompletion=_agents,
    ),
]
AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-command", help="Command of an agent that speaks JSON lines; see docs/agents.md."
    ),
]
Repeats = Annotated[int, typer.Option("--repeats", "-k", min=1, help="Trials per task.")]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", "-t", help="Only this task, or tasks that match; repeatable."),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Only tasks with this tag; repeatable.")
]
ReplayOption = Annotated[
    str,
    typer.Option("--replay", help="The run whose actions --agent replay plays: id, latest, ..."),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        help="Only tasks that need desktops, phones, both (cross), or neither (other); repeatable.",
    ),
]
SubsetOption = Annotated[
    str, typer.Option("--subset", help="Only the tasks of this subset, in its order.")
]
InterfaceOption = Annotated[
    str,
    typer.Option(
        "--interface",
        help="What agents act with: gui (the screen), tools (MCP servers that tasks offer), both.",
    ),
]
CodeOption = Annotated[
    bool,
    typer.Option("--code", help="Let agents run code on desktops: a Python kernel and a shell."),
]
ConfirmOption = Annotated[
    bool,
    typer.Option("--confirm", help="Ask a person to confirm each action, here or on the page."),
]
MaxSteps = Annotated[
    int | None,
    typer.Option("--max-steps", min=1, help="Actions per trial; overrides the task's limit."),
]
MaxTurns = Annotated[
    int | None,
    typer.Option(
        "--max-turns", min=1, help="Replies of the agent per trial, whatever their actions."
    ),
]
History = Annotated[
    int | None,
    typer.Option("--history", min=1, help="Past turns in each request, for --agent model."),
]
Pictures = Annotated[
    int | None,
    typer.Option("--pictures", min=1, help="How many of these turns keep their screenshots."),
]
Profile = Annotated[
    Literal["", "crab"],
    typer.Option(help="Observation, actions, history and limits of a published benchmark: crab."),
]
ActionSet = Annotated[
    Literal["own", "crab"] | None,
    typer.Option(
        "--action-set",
        help="Actions of agents: Mesocosm's own, or those of CRAB, which name elements by marks.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", min=0.001, help="Seconds per trial for the agent; overrides the task's."
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens-per-trial", min=1, help="Model tokens per trial; overrides the task's limit."
    ),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        "--max-usd-per-trial",
        min=0.000001,
        help="Model cost per trial; overrides the task's limit.",
    ),
]
MaxStalledSteps = Annotated[
    int | None,
    typer.Option(
        "--max-stalled-steps",
        min=1,
        help="Actions per trial since a subtask was last completed; overrides the task's limit.",
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens", min=1, help="Model tokens of the whole run, all attempts included."
    ),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(
        "--budget-usd", min=0.000001, help="Model cost of the whole run, all attempts included."
    ),
]
BudgetSeconds = Annotated[
    float | None,
    typer.Option("--budget-seconds", min=0.001, help="Total wall time of all attempts."),
]
ModelExtra = Annotated[
    str | None,
    typer.Option(
        "--model-extra", help="Additional fields of each model request, as a JSON object."
    ),
]
ImageScale = Annotated[
    float | None,
    typer.Option(
        "--image-scale", min=0.1, max=1.0, help="Scale factor of the model's screenshots."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all random choices.")]
Order = Annotated[
    Literal["suite", "shuffled"],
    typer.Option(help="Order in which trials start: the suite's, or shuffled by --seed."),
]
Script = Annotated[
    Path | None,
    typer.Option("--script", help="File of actions for --agent script.", dir_okay=False),
]
Team = Annotated[
    str,
    typer.Option(
        "--team",
        help="Team of models: by-function, by-environment, planner-grounder, or a YAML file that "
        "names each member's model.",
    ),
]
Calls = Annotated[
    Literal["functions", "json"] | None,
    typer.Option(
        "--calls", help="How models call actions: as the API's tools, or as JSON in text."
    ),
]
Solution = Annotated[
    str, typer.Option("--solution", help="Which of a task's `oracles` --agent oracle runs.")
]
Model = Annotated[str | None, typer.Option("--model", help="Name of the model for --agent model.")]
ModelAdapter = Annotated[
    str | None,
    typer.Option(
        "--model-adapter", help="API of the model: openai, openai-responses, anthropic or google."
    ),
]
ModelFamily = Annotated[
    str | None,
    typer.Option(
        "--model-family",
        help="Format in which the model acts: tools, auto, or a family such as qwen3-vl.",
    ),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="API base URL for --agent model.")]
Trees = Annotated[bool, typer.Option("--trees", help="Also give agents the accessibility trees.")]
Observe = Annotated[
    list[str] | None,
    typer.Option(
        "--observe",
        help="What agents see: screenshot, marks, tree, screenshot+tree, crab, or field=value; "
        "repeatable; see docs/observation.md.",
        autocompletion=_observations,
    ),
]
Feedback = Annotated[
    Literal["none", "hints", "nodes"],
    typer.Option(help="Progress feedback for agents: none, hints, or all nodes."),
]
Record = Annotated[
    bool, typer.Option("--record", help="Record every machine's screen next to the trial's log.")
]
RecordRate = Annotated[float, typer.Option("--record-rate", help="Frames per second of --record.")]
KeepEndState = Annotated[
    Literal["none", "failed", "all"],
    typer.Option(help="Keep the end states of these trials' machines; see `mesocosm regrade`."),
]
Parallel = Annotated[
    int, typer.Option("--parallel", "-p", min=1, help="Trials at a time, if memory allows.")
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate",
        help="Run each trial in a process of its own: a crash of an agent's code costs one trial.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries", min=0, help="Additional attempts if a trial's machines or model fail."
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
    str,
    typer.Option(
        "--fleet", help="real, or fake: simulated machines in memory, for trying things out."
    ),
]
