"""Phones: one folder per backend, and the code they share for ADB."""
