"""Custom agents: a Python class, a command that speaks JSON lines, or a registered container."""
