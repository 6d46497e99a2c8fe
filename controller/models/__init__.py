"""Endpoints of language models."""
