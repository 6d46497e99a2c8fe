"""The role of the session."""

from __future__ import annotations

SESSION = "session"
"""The role of evaluators that look at the session (the submitted answer), not at a machine."""
