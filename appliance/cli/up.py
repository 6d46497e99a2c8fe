"""``mesocosm up``: set up everything, verify it with a scored trial, and print the addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_err, console_out, print_json, print_report

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.bringup.up import Outcome

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
TrialOption = Annotated[
    bool, typer.Option("--trial/--no-trial", help="Run a scored trial at the end.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up)


def up(yes: YesOption = False, trial: TrialOption = True, json: JsonOption = False) -> None:
    """Build missing images, start all services and machines, and run a trial on both machines."""
    from appliance.bringup.renderer import build_renderer_in_background
    from appliance.bringup.steps import Steps
    from appliance.bringup.up import bring_up
    from foundation.settings import get_settings

    steps = Steps(console_err())
    try:
        outcome = bring_up(get_settings(), steps, trial=trial, ask=lambda text: yes or _ask(text))
    except KeyboardInterrupt:
        console_err().print("Completed steps are kept. To continue, run `make up`.")
        raise
    building = build_renderer_in_background(get_settings()) if trial else None
    if json:
        report = outcome.report.to_dict() if outcome.report else None
        addresses = {"controller": outcome.controller, "prometheus": outcome.prometheus}
        print_json(
            {
                "ok": outcome.is_proven,
                "steps": steps.to_json(),
                "accelerator": outcome.accelerator,
                "addresses": addresses,
                "trial": report,
                "renderer_log": str(building) if building else None,
            }
        )
    else:
        _print(outcome, building)
    if not outcome.is_proven:
        raise typer.Exit(1)


def _ask(text: str) -> bool:
    """Ask the user for confirmation; without a terminal, the answer is yes."""
    import sys

    if not sys.stdin.isatty():
        return True
    return typer.confirm(text, default=True, err=True)


def _print(outcome: Outcome, building: Path | None) -> None:
    from appliance.cli.service_database import own_token_path
    from appliance.services.address import service_url
    from foundation.settings import get_settings

    settings = get_settings()
    if outcome.report:
        print_report(outcome.report)
    token = own_token_path(settings)
    console_out().print(f"Dashboard   {service_url(settings)}/  (token in {token})", soft_wrap=True)
    console_out().print(f"Prometheus  {outcome.prometheus}/")
    if outcome.report:
        console_out().print(f"Results     mesocosm results {outcome.report.spec.run}")
    if building:
        console_out().print(
            "Documents   the renderer, which judges documents, is built in the background "
            f"(log in {building})",
            soft_wrap=True,
        )
    console_out().print("Next        mesocosm run smoke --agent oracle")
