"""Tools beside the screen: MCP servers that tasks offer, which run in machines."""
