"""Evaluators of a machine's screen; they run on the host with a screenshot."""
