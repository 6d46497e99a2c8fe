"""What each file of the repository depends on: modules that it imports, files and folders that it names."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LATER = "later"
"""Attribute of an edge: 0 if importing one file imports the other, 1 if only what it does later may."""

PAGES = "docs"
"""Folder of pages, which tests name without it."""

_INIT = "__init__.py"
_SCANNER = "pkgutil"
"""It imports whatever is in a folder: who uses it depends on its own package."""
_LISTS = "tests/nightly/"
"""Names the sources of jobs, and does not read them."""


class Files:
    """The files of a repository, by path and by folder.

    Args:
        names: paths relative to its root, with slashes.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._below: dict[str, list[str]] = {}
        for name in sorted(self.names):
            for parent in PurePosixPath(name).parents:
                self._below.setdefault(str(parent), []).append(name)

    def below(self, path: str) -> list[str]:
        """Return a file, or all files below a folder; nothing if there is neither."""
        return [path] if path in self.names else self._below.get(path, [])

    def module(self, dotted: str) -> str | None:
        """Return the file of a module or package; None if it is not of this repository."""
        path = dotted.replace(".", "/")
        return next(
            (name for name in (f"{path}.py", f"{path}/{_INIT}") if name in self.names), None
        )

    def imported(self, dotted: str) -> Iterator[str]:
        """Yield the files of a module, and of the packages around it, which are imported before."""
        parts = dotted.split(".")
        for count in range(1, len(parts) + 1):
            if name := self.module(".".join(parts[:count])):
                yield name

    def named(self, folder: PurePosixPath, text: str) -> Iterator[str]:
        """Yield the files that a text in a module may name.

        These are a module by its dotted name, and files without code below a path that is relative to
        one of the folders around the module; a bare name is that of a file beside it, or of a page.

        Args:
            folder: folder of the module.
            text: the text.
        """
        dotted, path = text.partition(":")[0], text.strip("/")
        if "." in dotted and (module := self.module(dotted)):
            yield module
        if not path.strip("./"):
            return
        bases = (folder, *folder.parents) if "/" in path else (folder, PurePosixPath(PAGES))
        for base in bases:
            if data := [name for name in self.below(str(base / path)) if name[-3:] != ".py"]:
                yield from data
                return


def read_graph(root: Path, names: Iterable[str]) -> nx.DiGraph[str]:
    """Return a graph of files with an edge from each file to what it depends on.

    Imports for types only do not count: nothing happens at run time.

    Args:
        root: root of the repository.
        names: its files, relative to the root; those that do not exist any more have no edges.
    """
    files = Files(names)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(files.names)
    for name in files.names:
        path = root / name
        if path.suffix != ".py" or not path.is_file():
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # invalid on purpose: data of a test
            continue
        graph.add_edges_from(_edges(files, name, tree))
    return graph


def _edges(files: Files, name: str, tree: ast.Module) -> Iterator[tuple[str, str, dict[str, int]]]:
    path = PurePosixPath(name)
    first: set[str] = set()
    later: set[str] = set()
    for node, is_later in _walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = later if is_later else first
            found.update(other for dotted in _names(node, path) for other in files.imported(dotted))
        later.update(_mentioned(files, path, node))
    yield from ((name, other, {LATER: 0}) for other in first - {name})
    yield from ((name, other, {LATER: 1}) for other in later - first - {name})


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Yield what is run, and whether it is in a function."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, is_later = stack.pop()
        yield node, is_later
        is_later |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        is_for_types = isinstance(node, ast.If) and _is_type_checking(node.test)
        children = node.orelse if is_for_types else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
        stack += [(child, is_later) for child in children]


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in {getattr(test, "id", ""), getattr(test, "attr", "")}


def _names(node: ast.Import | ast.ImportFrom, path: PurePosixPath) -> list[str]:
    """Return the dotted names that an import has; attributes may be modules, too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    parts = path.parent.parts
    around = parts[: len(parts) - node.level + 1] if node.level else ()
    base = ".".join([*around, *([node.module] if node.module else [])])
    return [base, *(f"{base}.{alias.name}" for alias in node.names)]


def _mentioned(files: Files, path: PurePosixPath, node: ast.AST) -> Iterator[str]:
    """Yield the files that a module names in texts, or imports by a pattern of their names."""
    match node:
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]) if start.endswith("."):
            if files.module(start[:-1]):
                yield from files.below(start[:-1].replace(".", "/"))
        case ast.Constant(value=str(text)) if "/" in text or "." in text:
            if not str(path).startswith(_LISTS):
                yield from files.named(path.parent, text)
        case ast.Import(names=aliases) if _SCANNER in {alias.name for alias in aliases}:
            yield from files.below(str(path.parent))
        case _:
            pass
