"""Compute one digest over the files of a custom agent, to detect changes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from foundation.errors import SpecError
from foundation.files import digest_bytes, digest_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MAX_BYTES = 50_000_000


def digest_module(path: Path) -> str:
    """Return the digest of a module and of the modules next to it that it imports.

    Args:
        path: path of the module; for a package, its ``__init__.py``, to include the whole package.

    Raises:
        SpecError: a file cannot be read.
    """
    if path.name == "__init__.py":
        return digest_files(sorted(path.parent.rglob("*.py")), path.parent)
    return digest_files(sorted(_closure(path)), path.parent)


def digest_files(paths: Iterable[Path], root: Path) -> str:
    """Return one digest over files and their paths relative to a folder.

    Raises:
        SpecError: a file cannot be read, or is larger than 50 MB.
    """
    digests = {}
    for path in paths:
        content = _read(path)
        name = path.relative_to(root) if path.is_relative_to(root) else path
        digests[str(name)] = digest_bytes(content)
    return digest_json(digests)


def _closure(path: Path) -> set[Path]:
    """Return a module's file and those next to it that it imports, directly or indirectly."""
    known, waiting = {path}, [path]
    while waiting:
        for other in _beside(waiting.pop()):
            if other not in known:
                known.add(other)
                waiting.append(other)
    return known


def _beside(path: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(_read(path), str(path))
    except (SyntaxError, ValueError) as exc:
        raise SpecError(f"{path} is not Python.", details=str(exc)) from exc
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names]
        for name in names:
            beside = path.parent / f"{name.partition('.')[0]}.py"
            if beside.is_file():
                yield beside
            package = path.parent / name.partition(".")[0]
            if (package / "__init__.py").is_file():
                yield from package.rglob("*.py")


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SpecError(f"{path} is larger than {_MAX_BYTES} bytes.")
        return path.read_bytes()
    except OSError as exc:
        raise SpecError(f"{path} cannot be read.", details=str(exc)) from exc
