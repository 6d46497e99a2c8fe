"""``mesocosm resume``: continue a run that was killed or interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.execution import check_ready, execute, machines_of
from appliance.cli.output import JsonOption, say
from appliance.cli.results import SuiteOption, runs
from appliance.cli.run import BuildOption
from appliance.cli.run_options import (
    BaseUrl,
    BudgetSeconds,
    BudgetTokens,
    BudgetUsd,
    ExecutorOption,
    Isolate,
    Model,
    Parallel,
    PreflightOption,
)

RetryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retry",
        help="Also retry trials that are inconclusive, or have a reason such as environment_error.",
    ),
]

if TYPE_CHECKING:
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder

ResumedFleetOption = Annotated[
    str, typer.Option("--fleet", help="real or fake; the run's fleet by default.")
]
RunName = Annotated[
    str, typer.Argument(help="Id of a run, latest, or latest:SUITE,AGENT.", autocompletion=runs)
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("resume")(resume)


def warn_of_other_code(spec: RunSpec) -> None:
    """Warn if another version of this code began the run."""
    from controller.planning import code_version

    if spec.code != code_version():
        say(f"warning: {spec.run} was started by {spec.code}; this is {code_version()}")


def choose_fleet(folder: RunFolder, asked: str) -> str:
    """Return the fleet that a run continues on: the one that it began on.

    Raises:
        UsageError: another fleet was requested.
    """
    from controller.store.run_fleet import fleet_of
    from foundation.errors import UsageError

    known = fleet_of(folder.spec, folder.results())
    if asked and known and asked != known:
        raise UsageError(
            f"{folder.spec.run} began on {known} machines and can only continue on them.",
            details="Trials on other machines would not be comparable with the finished ones.",
            resolution=f"Omit --fleet {asked}, or start a new run.",
        )
    return asked or known or "real"


def resume(
    run: RunName,
    suite: SuiteOption = "",
    model: Model = None,
    base_url: BaseUrl = None,
    parallel: Parallel = 1,
    isolate: Isolate = False,
    executor: ExecutorOption = "",
    retry: RetryOption = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    build: BuildOption = False,
    preflight: PreflightOption = True,
    fleet: ResumedFleetOption = "",
    json: JsonOption = False,
) -> None:
    """Continue a run: give trials without a final result another attempt, on fresh machines.

    Verdicts and the logs of earlier attempts are kept. Cancelled trials also get another attempt,
    and so do all inconclusive ones with ``--retry inconclusive``. The agent and the fleet stay
    those of the run: a different model, endpoint, setting or fleet is refused. If the budget is
    spent, specify a larger one. The exit code is that of ``mesocosm run``.
    """
    from controller.agents.registry import make_run_driver
    from controller.episode.result import reasons_to_retry
    from controller.executor_choice import ExecutorChoice, executor_name, make_executor
    from controller.planning import suite_for
    from controller.specification.model_choice import ModelChoice
    from controller.specification.run import BudgetSpec
    from controller.store.runs import Store
    from controller.store.spending import change_budget, read_budget
    from controller.wiring import open_fleet, open_suite_of, open_trials
    from foundation.errors import UsageError
    from foundation.settings import get_settings

    reasons = reasons_to_retry(retry or ())
    settings = get_settings()
    folder = Store(settings.runs_dir).open(run)
    fleet_name = choose_fleet(folder, fleet)
    spec = folder.spec
    chosen = open_suite_of(spec, suite)
    choice = ModelChoice(name=model or None, base_url=base_url or None)
    if (model or base_url) and not spec.model_name:
        raise UsageError(
            f"The agent of this run is of the kind {spec.agents[0].agent.kind}, which has no model.",
            resolution="Omit --model and --base-url.",
        )
    chosen = suite_for(spec, chosen)
    driver = make_run_driver(spec, choice)
    warn_of_other_code(spec)
    machines = machines_of(spec, chosen, settings, build=build)
    where = ExecutorChoice(
        executor_name(executor, settings, isolate=isolate), fleet_name, parallel, suite, choice
    )
    is_here = fleet_name == "real" and where.name != "ray"
    check_ready(spec, choice, machines if is_here else None, is_whole=preflight)
    more = BudgetSpec(tokens=budget_tokens, usd=budget_usd, seconds=budget_seconds)
    change_budget(folder, read_budget(folder).replaced_by(more))
    trials = open_trials(spec, chosen, driver, open_fleet(fleet_name, settings, say), settings)
    execute(
        folder,
        chosen,
        make_executor(where, trials, folder, settings),
        json=json,
        retry=reasons,
    )
