"""Open the state of the service for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from controller.service.state.database import Database
    from foundation.settings import Settings


def open_database() -> Database:
    """Open the state of this appliance's service until the command ends.

    Raises:
        StateError: it cannot be opened.
        RequirementError: a required package is not installed.
    """
    from appliance.cli.resources import close_at_end
    from foundation.errors import RequirementError
    from foundation.settings import get_settings

    try:
        from controller.service.state.database import Database, state_path
    except ModuleNotFoundError as exc:
        raise RequirementError(
            f"The service needs the Python package {exc.name}.",
            resolution="Run `make up`, or install the extra `service`: pip install -e .[service]",
        ) from exc
    database = Database(state_path(get_settings()))
    close_at_end(database.close)
    return database


def own_token_path(settings: Settings) -> Path:
    """Return the file of the token that commands on this host use."""
    return settings.service_dir / "token"
