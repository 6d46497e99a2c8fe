"""Actions on the session: wait, submit an answer, declare the task done or infeasible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import action
from evaluators.session.answers import MAX_ANSWER_CHARS

if TYPE_CHECKING:
    from foundation.clock import Clock


@dataclass(slots=True)
class SessionState:
    """What the agent has submitted so far.

    Attributes:
        clock: clock that `wait` uses.
        answer: the last submitted answer.
        completed: whether the agent declared the task done.
        infeasible: the agent's reason for declaring the task infeasible; None if it did not.
    """

    clock: Clock
    answer: str | None = None
    completed: bool = False
    infeasible: str | None = None


@action(on="session")
def submit(state: SessionState, answer: Annotated[str, Field(max_length=MAX_ANSWER_CHARS)]) -> None:
    """Hand in the answer of a task that asks for one; a later one replaces it.

    An answer of more than 4000 characters is refused, and an earlier one stays.

    Args:
        state: the session.
        answer: only what was asked for, nothing around it.
    """
    state.answer = answer


@action(on="session")
def complete(state: SessionState) -> None:
    """Declare the task done; this ends the trial.

    Args:
        state: the session.
    """
    state.completed = True


@action(on="session")
def declare_infeasible(
    state: SessionState, reason: Annotated[str, Field(min_length=1, max_length=MAX_ANSWER_CHARS)]
) -> None:
    """Declare that the task cannot be done with what there is; this ends the trial.

    Args:
        state: the session.
        reason: why it cannot be done.
    """
    state.infeasible = reason


@action(on="session")
def wait(state: SessionState, seconds: Annotated[float, Field(gt=0, le=10)]) -> None:
    """Wait, for example until an application has opened.

    Args:
        state: the session.
        seconds: how long, at most 10.
    """
    state.clock.sleep(seconds)
