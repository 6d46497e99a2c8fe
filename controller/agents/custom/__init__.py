"""Agents of one's own: a Python class, or a command that speaks JSON lines."""
