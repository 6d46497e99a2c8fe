"""Cases that a machine cannot play, because it differs from the fixture, and how."""

from __future__ import annotations

DIFFERENT_HERE: dict[tuple[str, str], str] = {}
"""How a machine differs, by evaluator and case."""
