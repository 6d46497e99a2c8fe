"""Phones: one folder a backend, and what they share over ADB."""
