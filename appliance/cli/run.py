"""``mesocosm run``: run an agent on the tasks of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.execution import check_ready, execute, machines_of, make_executor, rehearse
from appliance.cli.output import JsonOption, console_out, print_json, say
from appliance.cli.run_request import OptionalSuiteCommand, given_options, request_of

if TYPE_CHECKING:
    from controller.specification.request import RunRequest
    from controller.specification.run import RunSpec
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings


DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would run and its estimated cost; start nothing."),
]
BuildOption = Annotated[
    bool, typer.Option("--build", help="Build the machines' images if they are not current.")
]


MatrixOption = Annotated[
    Path | None,
    typer.Option(
        "--matrix",
        metavar="FILE.yaml",
        help="Play an experiment file, several agents and observations, in place of SUITE; again to "
        "continue it; see docs/experiments.md.",
        dir_okay=False,
    ),
]
NewOption = Annotated[
    bool, typer.Option("--new", help="With --matrix: begin again instead of continuing.")
]


RehearsalOption = Annotated[
    bool,
    typer.Option(
        "--rehearsal",
        help="Play the same tasks once, with the same observation and limits, by their solutions, "
        "without asking any model; exit code 1 unless all pass.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", cls=OptionalSuiteCommand)(run)


def run(
    context: typer.Context,
    matrix: MatrixOption = None,
    new: NewOption = False,
    dry_run: DryRun = False,
    rehearsal: RehearsalOption = False,
    build: BuildOption = False,
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite, or several by an experiment file, and report the results.

    Before leasing a machine, the preflight asks the model for one tool call about one picture,
    starts the agent's command, and checks images, hypervisor, disk and memory.

    The exit code is 0 if every trial got a verdict, whether PASS or FAIL; 1 if trials were
    inconclusive because machines failed, or did not start because the budget is spent; and 3 if
    images are not current or the hypervisor does not answer, in which case nothing was started.
    """
    from controller.agents.registry import make_run_driver
    from controller.executor_choice import is_elsewhere
    from controller.planning import needs_of
    from controller.rehearsal import rehearsal_of
    from controller.requests import model_choice, specify_request
    from controller.store.runs import Store
    from controller.unfamiliar import misspelt_packages
    from controller.wiring import open_fleet, open_trials
    from foundation.errors import UsageError
    from foundation.settings import get_settings
    from provisioning.fake.fleet import require_fakes

    if matrix is not None:
        from appliance.cli.matrix import run_matrix

        if rehearsal:
            raise UsageError("--rehearsal is about one run, not about an experiment file.")

        run_matrix(
            matrix,
            context.obj,
            given_options(context),
            is_new=new,
            build=build,
            dry_run=dry_run,
            json=json,
        )
        return
    request = rehearsal_of(request_of(context)) if rehearsal else request_of(context)
    settings, model = get_settings(), model_choice(request)
    spec, suite = specify_request(request, settings)
    driver = make_run_driver(spec, model)
    for name, why in suite.left_out.items():
        say(f"{name} is skipped: {why}")
    for line in misspelt_packages(suite):
        say(f"note: {line}")
    if dry_run:
        show_estimate(spec, suite, request, settings, json=json)
        return
    if request.fleet == "fake":
        require_fakes(needs_of(spec, suite))
    machines = machines_of(spec, suite, settings, build=build)
    is_here = request.fleet == "real" and not is_elsewhere(request, settings)
    check_ready(spec, model, machines if is_here else None, is_whole=request.preflight)
    fleet = open_fleet(request.fleet, settings, say)
    trials = open_trials(spec, suite, driver, fleet, settings)
    folder = Store(settings.runs_dir).create(spec)
    executor = make_executor(trials, folder, request, settings)
    if rehearsal:
        rehearse(folder, suite, executor, json=json)
    else:
        execute(folder, suite, executor, json=json)


def show_estimate(
    spec: RunSpec, suite: Suite, request: RunRequest, settings: Settings, *, json: bool
) -> None:
    """Print what a run would do, its estimated cost, and whether it could start."""
    from controller.preflight import examine
    from controller.requests import model_choice
    from controller.store.estimate import estimate
    from controller.store.runs import Store

    store = Store(settings.runs_dir)
    figures = estimate(spec, suite, store, parallel=request.parallel)
    is_real = request.fleet == "real"
    machines = machines_of(spec, suite, settings, build=False) if is_real else None
    checks = examine(spec, model_choice(request), settings, machines)
    findings = list(checks) if request.preflight else []
    if json:
        print_json(figures.to_dict() | {"preflight": [finding.to_dict() for finding in findings]})
        return
    for line in (*figures.lines(), *map(str, findings)):
        console_out().print(line, markup=False, soft_wrap=True)
