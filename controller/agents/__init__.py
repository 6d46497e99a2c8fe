"""Agents: reference solution, no-op, random, script, model, and those of users."""
