"""Readers of documents from guests, in a separate process; the results are plain data."""
