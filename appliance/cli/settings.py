"""``mesocosm settings``: show the settings of the appliance and their variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

PageOption = Annotated[
    bool, typer.Option("--page", help="Print docs/settings.md instead.", hidden=True)
]

OTHERS = {
    "Grafana": {
        "MESOCOSM_GRAFANA_IMAGE": "Image of the compose profile `grafana`, which you start manually.",
        "MESOCOSM_GRAFANA_PORT": "Loopback port of that Grafana; 9491 by default.",
    },
    "Services on other hosts": {
        "MESOCOSM_TOKEN": "Token that `mesocosm --server URL` sends to the service at that address.",
        "MESOCOSM_SERVER": "Address of the service that programs reach with `mesocosm.connect()`.",
    },
    "Set by Mesocosm itself": {
        "MESOCOSM_REMOTE_NAME": "Name of a remote desktop, for its reset command.",
        "MESOCOSM_REMOTE_HOST": "Host of a remote desktop, for its reset command.",
        "MESOCOSM_REMOTE_PORT": "SSH port of a remote desktop, for its reset command.",
    },
}
"""Variables that do not belong to a settings class, by heading of the page."""


def sections() -> dict[str, type[BaseSettings]]:
    """Return all settings classes, by heading of the page."""
    from appliance.services.alerts import AlertSettings
    from controller.models.settings import ModelSettings
    from evaluators.recognition.settings import VisionSettings
    from foundation.settings import Settings
    from monitoring.mail_settings import MailSettings

    return {
        "Appliance": Settings,
        "Models": ModelSettings,
        "Alerts": AlertSettings,
        "Mail of schedules and alerts": MailSettings,
        "Text recognition and matching of pictures": VisionSettings,
    }


def check_environment() -> None:
    """Check that the environment has no unknown setting and no invalid value.

    Raises:
        SettingsError: it has one.
    """
    from foundation.environment import known_variables, require_known
    from foundation.settings import Settings
    from provisioning.registry import require_choices

    classes = sections().values()
    require_known(known_variables(classes, [name for rows in OTHERS.values() for name in rows]))
    for settings in classes:
        settings()
    require_choices(Settings())


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("settings")(settings)


def settings(page: PageOption = False, json: JsonOption = False) -> None:
    """Show every setting with its value; docs/settings.md describes each setting."""
    from foundation.settings_reference import render_page

    if page:
        typer.echo(render_page(sections(), OTHERS), nl=False)
        return
    rows = _rows()
    if json:
        print_json(rows)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("setting", "value", "set by"):
        table.add_column(title)
    for row in rows:
        style = "bold" if row["is_set"] else ""
        origin = "environment" if row["is_set"] else "default"
        table.add_row(Text(str(row["name"]), style), Text(str(row["value"]), style), origin)
    print_table(table)


def _rows() -> list[dict[str, object]]:
    from foundation.environment import shown
    from foundation.settings_reference import describe

    rows: list[dict[str, object]] = []
    for kind in sections().values():
        values = kind()
        for setting, field in zip(describe(kind), kind.model_fields, strict=True):
            is_set = field in values.model_fields_set
            value = shown(getattr(values, field))
            rows.append(
                {"name": setting.name, "value": value, "is_set": is_set, "purpose": setting.purpose}
            )
    return rows
