"""Everything a task file may name: evaluators, actions and setup operations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from controller.actions import desktop, phone, session, setup
from evaluators.catalogue import Vocabulary, builtin_evaluators, tools_of

if TYPE_CHECKING:
    from evaluators.catalogue import Tools


@cache
def action_tools() -> Tools:
    """Describe what agents may do, by place and name."""
    return tools_of([desktop, phone, session], kind="action")


@cache
def setup_tools() -> Tools:
    """Describe what tasks may do before the agent comes, by place and name."""
    return tools_of([setup], kind="setup")


def vocabulary() -> Vocabulary:
    """Give all of it, to check task files against."""
    return Vocabulary(builtin_evaluators(), action_tools(), setup_tools())
