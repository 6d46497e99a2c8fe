"""Corrupt, huge and hostile documents, made from a seed."""
