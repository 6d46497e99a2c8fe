"""Evaluators of desktops; they run inside the guest, with Python 3.9 and its standard library."""
