"""Comparison of the views of two documents, one module per kind of view."""
