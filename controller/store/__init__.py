"""Runs on disk: specifications, event logs, index, reports and comparisons."""
