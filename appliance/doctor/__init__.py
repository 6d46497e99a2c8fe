"""Diagnose this host and suggest fixes."""
