"""``mesocosm status``: show the state of services and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from appliance.bringup.status import Status

QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print nothing; exit with 1 unless all services and machines are up.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Show which services run and answer, and the number of machines by state.

    A machine is *ended* if its process or container is gone, *unreachable* if the hypervisor or
    the Docker engine does not answer. Without -q, the exit code is always 0.
    """
    from appliance.bringup.status import Status, read_status
    from appliance.cli.remote.client import chosen_server
    from foundation.settings import get_settings

    server = chosen_server()
    report = Status.from_dict(server.get("/status")) if server else read_status(get_settings())
    if json:
        print_json(report.to_dict())
    elif not quiet:
        _print(report)
    if quiet and not report.is_healthy:
        raise typer.Exit(1)


def _print(report: Status) -> None:
    from rich.table import Table

    from appliance.services.health import ASKED_THROUGH
    from provisioning.fleet.liveness import ENDED, UNREACHABLE

    bad_states = {ENDED, UNREACHABLE}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("docker engine", "answers" if report.engine else "[red]does not answer")
    for name, (state, answers) in report.services.items():
        description = f"{state}, answers" if answers else f"[red]{state}, does not answer"
        if answers is None:
            description = f"[yellow]{state}, not checked: the {ASKED_THROUGH[name]} does not answer"
        table.add_row(name, description)
    table.add_row("runs and schedules", "executed" if report.service else "[yellow]not executed")
    sent = "; ".join(report.alerts_to)
    table.add_row("alerts", f"sent to {sent}" if sent else "only shown on the pages")
    for (kind, state), count in sorted(report.machines.items()):
        table.add_row(kind, f"[red]{count} {state}" if state in bad_states else f"{count} {state}")
    if report.lost:
        table.add_row("lost", ", ".join(report.lost))
        who = "the worker, within a minute," if report.service else "`mesocosm machine sweep`"
        table.add_row("", f"{who} removes forks that ended; the next lease starts other machines")
    if not report.machines:
        table.add_row("machines", "none")
    for image in report.images:
        table.add_row(f"image {image.name}", f"[yellow]{image.currency}.[/] {image.reason}")
    if report.waiting:
        table.add_row("waiting", f"for memory: {', '.join(report.waiting)}")
    table.add_row("accelerator", report.accelerator)
    for name, address in report.addresses.items():
        table.add_row(f"{name} at", address)
    print_table(table)
    if advice := _advice(report):
        say(advice)


def _advice(report: Status) -> str:
    """Return advice on what `mesocosm up` would fix; empty if there is nothing for it to fix."""
    from images.currency import Currency

    absent = [name for name, (state, _) in report.services.items() if state == "absent"]
    missing = [image.name for image in report.images if image.currency is Currency.MISSING]
    if report.engine and len(absent) == len(report.services) and missing:
        return "Nothing is set up yet. To build images and start everything, run `mesocosm up`."
    if report.engine and absent:
        return "To start the absent services, run `mesocosm up`."
    if missing:
        return f"To build the missing images ({', '.join(missing)}), run `mesocosm up`."
    return ""
