"""``mesocosm resume``: continue a run that was killed or interrupted."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.output import JsonOption, say
from appliance.cli.results import SuiteOption, runs
from appliance.cli.run import FleetOption, Parallel, carry_out

RunName = Annotated[str, typer.Argument(help="Id of a run, or latest.", autocompletion=runs)]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("resume")(resume)


def resume(
    run: RunName,
    suite: SuiteOption = "",
    parallel: Parallel = 1,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Continue a run: trials without a final result get another attempt, on fresh machines.

    What was judged stays, and so do the logs of earlier attempts. A trial that was cancelled gets
    another attempt, too. The exit code is that of ``mesocosm run``.
    """
    from appliance.base.settings import get_settings
    from controller.agents.registry import make_driver
    from controller.executors.protocol import Job
    from controller.planning import resume_plan
    from controller.store.runs import Store
    from controller.wiring import make_context, open_fleet, open_suite

    settings = get_settings()
    folder = Store(settings.runs_dir).open(run)
    chosen = open_suite(suite or folder.spec.suite.name)
    plan = resume_plan(folder.spec, chosen, make_driver)
    context = make_context(
        plan, open_fleet(fleet, settings, say), baselines_dir=settings.baselines_dir
    )
    job = Job(chosen, context, plan.driver)
    carry_out(job, folder, parallel=parallel, json=json)
