"""The built-in evaluators, actions and setup operations that tasks of any suite can use."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from controller import actions
from controller.actions import crab
from controller.actions.marked import ELEMENTS, MARKS
from evaluators.catalogue import Vocabulary, builtin_evaluators, tools_of

if TYPE_CHECKING:
    from types import ModuleType

    from controller.actions.marked import MarkNaming
    from controller.specification.run import ActionSetName
    from evaluators.catalogue import Tools


@cache
def _modules(package: ModuleType = actions) -> tuple[ModuleType, ...]:
    """Import every other module of a package, without its subpackages."""
    infos = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return tuple(importlib.import_module(info.name) for info in infos if info.name != __name__)


@cache
def action_tools() -> Tools:
    """Describe the actions of agents, by place and name."""
    return tools_of(_modules(), kind="action")


@cache
def crab_tools() -> Tools:
    """Describe the actions of CRAB, by place and name; agents name marks in place of coordinates."""
    return tools_of(_modules(crab), kind="action")


def offered_actions(name: ActionSetName, own: Tools) -> tuple[Tools, MarkNaming]:
    """Return the actions that a run offers, and how they name marks.

    Args:
        name: the set of actions.
        own: Mesocosm's own actions, and those of the suite.
    """
    return (crab_tools(), ELEMENTS) if name == "crab" else (own, MARKS)


@cache
def setup_tools() -> Tools:
    """Describe the setup operations, by place and name."""
    return tools_of(_modules(), kind="setup")


def vocabulary() -> Vocabulary:
    """Return the built-in vocabulary for `evaluators.loading.suite.load_suite`."""
    return Vocabulary(builtin_evaluators(), action_tools(), setup_tools())
