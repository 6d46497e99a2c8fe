"""``mesocosm run``: let an agent try the tasks of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, print_report, say

if TYPE_CHECKING:
    from controller.episode.context import RunContext
    from controller.store.runs import RunFolder
    from controller.wiring import Plan


def _agents() -> list[str]:
    from controller.wiring import AGENTS

    return list(AGENTS)


def _suites() -> list[str]:
    from evaluators.model.suite import list_suites

    return list_suites()


Suite = Annotated[
    str, typer.Argument(help="Name of a suite, or its folder.", autocompletion=_suites)
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", "-a", help="oracle, noop, random, script or model.", autocompletion=_agents
    ),
]
Repeats = Annotated[int, typer.Option("--repeats", "-k", min=1, help="Trials of each task.")]
Tasks = Annotated[
    list[str] | None, typer.Option("--task", "-t", help="Only this task; repeatable.")
]
Seed = Annotated[int, typer.Option("--seed", help="Everything random follows from it.")]
Script = Annotated[
    Path | None,
    typer.Option("--script", help="File of actions for --agent script.", dir_okay=False),
]
Model = Annotated[str | None, typer.Option("--model", help="Model's name for --agent model.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Endpoint for --agent model.")]
Trees = Annotated[bool, typer.Option("--trees", help="Show agents accessibility trees too.")]
Record = Annotated[
    bool, typer.Option("--record", help="Record every machine's screen beside the trial's log.")
]
RecordRate = Annotated[float, typer.Option("--record-rate", help="Frames a second of --record.")]
FleetOption = Annotated[str, typer.Option("--fleet", hidden=True, help="real or fake.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    suite: Suite,
    agent: Agent,
    repeats: Repeats = 1,
    task: Tasks = None,
    seed: Seed = 0,
    script: Script = None,
    model: Model = None,
    base_url: BaseUrl = None,
    trees: Trees = False,
    record: Record = False,
    record_rate: RecordRate = 5.0,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite and say how it did.

    The exit code is 0 when every trial was judged, whatever the verdicts, and 1 when trials were
    inconclusive because machines failed.
    """
    from appliance.base.settings import get_settings
    from controller.wiring import (
        AgentOptions,
        Plan,
        create_run,
        make_context,
        make_driver,
        open_fleet,
        open_suite,
    )
    from provisioning.recording.recorder import check_recording

    if record:
        check_recording(record_rate)
    options = AgentOptions(script, model, base_url)
    plan = Plan(
        suite=open_suite(suite),
        agent=agent,
        driver=make_driver(agent, options),
        tasks=tuple(task or ()),
        repeats=repeats,
        seed=seed,
        options=options.to_dict(),
        with_trees=trees,
        video_hz=record_rate if record else 0.0,
    )
    settings = get_settings()
    context = make_context(plan, open_fleet(fleet, settings, say))
    carry_out(plan, create_run(plan, settings.runs_dir), context, json=json)


def carry_out(
    plan: Plan, folder: RunFolder, context: RunContext, *, again: bool = False, json: bool
) -> None:
    """Run what is left of a run, and print its report whatever happens.

    Raises:
        typer.Exit: with 1, when trials were inconclusive.
    """
    from appliance.cli.watch import watching
    from controller.executors.local import run_suite
    from controller.store.report import read_report

    say(f"run {folder.spec.run}")
    try:
        with watching(len(folder.spec.planned)) as watcher:
            run_suite(plan.suite, folder, context, plan.driver, watcher, again=again)
    finally:
        report = read_report(folder, plan.suite)
        if json:
            print_json(report.to_dict())
        else:
            print_report(report)
    if report.verdicts["INCONCLUSIVE"]:
        raise typer.Exit(1)
