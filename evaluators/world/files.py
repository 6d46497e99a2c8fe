"""Evaluators of a world's files, which ask its WebDAV server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import SuiteFile, evaluator
from evaluators.world.texts import has_text

if TYPE_CHECKING:
    from evaluators.world.view import WorldView

_BYTE_ORDER_MARK = "\ufeff"


@evaluator(on="world")
def stored_file_equals(
    world: WorldView, path: str, text: str = "", reference: SuiteFile = ""
) -> bool:
    """Return whether a file in the person's folder has the given content.

    As text, it must be UTF-8; a byte order mark, a single newline at the end, and CRLF for a newline
    are no difference. Proves the state, not who caused it.

    Example:
        ``{on: world, check: stored_file_equals, with: {path: Documents/list.txt, text: "milk, eggs"}}``

    Args:
        world: the world.
        path: path below the person's folder; letter case is significant.
        text: the complete text.
        reference: file of the suite with the same bytes, in place of a text.
    """
    data = world.file(path)
    if reference:
        return data is not None and data == Path(reference).read_bytes()
    found = _decode(data)
    return found is not None and _plain(found) == _plain(text)


@evaluator(on="world")
def stored_file_contains(world: WorldView, path: str, text: str) -> bool:
    """Return whether a text file in the person's folder contains a text, whatever its white space.

    Proves the state, not who caused it.

    Example:
        ``{on: world, check: stored_file_contains, with: {path: Documents/list.txt, text: milk}}``

    Args:
        world: the world.
        path: path below the person's folder; letter case is significant.
        text: the part, which must not be empty.
    """
    found = _decode(world.file(path))
    return found is not None and bool(text.strip()) and has_text(found, text)


@evaluator(on="world")
def lacks_stored_file(world: WorldView, path: str) -> bool:
    """Return whether the person's folder has no file with a path.

    Example:
        ``{on: world, check: lacks_stored_file, with: {path: Documents/old.txt}}``

    Args:
        world: the world.
        path: path below the person's folder; letter case is significant.
    """
    return world.file(path) is None


@evaluator(on="world")
def keeps_stored_files(world: WorldView, folder: str, besides: list[str] | None = None) -> bool:
    """Return whether the files of the persona in a folder are still there, unchanged.

    For nodes with ``mode: keep``. New files are no difference. Each file is read.

    Example:
        ``{on: world, check: keeps_stored_files, with: {folder: Documents/Bank}}``

    Args:
        world: the world.
        folder: folder of the persona, such as ``Documents/Bank``.
        besides: paths of files that may be gone or changed.
    """
    return all(
        world.file(file.path) == file.text.encode()
        for file in world.persona.files.below(folder)
        if file.path not in (besides or ())
    )


def _decode(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _plain(text: str) -> str:
    plain = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n")
    return plain.removesuffix("\n")
