"""Runs on disk: specifications, event logs, index and reports."""
