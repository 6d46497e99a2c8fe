"""CRAB's actions apart from machines. Source: arXiv 2407.01511, table 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from controller.actions import session
from evaluators.decorators import action
from evaluators.session.answers import MAX_ANSWER_CHARS

if TYPE_CHECKING:
    from controller.actions.session import SessionState

_WAIT_S = 5.0


@action(on="session")
def submit(state: SessionState, answer: Annotated[str, Field(max_length=MAX_ANSWER_CHARS)]) -> None:
    """Submit the answer, if the task asks for one.

    Args:
        state: the session.
        answer: the answer, nothing around it.
    """
    session.submit(state, answer)


@action(on="session")
def complete(state: SessionState) -> None:
    """State that the task is completed; this ends the trial.

    Args:
        state: the session.
    """
    session.complete(state)


@action(on="session")
def wait(state: SessionState) -> None:
    """Wait until the machines have processed what was done: five seconds.

    Args:
        state: the session.
    """
    session.wait(state, _WAIT_S)
