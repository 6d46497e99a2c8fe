"""``mesocosm down``: stop everything; with ``--purge``, also remove everything from the disk."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.output import console_err

PurgeOption = Annotated[
    bool, typer.Option("--purge", help="Also remove images, results and all other state.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before purging.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("down")(down)


def down(purge: PurgeOption = False, yes: YesOption = False) -> None:
    """Stop all machines and services, including those in use.

    --purge asks for confirmation; without a terminal, it requires --yes.
    """
    import sys

    from appliance.bringup.down import describe_purge, require_own, require_rights, take_down
    from appliance.bringup.steps import Steps
    from foundation.errors import UsageError
    from foundation.settings import get_settings

    settings = get_settings()
    if purge:
        require_own(settings.state_dir)
        require_rights(settings.state_dir)
        if not yes and not sys.stdin.isatty():
            raise UsageError(
                "Nothing was stopped or removed: --purge needs confirmation, and there is no "
                "terminal to ask on.",
                details=describe_purge(settings),
                resolution="Use --yes to purge without confirmation.",
            )
        if not yes:
            text = f"Remove {settings.state_dir} with all images and results?"
            typer.confirm(text, default=False, abort=True, err=True)
    take_down(settings, Steps(console_err()), purge=purge)
