"""Evaluators of phones; they run on the host, with data read over ADB."""
