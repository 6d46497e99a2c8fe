"""Errors of the renderer's program."""

from __future__ import annotations


class DocumentError(Exception):
    """The document cannot be viewed, or not within the limits; the message says why."""
