"""Who receives the views that evaluators asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from evaluators.rendering.views.any import ViewedDocument

OnView = Callable[[str, ViewedDocument], None]
"""Receives the path of a document, and its view."""
OnRoleView = Callable[[str, str, ViewedDocument], None]
"""Receives the role of a machine, the path of a document on it, and its view."""


def of_role(on_view: OnRoleView | None, role: str) -> OnView | None:
    """Return the receiver for one machine; None if there is none."""
    return None if on_view is None else partial(on_view, role)
