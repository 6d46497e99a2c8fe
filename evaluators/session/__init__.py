"""Evaluators of the session: what the agent handed in."""
