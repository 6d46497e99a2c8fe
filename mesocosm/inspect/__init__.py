"""Machines as sandboxes of Inspect, and suites as its tasks; requires the extra ``inspect``."""
