"""How pytest finds the plugin of specifications, and the plugin its machine."""

from __future__ import annotations

PLUGIN = "provisioning.specification.plugin"
"""Name of the plugin's module."""
RELAY = "MESOCOSM_SPECIFICATION"
"""Environment variable with the path of the socket to the process that holds the machine."""
