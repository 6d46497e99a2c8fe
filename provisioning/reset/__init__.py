"""Verifies that a reset machine matches its snapshot: digests, windows, picture."""
