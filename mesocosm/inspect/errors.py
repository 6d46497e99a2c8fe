"""Errors of sandboxes and scorers, which the provider maps to those of Inspect."""

from __future__ import annotations

from mesocosm.client.errors import ServiceError


class GoneError(ServiceError):
    """The machine does not answer, or its episode has ended."""


class UserError(ServiceError):
    """The episode runs no commands of this user."""


class CallError(Exception):
    """The tool `computer` was called with wrong arguments."""


class InconclusiveError(RuntimeError):
    """The episode has no verdict: its sample is an error of the evaluation, never a failure."""
