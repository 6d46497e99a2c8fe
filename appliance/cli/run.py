"""``mesocosm run``: let an agent try the tasks of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from appliance.cli.output import JsonOption, console_err, console_out, print_json, print_report, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from appliance.base.settings import Settings
    from controller.executors.protocol import Job
    from controller.planning import Plan
    from controller.store.runs import RunFolder
    from evaluators.model.suite import Suite as SuiteModel
    from provisioning.protocols import Kind


def _agents() -> list[str]:
    from controller.agents.registry import AGENTS

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
ModelExtra = Annotated[
    str | None,
    typer.Option("--model-extra", help="Further fields of each request, as a JSON object."),
]
ImageScale = Annotated[
    float | None,
    typer.Option("--image-scale", min=0.1, max=1.0, help="Make screenshots smaller for the model."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what would be run, and what it may take; begin nothing."),
]
Seed = Annotated[int, typer.Option("--seed", help="Everything random follows from it.")]
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
Parallel = Annotated[
    int, typer.Option("--parallel", "-p", min=1, help="Trials at a time, as memory allows.")
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries", min=0, help="More attempts at a trial whose machines or model failed."
    ),
]
BuildOption = Annotated[
    bool, typer.Option("--build", help="Build the machines' images where they are not current.")
]
FleetOption = Annotated[str, typer.Option("--fleet", hidden=True, help="real or fake.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    suite: Suite,
    agent: Agent = "",
    agent_command: AgentCommand = None,
    repeats: Repeats = 1,
    task: Tasks = None,
    tag: Tags = None,
    max_steps: MaxSteps = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    script: Script = None,
    solution: Solution = "",
    model: Model = None,
    base_url: BaseUrl = None,
    model_extra: ModelExtra = None,
    image_scale: ImageScale = None,
    trees: Trees = False,
    feedback: Feedback = "none",
    record: Record = False,
    record_rate: RecordRate = 5.0,
    parallel: Parallel = 1,
    retries: Retries = 1,
    dry_run: DryRun = False,
    build: BuildOption = False,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite and report its results.

    The exit code is 0 when every trial was judged, whatever the verdicts, 1 when trials were
    inconclusive because machines failed, and 3 when images are not current or the hypervisor does
    not answer: nothing was begun then.
    """
    from appliance.base.settings import get_settings
    from controller.agents.registry import (
        AgentOptions,
        make_driver,
        require_model,
        specify_agent,
    )
    from controller.executors.protocol import Job
    from controller.planning import Plan, create_run
    from controller.selection import choose_tasks, with_limits
    from controller.store.spec import LimitsSpec
    from controller.wiring import make_context, open_fleet, open_suite
    from provisioning.recording.recorder import check_recording

    if record:
        check_recording(record_rate)
    settings = get_settings()
    limits = LimitsSpec(steps=max_steps, seconds=time_limit)
    chosen = with_limits(open_suite(suite, task or ()), limits)
    for name, why in chosen.left_out.items():
        say(f"{name} is left out: {why}")
    tasks = choose_tasks(chosen, task or (), tag or ())
    extra = json_object(model_extra)
    options = AgentOptions(
        script, model, base_url, agent_command, extra, image_scale, solution=solution
    )
    spec = specify_agent(agent, options)
    if fleet == "real" and not dry_run:
        check_machines(settings, _kinds(chosen, tasks), build=build)
    plan = Plan(
        suite=chosen,
        agent=spec,
        driver=make_driver(spec, options),
        tasks=tasks,
        repeats=repeats,
        retries=retries,
        seed=seed,
        with_trees=trees,
        feedback=feedback,
        video_hz=record_rate if record else 0.0,
        images=_recipes(chosen, settings) if fleet == "real" else None,
        limits=limits,
    )
    if dry_run:
        show_estimate(plan, settings, parallel=parallel, json=json)
        return
    require_model(spec, options)
    context = make_context(
        plan, open_fleet(fleet, settings, say), baselines_dir=settings.baselines_dir
    )
    job = Job(chosen, context, plan.driver)
    carry_out(job, create_run(plan, settings.runs_dir), parallel=parallel, json=json)


def _kinds(suite: SuiteModel, names: Iterable[str]) -> set[Kind]:
    """Return the kinds of machines that tasks need."""
    return {kind for name in names for kind in suite.task(name).roles.values()}


def json_object(text: str | None) -> dict[str, Any] | None:
    """Return the JSON object of an option; None where it was not given.

    Raises:
        UsageError: it is none.
    """
    from json import loads

    from appliance.base.errors import UsageError

    if text is None:
        return None
    try:
        value = loads(text)
    except ValueError as exc:
        raise UsageError("--model-extra is not JSON.", details=str(exc)) from exc
    if not isinstance(value, dict):
        raise UsageError("--model-extra is not a JSON object.")
    return value


def show_estimate(plan: Plan, settings: Settings, *, parallel: int, json: bool) -> None:
    """Print what a run would do, and what it may take."""
    from controller.planning import specify_run
    from controller.store.estimate import estimate
    from controller.store.runs import Store

    store = Store(settings.runs_dir)
    figures = estimate(specify_run(plan), plan.suite, store, parallel=parallel)
    if json:
        print_json(figures.to_dict())
        return
    for line in figures.lines():
        console_out().print(line, markup=False, soft_wrap=True)


def check_machines(settings: Settings, kinds: set[Kind], *, build: bool) -> None:
    """Refuse to begin where machines of some kinds could not be had; see `require_ready`."""
    from appliance.bringup.preflight import require_ready
    from provisioning.fleet.host_backends import host_backends

    backends = host_backends(settings)
    require_ready(settings, kinds, backends, build=build, console=console_err())


def _recipes(suite: SuiteModel, settings: Settings) -> dict[str, str]:
    from controller.planning import recipes_of

    return recipes_of(settings, {kind for task in suite.tasks for kind in task.roles.values()})


def carry_out(job: Job, folder: RunFolder, *, parallel: int, json: bool) -> None:
    """Run what is left of a run, and print its report whatever happens.

    Raises:
        typer.Exit: with 1, when trials were inconclusive.
    """
    from appliance.cli.watch import watching
    from controller.executors.local import LocalExecutor
    from controller.store.report import read_report

    say(f"run {folder.spec.run}")
    try:
        with watching(len(folder.spec.planned)) as display:
            LocalExecutor(parallel).run(job, folder, on_event=display)
    finally:
        report = read_report(folder, job.suite)
        if json:
            print_json(report.to_dict())
        else:
            print_report(report)
    if left := report.verdicts["INCONCLUSIVE"]:
        say(f"{left} inconclusive; again: mesocosm resume {folder.spec.run} --retry inconclusive")
        raise typer.Exit(1)
