"""``mesocosm service token``: manage the API's access tokens."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, print_json, print_table, say
from appliance.cli.service_database import open_database

if TYPE_CHECKING:
    from controller.service.state.tokens import Tokens

Name = Annotated[str, typer.Argument(help="Name of the token, such as dashboard.")]
RoleOption = Annotated[
    str, typer.Option("--role", help="read, or operate (also queue and schedule runs).")
]


def token_app() -> typer.Typer:
    """Return the commands."""
    app = make_group(no_args_is_help=True, help="Manage access tokens of the API.")
    app.command("add")(add)
    app.command("list")(list_tokens)
    app.command("remove")(remove)
    return app


def add(name: Name, role: RoleOption = "read", json: JsonOption = False) -> None:
    """Create a token and print it; it cannot be shown again."""
    tokens = _open()
    from controller.service.state.tokens import Role
    from foundation.errors import UnknownNameError

    if role not in list(Role):
        raise UnknownNameError.of("role", role, Role)
    token = tokens.add(name, Role(role))
    if json:
        print_json({"name": name, "role": role, "token": token})
    else:
        typer.echo(token)


def list_tokens(json: JsonOption = False) -> None:
    """List all tokens, without their secrets."""
    from rich.table import Table

    entries = _open().entries()
    if json:
        print_json({"tokens": [asdict(entry) for entry in entries]})
        return
    table = Table()
    for title in ("name", "role", "created (UTC)"):
        table.add_column(title, no_wrap=True)
    for entry in entries:
        table.add_row(entry.name, entry.role, moment(entry.created_s))
    print_table(table)


def remove(name: Name, json: JsonOption = False) -> None:
    """Revoke a token."""
    _open().remove(name)
    if json:
        print_json({"removed": name})
    else:
        say(f"{name} is removed")


def _open() -> Tokens:
    database = open_database()
    from controller.service.state.tokens import Tokens
    from foundation.clock import SYSTEM_CLOCK

    return Tokens(database, SYSTEM_CLOCK)
