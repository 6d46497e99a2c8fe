"""``mesocosm verify``: verify what the product promises, on this host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.cli.groups import make_group
from appliance.cli.verify_emulator import emulator
from appliance.cli.verify_kvm import kvm

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = make_group(no_args_is_help=True, help="Verify on this host what the product promises.")
    group.callback()(_group)
    group.command("emulator")(emulator)
    group.command("kvm")(kvm)
    app.add_typer(group, name="verify")


def _group() -> None:
    """Verify on this host what the product promises."""
