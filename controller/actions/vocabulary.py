"""What the tasks of every suite may name: the shipped evaluators, actions and setup operations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from controller.actions import desktop, phone, session, setup
from evaluators.catalogue import Vocabulary, builtin_evaluators, tools_of

if TYPE_CHECKING:
    from evaluators.catalogue import Tools


@cache
def action_tools() -> Tools:
    """Describe the actions of agents, by place and name."""
    return tools_of([desktop, phone, session], kind="action")


@cache
def setup_tools() -> Tools:
    """Describe the setup operations, by place and name."""
    return tools_of([setup], kind="setup")


def vocabulary() -> Vocabulary:
    """Return all of it, for `evaluators.model.suite.load_suite`."""
    return Vocabulary(builtin_evaluators(), action_tools(), setup_tools())
