"""Validate suites: each task can be passed, and only by doing it."""
