"""Load and check the functions that a suite defines, and add them to its vocabulary."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evaluators.catalogue import OFFERED
from evaluators.decorators import PLACES, mark_of
from evaluators.schema import describe
from evaluators.suite_code.importer import ImportedFile, import_sources
from evaluators.suite_code.sources import FOLDERS, read_sources, require_guest_sources
from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.decorators import Mark
    from evaluators.schema import Tool
    from evaluators.suite_code.sources import SourceFile

_PLACES = {
    "evaluator": PLACES,
    "action": ("desktop", "phone", "session"),
    "setup": ("desktop", "phone", "world"),
    "observation": ("desktop", "phone"),
    "visual_prompt": ("desktop", "phone"),
}
_ONLY_SUBJECT = frozenset({"observation", "visual_prompt"})
"""Kinds of functions that are called with nothing but their subject."""


@dataclass(frozen=True, slots=True)
class SuiteFunction:
    """A marked function of a suite.

    Attributes:
        tool: its schema.
        source: the file that defines the function.
        line: line of its definition.
    """

    tool: Tool
    source: SourceFile
    line: int


@dataclass(frozen=True, slots=True)
class SuiteCode:
    """The Python files of a suite, executed and checked.

    Attributes:
        texts: content of each file, by path in the suite's folder; part of the suite's digest.
        functions: functions in the order of files and lines.
        guest_modules: sources of the modules that guests load, by dotted name.
    """

    texts: Mapping[str, str]
    functions: tuple[SuiteFunction, ...]
    guest_modules: Mapping[str, str]


def load_suite_code(root: Path, suite: str) -> SuiteCode:
    """Execute the Python files of a suite and check their functions.

    The files run in this process, with its permissions.

    Args:
        root: the suite's folder.
        suite: its name.

    Raises:
        SpecError: a file or a function has an error; the message has file, line and reason.
    """
    sources = read_sources(root)
    files = import_sources(suite, sources)
    functions = [function for file in files for function in _functions(file)]
    in_guests = {
        function.source.name
        for function in functions
        if (function.tool.mark.kind, function.tool.on) == ("evaluator", "desktop")
    }
    names = {file.source: file.module.__name__ for file in files}
    return SuiteCode(
        texts={source.key: source.text for source in sources},
        functions=tuple(functions),
        guest_modules={
            names[source]: source.text for source in require_guest_sources(in_guests, sources)
        },
    )


def extend(vocabulary: Vocabulary, code: SuiteCode) -> Vocabulary:
    """Return the vocabulary with the functions of a suite added.

    Raises:
        SpecError: a function has the name of an existing one.
    """
    kinds = {
        "evaluator": _copy(vocabulary.evaluators),
        "action": _copy(vocabulary.actions),
        "setup": _copy(vocabulary.setups),
        "observation": _copy(vocabulary.observations),
        "visual_prompt": _copy(vocabulary.visual_prompts),
    }
    for function in code.functions:
        mark = function.tool.mark
        for offered, places in OFFERED.items():
            if mark.on in places:
                known = kinds[mark.kind].setdefault(offered, {})
                _require_new(function, known.get(mark.name), code)
                known[mark.name] = function.tool
    return replace(
        vocabulary,
        evaluators=kinds["evaluator"],
        actions=None if vocabulary.actions is None else kinds["action"],
        setups=None if vocabulary.setups is None else kinds["setup"],
        observations=kinds["observation"],
        visual_prompts=kinds["visual_prompt"],
        bundle=vocabulary.bundle.with_modules(code.guest_modules),
        own=tuple(function.tool for function in code.functions),
    )


def _copy(tools: Tools | None) -> dict[str, dict[str, Tool]]:
    return {place: dict(named) for place, named in (tools or {}).items()}


def _require_new(function: SuiteFunction, other: Tool | None, code: SuiteCode) -> None:
    if other is None:
        return
    places = [
        f"{entry.source.path}:{entry.line}" for entry in code.functions if entry.tool is other
    ] or ["Mesocosm itself"]
    mark = function.tool.mark
    raise function.source.error(
        function.line,
        f"another {mark.kind} called {mark.name!r} is defined in {places[0]}.",
        "Rename one of them.",
    )


def _functions(file: ImportedFile) -> list[SuiteFunction]:
    """Return the marked functions defined in a file."""
    marks = {id(mark): mark for value in vars(file.module).values() if (mark := mark_of(value))}
    own = [mark for mark in marks.values() if mark.function.__module__ == file.module.__name__]
    functions = [
        SuiteFunction(_describe(mark, file.source), file.source, _line(mark)) for mark in own
    ]
    return sorted(functions, key=lambda function: function.line)


def _line(mark: Mark) -> int:
    line: int = inspect.unwrap(mark.function).__code__.co_firstlineno
    return line


def _describe(mark: Mark, source: SourceFile) -> Tool:
    """Check a function's folder, place and signature, and read its schema."""
    line = _line(mark)
    folder = next(folder for folder, kind in FOLDERS.items() if kind == mark.kind)
    if folder != source.folder:
        raise source.error(line, f"{mark.name} is marked as {mark.kind}.", f"Move it to {folder}/.")
    if mark.on not in _PLACES[mark.kind]:
        known = ", ".join(_PLACES[mark.kind])
        raise source.error(line, f"{mark.name} cannot be for {mark.on!r}.", f"Known: {known}.")
    if not inspect.signature(mark.function).parameters:
        raise source.error(line, f"{mark.name} needs a first parameter for the subject.")
    if mark.kind in _ONLY_SUBJECT and len(inspect.signature(mark.function).parameters) > 1:
        raise source.error(line, f"{mark.name} must have only one parameter.")
    if mark.kind == "evaluator" and mark.function.__annotations__.get("return") not in {
        "bool",
        bool,
    }:
        raise source.error(line, f"{mark.name} must be annotated to return bool.")
    try:
        return describe(mark.function)
    except (SpecError, NameError) as exc:
        brief = exc.brief if isinstance(exc, SpecError) else f"{exc}."
        raise source.error(line, brief) from exc
