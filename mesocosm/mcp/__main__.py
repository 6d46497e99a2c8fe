"""``python -m mesocosm.mcp``: the same as ``mesocosm-mcp``."""

from mesocosm.mcp.command import main

main()
