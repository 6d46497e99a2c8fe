"""Verify that a machine came back to its snapshot: digests, windows, picture."""
