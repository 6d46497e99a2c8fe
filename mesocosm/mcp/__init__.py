"""An episode as a server of the Model Context Protocol; requires the extra ``mcp``."""
