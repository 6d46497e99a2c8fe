"""Write an imported suite: again without effect, and never over what the user changed."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.errors import SpecError
from foundation.files import digest_file, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

RECORD = "import.json"
"""File of an imported suite with the digest of every file as it was imported."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Changes:
    """What a folder needs to be as imported.

    Attributes:
        written: files to create or change.
        unchanged: files that are as they should be.
        kept: files that the user changed and the import did not.
        removed: files that no task needs any more.
    """

    written: Sequence[str]
    unchanged: Sequence[str]
    kept: Sequence[str] = field(default=())
    removed: Sequence[str] = field(default=())


def files_below(folder: Path) -> Iterator[str]:
    """Iterate over the names of all files below a folder, sorted."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def compare(staged: Path, folder: Path, *, force: bool) -> Changes:
    """Compare a staged suite with the folder that it goes to.

    Raises:
        SpecError: the folder is something else, or the user changed files that the import changes,
            and `force` is off.
    """
    record = _read_record(folder)
    if record is None and folder.exists() and any(folder.iterdir()) and not force:
        raise SpecError(
            f"{folder} is not empty, and not an imported suite.",
            resolution="Choose another folder, or overwrite files in it with --force.",
        )
    known = record or {}
    wanted = {name: digest_file(staged / name) for name in files_below(staged)}
    written, unchanged, kept, edited = [], [], [], []
    for name, digest in wanted.items():
        path = folder / name
        now = digest_file(path) if path.is_file() else ""
        if now == digest:
            unchanged.append(name)
        elif force or now == known.get(name, ""):
            written.append(name)
        elif digest == known.get(name):
            kept.append(name)
        else:
            edited.append(name)
    stale = [name for name in known if name not in wanted and (folder / name).is_file()]
    if not force:
        edited += [name for name in stale if digest_file(folder / name) != known[name]]
    if edited:
        shown = ", ".join(edited[:_SHOWN])
        more = f" and {len(edited) - _SHOWN} more" if len(edited) > _SHOWN else ""
        raise SpecError(
            f"{folder} has files that you changed and the import would change: {shown}{more}.",
            resolution="Import into another folder, or overwrite them with --force.",
        )
    return Changes(written, unchanged, kept, stale)


def apply(changes: Changes, staged: Path, folder: Path) -> None:
    """Make a folder what `compare` found, and record it."""
    for name in changes.written:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(staged / name, folder / name)
    for name in changes.removed:
        (folder / name).unlink()
        _remove_empty(folder, (folder / name).parent)
    digests = {name: digest_file(staged / name) for name in files_below(staged)}
    text = json.dumps({"files": digests}, indent=1) + "\n"
    path = folder / RECORD
    if not path.is_file() or path.read_text() != text:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _read_record(folder: Path) -> Mapping[str, str] | None:
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        files = json.loads(path.read_text())["files"]
    except (ValueError, KeyError, TypeError) as exc:
        raise SpecError(
            f"{path} is damaged.", resolution="Remove it, and import again with --force."
        ) from exc
    return {str(name): str(digest) for name, digest in files.items()}
