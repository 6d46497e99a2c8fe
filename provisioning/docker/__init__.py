"""Machines in containers: the reference phone, reached over ADB."""
