"""Phones reached over ADB: commands, files, screen, input, probe."""
