"""``mesocosm resume``: go on with a run that was killed or interrupted."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.output import JsonOption, say
from appliance.cli.results import SuiteOption, runs
from appliance.cli.run import FleetOption, carry_out

RunName = Annotated[str, typer.Argument(help="Id of a run, or latest.", autocompletion=runs)]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("resume")(resume)


def resume(
    run: RunName, suite: SuiteOption = "", fleet: FleetOption = "real", json: JsonOption = False
) -> None:
    """Go on with a run: trials without an end are begun anew, on fresh machines.

    What was finished stays, and so do the logs of trials that are begun anew. The exit code is
    that of ``mesocosm run``.
    """
    from appliance.base.settings import get_settings
    from controller.store.runs import Store
    from controller.wiring import make_context, open_fleet, open_suite, plan_of

    settings = get_settings()
    folder = Store(settings.runs_dir).open(run)
    plan = plan_of(folder.spec, open_suite(suite or folder.spec.suite))
    context = make_context(plan, open_fleet(fleet, settings, say))
    carry_out(plan, folder, context, again=True, json=json)
