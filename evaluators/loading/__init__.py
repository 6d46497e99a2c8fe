"""Suites on disk, read and bound to their parameters."""
