"""Observations of agents, and detection of settled screens."""
