"""``mesocosm run``: run an agent on the tasks of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_err, console_out, print_json, print_report, say
from appliance.cli.run_request import RequestCommand, request_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.result import Reason
    from controller.scheduling.executor import Executor
    from controller.specification.model_choice import ModelChoice
    from controller.specification.request import RunRequest
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec


DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would run and its estimated cost; start nothing."),
]
BuildOption = Annotated[
    bool, typer.Option("--build", help="Build the machines' images if they are not current.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", cls=RequestCommand)(run)


def run(
    context: typer.Context,
    dry_run: DryRun = False,
    build: BuildOption = False,
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite and report its results.

    Before leasing a machine, the preflight asks the model for one tool call about one picture,
    starts the agent's command, and checks images, hypervisor, disk and memory.

    The exit code is 0 if every trial got a verdict, whether PASS or FAIL; 1 if trials were
    inconclusive because machines failed, or did not start because the budget is spent; and 3 if
    images are not current or the hypervisor does not answer, in which case nothing was started.
    """
    from controller.agents.registry import make_run_driver
    from controller.executors.local import LocalExecutor
    from controller.requests import model_choice, specify_request
    from controller.store.runs import Store
    from controller.unfamiliar import misspelt_packages
    from controller.wiring import isolated_executor, open_fleet, open_trials
    from foundation.settings import get_settings

    request = request_of(context)
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
    machines = machines_of(spec, suite, settings, build=build)
    check_ready(
        spec, model, machines if request.fleet == "real" else None, is_whole=request.preflight
    )
    fleet = open_fleet(request.fleet, settings, say)
    trials = open_trials(spec, suite, driver, fleet, settings)
    folder = Store(settings.runs_dir).create(spec)
    executor: Executor = LocalExecutor(trials, request.parallel)
    if request.isolate:
        executor = isolated_executor(
            trials, folder, settings, request.fleet, parallel=request.parallel, model=model
        )
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


def check_machines(
    settings: Settings, specs: set[ResourceSpec], *, build: bool, needs_renderer: bool = False
) -> None:
    """Raise if what tasks need is not available; see `require_ready`."""
    from appliance.bringup.preflight import require_ready
    from provisioning.fleet.host_backends import HostBackends

    backends = HostBackends(settings)
    require_ready(
        settings,
        specs,
        backends,
        build=build,
        console=console_err(),
        needs_renderer=needs_renderer,
    )


def check_ready(
    spec: RunSpec,
    model: ModelChoice,
    machines: Callable[[], None] | None,
    *,
    is_whole: bool,
) -> None:
    """Raise if a run could not start or continue.

    Args:
        spec: specification of the run.
        model: the user's choice of the model.
        machines: raises if machines are not available; None if the run needs none of this appliance.
        is_whole: check everything, not only machines.
    """
    from controller.preflight import require_ready
    from foundation.settings import get_settings

    if is_whole:
        require_ready(spec, model, get_settings(), machines)
    elif machines is not None:
        machines()


def machines_of(
    spec: RunSpec, suite: Suite, settings: Settings, *, build: bool
) -> Callable[[], None]:
    """Return a function that raises if what a run needs is not available.

    Args:
        spec: specification of the run.
        suite: its suite.
        settings: of the appliance.
        build: build images that are not current.
    """
    from controller.image_requirements import require_shipped_images, require_suite_images
    from controller.planning import needs_of, tasks_of, views_documents

    def require() -> None:
        needs = needs_of(spec, suite)
        require_shipped_images(suite, needs, settings)
        is_viewing = views_documents(tasks_of(spec, suite), suite.vocabulary)
        check_machines(settings, needs, build=build, needs_renderer=is_viewing)
        require_suite_images(suite, needs, settings)

    return require


def execute(
    folder: RunFolder,
    suite: Suite,
    executor: Executor,
    *,
    json: bool,
    retry: frozenset[Reason] = frozenset(),
) -> None:
    """Execute the remaining trials of a run, and always print its report.

    Raises:
        typer.Exit: with 1, if trials were inconclusive or the budget is spent.
    """
    from appliance.cli.confirming import confirming
    from appliance.cli.watch import watching
    from controller.episode.result import Reason
    from controller.scheduling.execution import execute_run
    from controller.store.report import read_report
    from controller.store.spending import BUDGET_SPENT

    say(f"run {folder.spec.run}")
    try:
        with watching(len(folder.spec.planned)) as display, confirming(folder):
            execute_run(folder, executor, retry=retry, on_event=display)
    except KeyboardInterrupt:
        say(f"To continue: mesocosm resume {folder.spec.run}")
        raise
    finally:
        report = read_report(folder, suite)
        if json:
            print_json(report.to_dict())
        else:
            print_report(report)
    if report.ended == BUDGET_SPENT:
        say(
            f"To continue with a larger budget: mesocosm resume {folder.spec.run} --budget-tokens N"
        )
        raise typer.Exit(1)
    if left := report.verdicts["INCONCLUSIVE"]:
        wrong = sum(trial.reason is Reason.TASK_ERROR for trial in report.trials)
        if wrong:
            say(f"{wrong} ended with a task_error: fix the task and start a new run")
        if left > wrong:
            command = f"mesocosm resume {folder.spec.run} --retry inconclusive"
            say(f"{left - wrong} inconclusive; to retry: {command}")
        raise typer.Exit(1)
