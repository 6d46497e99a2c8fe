"""Import modules from memory instead of disk."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import CodeType, ModuleType


class CodeBundle:
    """Modules by dotted name, each compiled on first use.

    Compiling everything takes an emulated guest seconds, and a task uses few evaluators.

    Args:
        sources: source text by dotted name; missing packages are created, empty.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.names = sorted(sources)
        self._sources = dict(sources)
        for name in sources:
            parts = name.split(".")
            for length in range(1, len(parts)):
                self._sources.setdefault(".".join(parts[:length]), "")
        self._packages = {name.rpartition(".")[0] for name in self._sources}
        self._defining: dict[str, list[str]] = {}
        for name in self.names:
            for part in f"\n{sources[name]}".split("\ndef ")[1:]:
                self._defining.setdefault(part.partition("(")[0], []).append(name)
        self._code: dict[str, CodeType] = {}
        self._imports: dict[str, list[str]] = {}

    def modules_of(self, functions: Iterable[str]) -> list[str]:
        """Return the modules that define functions, sorted; all modules if one is unknown."""
        found: set[str] = set()
        for function in functions:
            if function not in self._defining:
                return self.names
            found.update(self._defining[function])
        return sorted(found)

    def prepare(self, names: Iterable[str]) -> None:
        """Compile modules and their imports in the bundle, and import their external imports.

        Forked children inherit the result.

        Raises:
            SyntaxError: a source is not valid for this guest's version of Python.
        """
        waiting, seen, elsewhere = list(names), set(), set()
        while waiting:
            name = waiting.pop()
            if not name or name in seen:
                continue
            seen.add(name)
            if name in self:
                self.code_of(name)
                waiting += self._imports[name]
            else:
                elsewhere.add(name)
        for name in sorted(elsewhere - set(sys.modules)):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    def install(self, names: Iterable[str]) -> list[ModuleType]:
        """Make all modules importable in this process, and import the named ones.

        Raises:
            SyntaxError: a source is not valid for this guest's version of Python.
        """
        sys.meta_path.insert(0, _Finder(self))
        return [importlib.import_module(name) for name in names]

    def __contains__(self, name: str) -> bool:
        """Return whether a module or package belongs to this bundle."""
        return name in self._sources

    def is_package(self, name: str) -> bool:
        """Return whether a module has submodules."""
        return name in self._packages

    def code_of(self, name: str) -> CodeType:
        """Return the code of a module.

        Raises:
            SyntaxError: its source is not valid for this guest's version of Python.
        """
        if name not in self._code:
            tree = ast.parse(self._sources[name], f"<bundle {name}>")
            package = name if self.is_package(name) else name.rpartition(".")[0]
            self._imports[name] = [*self._imported(tree, package), package]
            self._code[name] = compile(tree, f"<bundle {name}>", "exec", dont_inherit=True)
        return self._code[name]

    def _imported(self, tree: ast.AST, package: str) -> Iterator[str]:
        """Iterate over the modules that source imports; an imported name may itself be a module."""
        for origin, names in _imports(tree, package):
            yield origin
            yield from (path for name in names if (path := f"{origin}.{name}") in self)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finder and loader of a bundle's modules."""

    def __init__(self, bundle: CodeBundle) -> None:
        self._bundle = bundle

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - required by the interface
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._bundle:
            return None
        is_package = self._bundle.is_package(fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def get_code(self, fullname: str) -> CodeType:
        return self._bundle.code_of(fullname)

    def get_source(self, fullname: str) -> str | None:  # noqa: ARG002
        return None


def _imports(tree: ast.AST, package: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Iterate over the imports of source at run time: modules, and names from them.

    Args:
        tree: parsed source.
        package: base of relative imports.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            base = above[: len(above) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield origin, tuple(alias.name for alias in node.names)
        yield from _imports(node, package)
