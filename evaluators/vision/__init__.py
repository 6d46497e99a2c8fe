"""Evaluators of a machine's screen; they run on the host, on a picture of it."""
