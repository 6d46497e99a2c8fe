"""Validate suites: each task can be passed, but only by doing it."""
