"""``mesocosm doctor``: diagnose this host and suggest fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from appliance.cli.output import JsonOption, console_out, print_json, print_table, progress

if TYPE_CHECKING:
    from appliance.doctor.check import Answer

_REQUIREMENT_UNMET = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(json: JsonOption = False) -> None:
    """Check this host's requirements; show the state and fix of each."""
    from appliance.doctor.checks import CHECKS, examine
    from foundation.settings import get_settings

    with progress() as bar:
        task = bar.add_task("checking this host", total=len(CHECKS))
        answers = examine(get_settings(), lambda _answer: bar.advance(task))
    ok = all(answer.is_met for answer in answers)
    if json:
        print_json({"ok": ok, "checks": [answer.to_dict() for answer in answers]})
    else:
        _print_table(answers)
    if not ok:
        raise typer.Exit(_REQUIREMENT_UNMET)


def _print_table(answers: list[Answer]) -> None:
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "warn": "yellow", "missing": "bold red", "failed": "bold red"}
    table = Table(box=None, pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("finding and fix")
    for answer in answers:
        finding = answer.finding
        text = Text(finding.cause)
        if finding.resolution:
            text.append(f"\n→ {finding.resolution}", style="dim")
        table.add_row(answer.name, Text(finding.state, style=styles[finding.state]), text)
    print_table(table)
    lacking = [answer.name for answer in answers if not answer.is_met]
    if lacking:
        console_out().print(f"Not ready: {', '.join(lacking)}.", style="bold red")
    else:
        console_out().print("This host meets all requirements.", style="bold green")
