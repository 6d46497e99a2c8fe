"""Tools by which members of a team talk to each other; they act on no machine."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import action
from evaluators.schema import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from controller.actions.session import SessionState
    from controller.actions.space import Action
    from evaluators.schema import Tool

MAX_MESSAGE_CHARS = 4000


@action(on="session")
def tell(
    state: SessionState,
    member: Annotated[str, Field(min_length=1, max_length=64)],
    message: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE_CHARS)],
) -> None:
    """Tell another member of the team what to do next.

    Args:
        state: the session.
        member: its name.
        message: what it shall do, with everything that it has to know.
    """


@action(on="session")
def skip(state: SessionState) -> None:
    """Do nothing this time.

    Args:
        state: the session.
    """


@cache
def team_tools(*names: str) -> Mapping[str, Tool]:
    """Return some of these tools by name."""
    functions: dict[str, Callable[..., object]] = {"tell": tell, "skip": skip}
    return {name: describe(functions[name]) for name in names}


def split_actions(
    actions: Iterable[Action],
) -> tuple[tuple[Action, ...], tuple[Action, ...], bool]:
    """Return the actions on machines and session, the messages, and whether the member skips."""
    acting: list[Action] = []
    messages: list[Action] = []
    skips = False
    for entry in actions:
        if entry.on is None and entry.do == tell.__name__:
            messages.append(entry)
        elif entry.on is None and entry.do == skip.__name__:
            skips = True
        else:
            acting.append(entry)
    return tuple(acting), tuple(messages), skips
