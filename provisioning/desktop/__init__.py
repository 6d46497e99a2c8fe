"""Desktops: one folder a backend, with the same file names in each."""
