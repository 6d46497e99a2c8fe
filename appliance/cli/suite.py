"""``mesocosm suite``: list, show, check, validate and register suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, print_json, print_table, say
from appliance.cli.suite_import import import_
from appliance.cli.suite_lint import lint
from appliance.cli.suite_proof import proof
from appliance.cli.suite_show import brief, show
from appliance.cli.suite_validate import validate

Folder = Annotated[Path, typer.Argument(help="Folder of a suite.")]


def _registered() -> list[str]:
    from controller.registered.suites import suite_copies
    from foundation.settings import get_settings

    return suite_copies(get_settings()).names()


Name = Annotated[
    str, typer.Argument(help="Name of a registered suite.", autocompletion=_registered)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = make_group(no_args_is_help=True, help="List, validate and register suites of tasks.")
    group.command("list")(list_)
    group.command("show")(show)
    group.command("lint")(lint)
    group.command("validate")(validate)
    group.command("proof")(proof)
    group.command("import")(import_)
    group.command("add")(add)
    group.command("remove")(remove)
    app.add_typer(group, name="suite")


def list_(json: JsonOption = False) -> None:
    """List the built-in and the registered suites."""
    from rich.table import Table

    from controller.registered.suites import known_suites
    from controller.wiring import open_suite
    from evaluators.loading.suite import list_suites
    from foundation.settings import get_settings

    shipped = list_suites()
    suites = [open_suite(name) for name in known_suites(get_settings())]
    if json:
        rows = [{**brief(suite), "shipped": suite.name in shipped} for suite in suites]
        print_json({"suites": rows})
        return
    table = Table("suite", "version", "tasks", "by", "description")
    for suite in suites:
        by = "Mesocosm" if suite.name in shipped else "you"
        table.add_row(suite.name, suite.version, str(len(suite.tasks)), by, suite.description)
    print_table(table)


def add(folder: Folder, json: JsonOption = False) -> None:
    """Register a copy of a suite, for use in the queue, schedules and API.

    Registering an identical suite again has no effect; a changed one becomes the next version.
    """
    from controller.registered.suites import add_suite
    from foundation.settings import get_settings

    entry = add_suite(folder, get_settings())
    if json:
        print_json(entry.model_dump(mode="json"))
    else:
        say(f"suite {entry.reference} is registered: mesocosm run {entry.name}")


def remove(name: Name, json: JsonOption = False) -> None:
    """Remove all versions of a registered suite, unless a queued run or a schedule uses it."""
    from appliance.cli.service_database import open_database
    from controller.registered.suites import suite_copies
    from controller.service.registered_use import require_unused
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings

    copies = suite_copies(get_settings())
    copies.get(name)
    require_unused(name, lambda request: request.suite, open_database(), SYSTEM_CLOCK)
    removed = copies.remove(name)
    if json:
        print_json({"removed": [entry.reference for entry in removed]})
    else:
        say(f"suite {name} is removed")
