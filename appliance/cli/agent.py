"""``mesocosm agent``: register your own agents for use in the queue, schedules and API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, print_json, print_table, say

Folder = Annotated[Path, typer.Argument(help="Folder with the agent's agent.yaml.")]


def _registered() -> list[str]:
    from controller.registered.agents import agent_copies
    from foundation.settings import get_settings

    return agent_copies(get_settings()).names()


Name = Annotated[
    str, typer.Argument(help="Name of a registered agent.", autocompletion=_registered)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = make_group(no_args_is_help=True, help="Register your own agents.")
    group.command("add")(add)
    group.command("list")(list_agents)
    group.command("remove")(remove)
    app.add_typer(group, name="agent")


def add(folder: Folder, json: JsonOption = False) -> None:
    """Register a copy of an agent.

    Registering an identical agent again has no effect; a changed one becomes the next version.
    """
    from controller.registered.agents import add_agent
    from foundation.settings import get_settings

    entry = add_agent(folder, get_settings())
    if json:
        print_json(entry.model_dump(mode="json"))
    else:
        say(f"agent {entry.reference} is registered: --agent {entry.name}")


def list_agents(json: JsonOption = False) -> None:
    """List the available agents, and every version of registered ones."""
    from rich.table import Table

    from controller.agents.registry import AGENTS
    from controller.registered.agents import agent_copies
    from foundation.settings import get_settings

    entries = agent_copies(get_settings()).entries()
    if json:
        registered = [entry.model_dump(mode="json") for entry in entries]
        print_json({"shipped": list(AGENTS), "registered": registered})
        return
    table = Table()
    for title in ("agent", "version", "added (UTC)", "description"):
        table.add_column(title, no_wrap=title != "description")
    for name in AGENTS:
        table.add_row(name, "ships with Mesocosm", "", "")
    for entry in entries:
        table.add_row(entry.name, entry.reference, moment(entry.added_s), entry.description)
    print_table(table)


def remove(name: Name, json: JsonOption = False) -> None:
    """Remove all versions of a registered agent, unless a queued run or a schedule uses it."""
    from appliance.cli.service_database import open_database
    from controller.registered.agents import agent_copies
    from controller.service.registered_use import require_unused
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings

    copies = agent_copies(get_settings())
    copies.get(name)
    require_unused(name, lambda request: request.agent, open_database(), SYSTEM_CLOCK)
    removed = copies.remove(name)
    if json:
        print_json({"removed": [entry.reference for entry in removed]})
    else:
        say(f"agent {name} is removed")
