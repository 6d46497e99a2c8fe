"""The built-in evaluators, actions and setup operations that tasks of any suite can use."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from controller import actions
from evaluators.catalogue import Vocabulary, builtin_evaluators, tools_of

if TYPE_CHECKING:
    from types import ModuleType

    from evaluators.catalogue import Tools


@cache
def _modules() -> tuple[ModuleType, ...]:
    """Import every other module of this package."""
    infos = pkgutil.iter_modules(actions.__path__, f"{actions.__name__}.")
    return tuple(importlib.import_module(info.name) for info in infos if info.name != __name__)


@cache
def action_tools() -> Tools:
    """Describe the actions of agents, by place and name."""
    return tools_of(_modules(), kind="action")


@cache
def setup_tools() -> Tools:
    """Describe the setup operations, by place and name."""
    return tools_of(_modules(), kind="setup")


def vocabulary() -> Vocabulary:
    """Return the built-in vocabulary for `evaluators.loading.suite.load_suite`."""
    return Vocabulary(builtin_evaluators(), action_tools(), setup_tools())
