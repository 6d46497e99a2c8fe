"""Check and execute runs, for the commands that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from appliance.cli.output import console_err, print_json, print_report, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.result import Reason
    from controller.executors.local import LocalTrials
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.specification.model_choice import ModelChoice
    from controller.specification.request import RunRequest
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings
    from provisioning.lease import Fleet
    from provisioning.resource import ResourceSpec


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


def make_executor(
    trials: LocalTrials, folder: RunFolder, request: RunRequest, settings: Settings
) -> Executor:
    """Return the executor of a run's trials, as its request says."""
    from controller.executors.local import LocalExecutor
    from controller.requests import model_choice
    from controller.wiring import isolated_executor

    if not request.isolate:
        return LocalExecutor(trials, request.parallel)
    return isolated_executor(
        trials,
        folder,
        settings,
        request.fleet,
        parallel=request.parallel,
        model=model_choice(request),
    )


def perform(
    folder: RunFolder,
    suite: Suite,
    request: RunRequest,
    fleet: Fleet,
    settings: Settings,
    on_event: Callable[[TrialEvent], None],
) -> None:
    """Execute the remaining trials of a run that is one of several, without a report.

    Raises:
        MesocosmError: it cannot be executed: its agent or suite is not what it began with.
        KeyboardInterrupt: Ctrl-C.
    """
    from appliance.cli.confirming import confirming
    from controller.agents.registry import make_run_driver
    from controller.requests import model_choice
    from controller.scheduling.execution import execute_run
    from controller.store.spending import change_budget, read_budget
    from controller.wiring import open_trials

    driver = make_run_driver(folder.spec, model_choice(request))
    change_budget(folder, read_budget(folder).replaced_by(request.budget))
    trials = open_trials(folder.spec, suite, driver, fleet, settings)
    with confirming(folder):
        execute_run(folder, make_executor(trials, folder, request, settings), on_event=on_event)


def rehearse(folder: RunFolder, suite: Suite, executor: Executor, *, json: bool) -> None:
    """Execute the trials of a rehearsal, and print what it shows.

    Raises:
        typer.Exit: with 1, unless every task passed.
    """
    from appliance.cli.watch import watching
    from controller.rehearsal import Rehearsal
    from controller.scheduling.execution import execute_run
    from controller.store.report import read_report

    say(f"run {folder.spec.run}")
    with watching(len(folder.spec.planned)) as display:
        execute_run(folder, executor, on_event=display)
    rehearsal = Rehearsal(read_report(folder, suite))
    if json:
        print_json({**rehearsal.report.to_dict(), "rehearsal": rehearsal.to_dict()})
    else:
        print_report(rehearsal.report)
        for line in rehearsal.lines():
            say(line)
    if not rehearsal.is_passed:
        raise typer.Exit(1)


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
