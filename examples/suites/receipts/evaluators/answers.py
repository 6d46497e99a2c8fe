"""Evaluators of the submitted answer; they run on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm import evaluator

from .amounts import last_amount

if TYPE_CHECKING:
    from mesocosm import SessionView


@evaluator(on="session")
def answer_is_amount(session: SessionView, amount: str) -> bool:
    """Return whether the answer ends with an amount of money.

    Example:
        ``{on: session, check: answer_is_amount, with: {amount: "103.10"}}``

    Args:
        session: holds the answer.
        amount: with two decimals.
    """
    answered = last_amount(session.answer or "")
    return answered is not None and answered == last_amount(amount)
