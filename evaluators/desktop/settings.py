"""How a desktop is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def gsetting_equals(guest: Guest, schema: str, key: str, value: str) -> bool:
    """Tell whether a setting of the user's session has exactly this value.

    An unknown schema or key cannot be decided.

    Args:
        guest: the desktop.
        schema: such as ``org.gnome.desktop.interface``.
        key: such as ``color-scheme``.
        value: as ``gsettings get`` prints it, texts without their quotes.
    """
    return guest.gsettings_get(schema, key) == value
