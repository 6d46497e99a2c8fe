"""Names and labels of the appliance's containers, by which they are found again."""

from __future__ import annotations

LABEL = "mesocosm"
"""On all containers and volumes of any Mesocosm appliance."""
LABEL_STATE = "mesocosm.state_dir"
"""Distinguishes one appliance's containers from another's."""


def container_name(machine_id: str) -> str:
    """Return the name of a machine's container and volume."""
    return f"mesocosm-{machine_id}"
