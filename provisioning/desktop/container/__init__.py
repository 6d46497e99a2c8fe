"""Desktops in Docker containers."""
