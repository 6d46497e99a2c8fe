"""Import modules whose code is held in memory and nowhere on disk."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType, ModuleType


class CodeBundle:
    """Compiled modules by dotted name.

    Args:
        sources: source text by dotted name; packages that are missing are made, empty.

    Raises:
        SyntaxError: a source is no Python of this guest's version.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.names = sorted(sources)
        complete = dict(sources)
        for name in sources:
            parts = name.split(".")
            for length in range(1, len(parts)):
                complete.setdefault(".".join(parts[:length]), "")
        trees = {name: ast.parse(text, f"<bundle {name}>") for name, text in complete.items()}
        self.imports = {module for tree in trees.values() for module in _imports(tree)}
        self.code = {
            name: compile(tree, f"<bundle {name}>", "exec", dont_inherit=True)
            for name, tree in trees.items()
        }

    def preload(self) -> None:
        """Import what the modules import from elsewhere, so that forked children have it."""
        for name in sorted(self.imports - set(self.code)):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    def install(self) -> list[ModuleType]:
        """Make the modules importable in this process and import all that were given."""
        sys.meta_path.insert(0, _Finder(self.code))
        return [importlib.import_module(name) for name in self.names]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads from a mapping of code."""

    def __init__(self, code: Mapping[str, CodeType]) -> None:
        self._code = code

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface of the finder
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._code:
            return None
        is_package = any(name.startswith(fullname + ".") for name in self._code)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def get_code(self, fullname: str) -> CodeType:
        return self._code[fullname]

    def get_source(self, fullname: str) -> str | None:  # noqa: ARG002
        return None


def _imports(tree: ast.AST) -> set[str]:
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules.add(node.module)
    return modules
