"""Evaluator of what agents declare about a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.session.view import CrossView


@evaluator(on="session")
def declared_infeasible(session: CrossView) -> bool:
    """Return whether the agent declared that the task cannot be done.

    Only the agent's action declare_infeasible counts; an answer with such a statement does not.

    Args:
        session: the session.

    Example:
        ``{on: session, check: declared_infeasible}``
    """
    return session.has_declared_infeasible()
