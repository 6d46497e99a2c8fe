"""Read a suite's Python files, and check those that guests run."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from foundation.errors import SpecError
from mesocosm import authoring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

FOLDERS = {
    "evaluators": "evaluator",
    "actions": "action",
    "setup": "setup",
    "observations": "observation",
    "visual_prompts": "visual_prompt",
}
"""Folders next to ``suite.yaml``, and the kind of functions that their files define."""

MAX_BYTES = 1 << 20
"""Limit of the total size of a suite's files."""

GUEST_PYTHON = (3, 9)
_IN_GUESTS = ("evaluators.decorators", "evaluators.desktop", "provisioning.probe")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One Python file of a suite.

    Attributes:
        path: path of the file.
        folder: one of `FOLDERS`.
        name: name of the module: the file's name without ``.py``.
        text: its content.
        tree: the parsed text.
    """

    path: Path
    folder: str
    name: str
    text: str
    tree: ast.Module

    @property
    def key(self) -> str:
        """Path in the suite's folder."""
        return f"{self.folder}/{self.name}.py"

    def error(self, line: int, brief: str, resolution: str = "", details: str = "") -> SpecError:
        """Return an error that names the file and a line."""
        return SpecError(f"{self.path}:{line}: {brief}", details=details, resolution=resolution)


class _Import(NamedTuple):
    """One imported name: ``from MODULE import NAME``, or ``import MODULE`` with no name."""

    line: int
    module: str
    name: str
    level: int


def read_sources(root: Path) -> tuple[SourceFile, ...]:
    """Read the Python files of a suite, sorted by folder and name.

    Args:
        root: the suite's folder.

    Raises:
        SpecError: a file cannot be read, is outside the folder, is not valid Python, or cannot be
            a module; or the files exceed the limit of their total size.
    """
    paths = [
        (folder, path)
        for folder in FOLDERS
        for path in sorted((root / folder).glob("*.py"))
        if path.name != "__init__.py" or path.stat().st_size
    ]
    sources = tuple(_read(root, folder, path) for folder, path in paths)
    if sum(len(source.text) for source in sources) > MAX_BYTES:
        raise SpecError(f"The Python files of {root} exceed {MAX_BYTES >> 20} MiB.")
    return sources


def require_guest_sources(names: Iterable[str], sources: Sequence[SourceFile]) -> list[SourceFile]:
    """Check the files that guests load for the guests' Python, and return them.

    Args:
        names: modules in ``evaluators/`` that define evaluators of desktops.
        sources: all files of the suite.

    Returns:
        Those modules and the ones that they import, sorted by name.

    Raises:
        SpecError: a file cannot run in guests; the message has file, line and reason.
    """
    siblings = {source.name: source for source in sources if source.folder == "evaluators"}
    pending, required = list(names), dict[str, SourceFile]()
    while pending:
        name = pending.pop()
        if name not in required:
            required[name] = siblings[name]
            pending += _require_guest_source(siblings[name], set(siblings))
    return [required[name] for name in sorted(required)]


def _read(root: Path, folder: str, path: Path) -> SourceFile:
    if not path.resolve().is_relative_to(root.resolve()):
        raise SpecError(f"{path} is outside the suite's folder.")
    if not path.stem.isidentifier() or path.name == "__init__.py":
        raise SpecError(
            f"{path} cannot be a module of a suite.",
            resolution="Use letters, digits and underscores in its name; __init__.py is not allowed.",
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise SpecError(f"{path} cannot be read.", details=str(exc)) from exc
    return SourceFile(path, folder, path.stem, text, _parse(path, text))


def _parse(path: Path, text: str, version: tuple[int, int] | None = None) -> ast.Module:
    try:
        return ast.parse(text, str(path), feature_version=version)
    except (SyntaxError, ValueError) as exc:
        line = getattr(exc, "lineno", None) or 1
        reason = exc.msg if isinstance(exc, SyntaxError) else str(exc)
        resolution = "Evaluators of desktops run in guests with Python 3.9." if version else ""
        details = (getattr(exc, "text", None) or "").rstrip()
        raise SpecError(f"{path}:{line}: {reason}.", details, resolution) from exc


def _require_guest_source(source: SourceFile, siblings: set[str]) -> set[str]:
    """Check one file and return the names of the files in its folder that it imports."""
    _parse(source.path, source.text, GUEST_PYTHON)
    _require_old_annotations(source)
    imported: set[str] = set()
    for target in _imports(source.tree):
        if target.level == 0:
            _require_in_guests(source, target)
            continue
        name = target.module.partition(".")[0] or target.name
        if target.level > 1 or name not in siblings:
            raise source.error(
                target.line,
                f"there is no module {name!r} in evaluators/.",
                "Desktop evaluators can import files in the same folder: from .NAME import ...",
            )
        imported.add(name)
    return imported


def _require_in_guests(source: SourceFile, imported: _Import) -> None:
    names = (imported.module, f"{imported.module}.{imported.name}")
    is_authored = imported.module == authoring.MODULE and imported.name in authoring.IN_GUESTS
    is_there = (
        is_authored
        or imported.module.partition(".")[0] in sys.stdlib_module_names
        or any(
            name == known or name.startswith(f"{known}.") for name in names for known in _IN_GUESTS
        )
    )
    if not is_there:
        raise source.error(
            imported.line,
            f"guests do not have {imported.name or 'everything'} of {imported.module}."
            if imported.module == authoring.MODULE
            else f"guests do not have {imported.module}.",
            "Desktop evaluators can import the standard library, the names of mesocosm that read files, "
            "and files in the same folder. Those for documents, vision, phones and "
            "the session run on the host: put them into a separate file.",
        )


def _require_old_annotations(source: SourceFile) -> None:
    """Refuse ``X | Y`` in annotations that Python 3.9 would evaluate."""
    if any(
        target.module == "__future__" and target.name == "annotations"
        for target in _imports(source.tree)
    ):
        return
    for node in ast.walk(source.tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.expr) and any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr)
            for part in ast.walk(annotation)
        ):
            raise source.error(
                annotation.lineno,
                "Python 3.9 cannot evaluate X | Y in annotations.",
                "Begin the file with: from __future__ import annotations",
            )


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """Iterate over a module's imports at run time, without those for type checkers."""
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from (_Import(node.lineno, alias.name, "", 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield _Import(node.lineno, node.module or "", alias.name, node.level)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from _executed(child)
