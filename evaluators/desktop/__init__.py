"""Evaluators of desktops; they run inside the guest: standard library, Python 3.9."""
