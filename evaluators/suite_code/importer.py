"""Import a suite's Python files from their texts in memory.

Module names contain the digest of all files, so that versions of a suite do not collide in one
process. No bytecode is written next to the files.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import sys
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType, ModuleType

    from evaluators.suite_code.sources import SourceFile
    from foundation.errors import SpecError

ROOT = "suite_code"
"""Package of all modules of suites, on the host and in guests."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file of a suite and its module.

    Attributes:
        source: the file.
        module: the executed module.
    """

    source: SourceFile
    module: ModuleType


def import_sources(suite: str, sources: Sequence[SourceFile]) -> list[ImportedFile]:
    """Import the files of a suite, which can import each other relatively.

    Args:
        suite: its name.
        sources: all its files.

    Raises:
        SpecError: a file raises when executed; the message has file, line and exception.
    """
    digest = digest_json({source.key: source.text for source in sources})
    package = f"{ROOT}.{suite.replace('-', '_')}_{digest[:12]}"
    names = {f"{package}.{source.folder}.{source.name}": source for source in sources}
    _FINDER.add(names)
    return [ImportedFile(source, _import(name, source, sources)) for name, source in names.items()]


def modules_beside(module: str) -> dict[str, SourceFile]:
    """Return the files of the suite that contains a module, by dotted name; empty for other modules.

    They do not have syntax trees; pass them to `add_modules` in another process.
    """
    package = ".".join(module.split(".")[:2]) + "."
    empty = ast.Module(body=[], type_ignores=[])
    return {
        name: replace(source, tree=empty)
        for name, source in _FINDER.sources.items()
        if name.startswith(package)
    }


def add_modules(sources: Mapping[str, SourceFile]) -> None:
    """Make a suite's files importable, by dotted name."""
    _FINDER.add(dict(sources))


def _import(name: str, source: SourceFile, sources: Sequence[SourceFile]) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as exc:
        raise _error_of(exc, source, sources) from exc


def _error_of(exc: BaseException, source: SourceFile, sources: Sequence[SourceFile]) -> SpecError:
    """Return an error that names the innermost line of the suite in a traceback."""
    by_path = {str(file.path): file for file in sources}
    line = 1
    for frame in traceback.extract_tb(exc.__traceback__):
        if frame.filename in by_path:
            source, line = by_path[frame.filename], frame.lineno or 1
    return source.error(line, f"{type(exc).__name__}: {exc}.")


class _SuiteFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finder and loader of the modules of suites."""

    def __init__(self) -> None:
        self.sources: dict[str, SourceFile] = {}
        self._packages: set[str] = set()

    def add(self, sources: dict[str, SourceFile]) -> None:
        """Make modules importable, by dotted name.

        Identical files from another folder replace existing ones, so that functions have the right
        file.
        """
        for name, source in sources.items():
            if name in self.sources and self.sources[name].path != source.path:
                sys.modules.pop(name, None)
        self.sources |= sources
        for name in sources:
            parts = name.split(".")
            self._packages |= {".".join(parts[:count]) for count in range(1, len(parts))}
        if self not in sys.meta_path:
            sys.meta_path.append(self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface of finders
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in self._packages:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if fullname not in self.sources:
            return None
        origin = str(self.sources[fullname].path)
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=origin)
        spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        return "" if fullname in self._packages else self.sources[fullname].text

    def get_code(self, fullname: str) -> CodeType:
        path = "<package>" if fullname in self._packages else str(self.sources[fullname].path)
        return compile(self.get_source(fullname), path, "exec", dont_inherit=True)


_FINDER = _SuiteFinder()
