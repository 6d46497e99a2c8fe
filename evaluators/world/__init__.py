"""Evaluators of worlds: they run on the host and ask the servers."""
