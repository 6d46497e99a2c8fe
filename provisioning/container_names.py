"""How the appliance's containers are called and labelled, by which they are found again."""

from __future__ import annotations

LABEL = "mesocosm"
"""On everything of any appliance of ours."""
LABEL_STATE = "mesocosm.state_dir"
"""Distinguish one appliance's containers from another's."""


def container_name(machine_id: str) -> str:
    """Return the name of a machine's container, and of its volume."""
    return f"mesocosm-{machine_id}"
