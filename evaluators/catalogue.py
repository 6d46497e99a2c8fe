"""Find the built-in evaluators, by the place they look at."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from appliance.base.errors import SpecError
from evaluators.decorators import PLACES, collect
from evaluators.schema import Tool, describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    Tools = Mapping[str, Mapping[str, Tool]]


_OFFERED = {
    "desktop": ("documents", "vision"),
    "phone": ("documents", "vision"),
    "session": (),
}
"""What else can be asked of a role, by what stands behind it."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What task files may name, each by place (``desktop``, ``phone``, ``session``) and name.

    Attributes:
        evaluators: for graphs and waits.
        actions: for oracles; None leaves oracles unchecked.
        setups: for setups; None leaves setups unchecked.
    """

    evaluators: Tools
    actions: Tools | None = None
    setups: Tools | None = None


def tools_of(modules: Iterable[ModuleType], *, kind: str) -> dict[str, dict[str, Tool]]:
    """Describe the marked functions of modules, by place and name.

    Args:
        modules: looked through in this order.
        kind: ``evaluator``, ``action`` or ``setup``.

    Raises:
        SpecError: two functions of one place have the same name, or one cannot be described.
    """
    places = PLACES if kind == "evaluator" else tuple(_OFFERED)
    tools: dict[str, dict[str, Tool]] = {place: {} for place in places}
    for module in modules:
        for place in places:
            for name, mark in collect(module, kind=kind, on=place).items():
                if name in tools[place]:
                    raise SpecError(f"There are two {kind}s called {name!r} on {place}.")
                tools[place][name] = describe(mark.function)
    return tools


@cache
def builtin_evaluators() -> Tools:
    """Describe all evaluators of this package, by what they can be asked of and name.

    Those of documents and of the screen can be asked of desktops and of phones.

    Raises:
        SpecError: two evaluators that can be asked of one machine have the same name.
    """
    tools = _by_place()
    return {
        place: _join(place, [tools[place], *(tools[name] for name in also)])
        for place, also in _OFFERED.items()
    }


def distinct_evaluators() -> list[Tool]:
    """Give every evaluator of this package once, by place and name."""
    tools = _by_place()
    return [tools[place][name] for place in PLACES for name in sorted(tools[place])]


@cache
def _by_place() -> Tools:
    packages = [importlib.import_module(f"evaluators.{place}") for place in PLACES]
    modules = [
        importlib.import_module(info.name)
        for package in packages
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    return tools_of(modules, kind="evaluator")


def _join(place: str, parts: Iterable[Mapping[str, Tool]]) -> dict[str, Tool]:
    joined: dict[str, Tool] = {}
    for part in parts:
        for name, tool in part.items():
            if name in joined:
                raise SpecError(f"There are two evaluators called {name!r} on {place}.")
            joined[name] = tool
    return joined
