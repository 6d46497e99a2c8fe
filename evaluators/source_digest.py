"""Digest the source code that determines the results of an evaluator, to detect changes.

The digest of a function covers its own source, the rest of its module without other marked
functions (except those that it mentions), and every module of its import closure within the same
top-level packages. Comments and docstrings do not count. Modules outside, such as the libraries
that read documents, are not covered; they belong to the version of the code.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import io
import tokenize
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundation.files import digest_bytes, digest_json
from mesocosm import authoring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MARKERS = frozenset({"evaluator", "action", "setup"})
_FOLLOWED = "evaluators"
_KEPT_TEXTS = 512
"""Number of parsed sources in the cache: parsing all evaluators takes 0.2 s at the start of each run."""


class SourceDigester:
    """Digester of marked functions; reads each file once.

    Create one for each use, because it does not notice changed files. Parsed sources are cached by
    text.
    """

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}
        self._modules: dict[str, Path | None] = {}
        self._imports: dict[Path, frozenset[str]] = {}
        self._digests: dict[Path, str] = {}

    def digest(self, function: Callable[..., Any]) -> str:
        """Return the SHA-256 of the source code that a marked function runs.

        Imports are followed into the package ``evaluators`` and, for a function of a suite, into
        the suite's modules.

        Raises:
            OSError: the source cannot be read.
        """
        name = function.__module__
        path = Path(inspect.getsourcefile(function) or "")
        own = strip_source(_without_others(self._text(path), function.__name__))
        top = name.partition(".")[0]
        followed = {_FOLLOWED} if top == "controller" else {_FOLLOWED, top}
        imported = self._closure(name, path, followed) - {path}
        digests = sorted(self._digest(other) for other in imported)
        return digest_json([function.__name__, digest_bytes(own.encode()), digests])

    def digest_modules(self, functions: Iterable[Callable[..., Any]]) -> str:
        """Return one digest of the modules that define some functions.

        Raises:
            OSError: a source cannot be read.
        """
        paths = {Path(inspect.getsourcefile(function) or "") for function in functions}
        return digest_json(sorted(self._digest(path) for path in paths))

    def _closure(self, module: str, path: Path, packages: set[str]) -> set[Path]:
        """Return the file of a module and of all modules that it imports, directly or not."""
        seen: set[Path] = set()
        waiting = [(module, path)]
        while waiting:
            name, source = waiting.pop()
            if source not in seen:
                seen.add(source)
                wanted = (
                    other for other in self._imported(name, source) if _top(other) in packages
                )
                waiting += [
                    (other, other_path) for other in wanted if (other_path := self._path(other))
                ]
        return seen

    def _imported(self, module: str, path: Path) -> frozenset[str]:
        if path not in self._imports:
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            self._imports[path] = _imports(self._text(path), package)
        return self._imports[path]

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = digest_bytes(strip_source(self._text(path)).encode())
        return self._digests[path]

    def _text(self, path: Path) -> str:
        if path not in self._texts:
            self._texts[path] = path.read_text(encoding="utf-8")
        return self._texts[path]

    def _path(self, module: str) -> Path | None:
        if module not in self._modules:
            self._modules[module] = _find_module(module)
        return self._modules[module]


def _top(module: str) -> str:
    return module.partition(".")[0]


def _find_module(module: str) -> Path | None:
    """Return the file of a module; None if it is not a module, or not written in Python."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    is_python = spec is not None and spec.origin is not None and spec.origin.endswith(".py")
    return Path(spec.origin) if spec and spec.origin and is_python else None


@lru_cache(_KEPT_TEXTS)
def _imports(text: str, package: str) -> frozenset[str]:
    """Return the modules that source code imports at run time, not only for types.

    Args:
        text: the source.
        package: package for relative imports.
    """
    names: set[str] = set()
    for node in _running(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            module = importlib.util.resolve_name(origin, package) if node.level else origin
            # A name may be a module of the package or a definition in the module.
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
            if module == authoring.MODULE:
                names |= {authoring.MODULES.get(alias.name, module) for alias in node.names}
    return frozenset(names)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _running(child)


@lru_cache(_KEPT_TEXTS)
def _without_others(text: str, name: str) -> str:
    """Return a module's source without the marked functions that a given one does not need."""
    tree = ast.parse(text)
    marked = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _mark(node)
    }
    others = [node for node in tree.body if not any(node is func for func in marked.values())]
    needed = {name}
    while missing := _mentioned([*others, *(marked[key] for key in needed & set(marked))]) & (
        set(marked) - needed
    ):
        needed |= missing
    lines = text.splitlines(keepends=True)
    for other in set(marked) - needed:
        node = marked[other]
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for number in range(first - 1, node.end_lineno or first):
            lines[number] = "\n"
    return "".join(lines)


def _mark(node: ast.FunctionDef) -> bool:
    calls = (decorator.func for decorator in node.decorator_list if isinstance(decorator, ast.Call))
    return any(isinstance(func, ast.Name) and func.id in _MARKERS for func in calls)


def _mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


@lru_cache(_KEPT_TEXTS)
def strip_source(text: str) -> str:
    """Return source without comments, docstrings and empty lines, independent of the Python version.

    Raises:
        SyntaxError: the text is not Python.
    """
    lines = text.splitlines()
    for number, column in _comments(text):
        lines[number - 1] = lines[number - 1][:column]
    for node in ast.walk(ast.parse(text)):
        docstring = _docstring(node)
        if docstring is not None:
            for number in range(docstring.lineno - 1, docstring.end_lineno or docstring.lineno):
                lines[number] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _comments(text: str) -> list[tuple[int, int]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.start for token in tokens if token.type == tokenize.COMMENT]


def _docstring(node: ast.AST) -> ast.Expr | None:
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str())) as first, *_]:
            return first
        case _:
            return None
