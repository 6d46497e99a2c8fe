"""Mutants of code that change nothing that counts, and why; names may hold ``*``."""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {}
