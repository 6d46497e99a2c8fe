"""``mesocosm world``: the people whose lives fill worlds."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, print_json

SeedOption = Annotated[int, typer.Option(metavar="SEED", help="Seed of the persona.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = make_group(no_args_is_help=True, help="Show the people whose lives fill worlds.")
    group.command("show")(show)
    # Without it, a group with one command would be that command.
    group.callback()(_group)
    app.add_typer(group, name="world")


def _group() -> None:
    """Show the people whose lives fill worlds."""


def show(seed: SeedOption = 0, json: JsonOption = False) -> None:
    """Show the person with a seed: who it is, how many records there are, and the latest ones.

    With --json: all records, which are the same for a seed on every host.
    """
    from provisioning.world.persona.persona import persona
    from provisioning.world.persona.summary import summarize

    shown = persona(seed)
    if json:
        print_json({"digest": shown.digest, **shown.records.model_dump(mode="json")})
    else:
        typer.echo(summarize(shown))
