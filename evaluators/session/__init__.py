"""Evaluators of the session: what the agent submitted."""
