"""Evaluators of phones; they run on the host, on what was read over ADB."""
