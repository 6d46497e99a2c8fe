"""Catalogue of the functions that task files may name, by place and name."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from evaluators.bundle import Bundle, desktop_bundle
from evaluators.decorators import PLACES, collect
from evaluators.schema import Tool, describe
from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import ModuleType

    Tools = Mapping[str, Mapping[str, Tool]]


HOST_PLACES = ("documents", "vision")
"""Places whose evaluators run on the host, with the files and the screen of any machine."""

OFFERED = {
    "desktop": ("desktop", *HOST_PLACES),
    "phone": ("phone", *HOST_PLACES),
    "session": ("session",),
    "world": ("world",),
}
"""Places whose evaluators a check can name, by the kind of its role."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Functions that task files may name, by kind of role (``desktop``, ...) and name.

    Attributes:
        evaluators: evaluators, for graphs and waits.
        actions: actions, for oracles; None means that oracles are not checked.
        setups: setup operations; None means that setups are not checked.
        observations: functions that add to what agents see.
        visual_prompts: functions that make the picture that agents see.
        bundle: modules that guests load to run desktop evaluators.
        own: the functions among these that a suite defines.
        folder: folder of the suite, with the files that its tasks name; None without a suite.
    """

    evaluators: Tools
    actions: Tools | None = None
    setups: Tools | None = None
    observations: Tools = field(default_factory=dict)
    visual_prompts: Tools = field(default_factory=dict)
    bundle: Bundle = field(default_factory=desktop_bundle)
    own: tuple[Tool, ...] = ()
    folder: Path | None = None


def tools_of(modules: Iterable[ModuleType], *, kind: str) -> dict[str, dict[str, Tool]]:
    """Describe the marked functions of modules, by place and name.

    Args:
        modules: modules to search, in this order.
        kind: ``evaluator``, ``action`` or ``setup``.

    Raises:
        SpecError: two functions of a place have the same name, or a function cannot be described.
    """
    places = PLACES if kind == "evaluator" else tuple(OFFERED)
    tools: dict[str, dict[str, Tool]] = {place: {} for place in places}
    for module in modules:
        for place in places:
            for name, mark in collect(module, kind=kind, on=place).items():
                if name in tools[place]:
                    raise SpecError(f"Duplicate {kind} {name!r} on {place}.")
                tools[place][name] = describe(mark.function)
    return tools


@cache
def builtin_evaluators() -> Tools:
    """Describe the built-in evaluators, by kind of role and name.

    Only composition roots call this; all other code gets a `Vocabulary`.

    Raises:
        SpecError: two evaluators for one kind of role have the same name.
    """
    packages = [importlib.import_module(f"evaluators.{place}") for place in PLACES]
    modules = [
        importlib.import_module(info.name)
        for package in packages
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    tools = tools_of(modules, kind="evaluator")
    return {
        offered: _join(offered, [tools[place] for place in places])
        for offered, places in OFFERED.items()
    }


def distinct_tools(tools: Tools) -> tuple[Tool, ...]:
    """Return every tool once, sorted by place and name."""
    distinct = {(tool.on, tool.name): tool for named in tools.values() for tool in named.values()}
    return tuple(distinct[key] for key in sorted(distinct))


def _join(offered: str, parts: Iterable[Mapping[str, Tool]]) -> dict[str, Tool]:
    joined: dict[str, Tool] = {}
    for part in parts:
        for name, tool in part.items():
            if name in joined:
                raise SpecError(f"Duplicate evaluator {name!r} on {offered}.")
            joined[name] = tool
    return joined
