"""Foundations that every layer may use: errors, ids, clock, processes, files, settings."""
