"""Copies of folders in the state folder, by name and digest; creating a copy is atomic.

::

    <state>/registered/<kind>/<name>/<digest>/entry.json    written last, then the folder is renamed
    <state>/registered/<kind>/<name>/<digest>/content/      the copied files
    <state>/registered/<kind>/.new-<random>/                copy in progress; stale when unlocked
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import SpecError, StoreError, UnknownNameError
from foundation.files import locked, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock

MAX_BYTES = 1 << 30
"""Size limit of a folder."""
_ENTRY = "entry.json"
_CONTENT = "content"
_NEW = ".new-"
_LEFT_OUT = frozenset({".git", "__pycache__", ".venv", "node_modules"})
_AT = "@"
_MIN_DIGEST_CHARS = 8
_SHOWN_CHARS = 12


class Entry(BaseModel):
    """One copy.

    Attributes:
        schema_version: version of this file's schema; another one is refused.
        name: its name.
        digest: SHA-256 of the relevant content.
        description: description by its author.
        added_s: when it was last added, unix time; a name refers to its latest copy.
        source: folder that it was copied from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    name: str
    digest: str
    description: str
    added_s: float
    source: str

    @property
    def reference(self) -> str:
        """Name and digest, which refer to this copy even after others are added."""
        return f"{self.name}{_AT}{self.digest[:_SHOWN_CHARS]}"


class Copies:
    """The copies of one kind.

    Args:
        folder: their folder; it need not exist.
        what: the kind of copy in error messages, such as ``suite``.
        clock: provides the timestamps.
    """

    def __init__(self, folder: Path, what: str, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._folder = folder
        self._what = what
        self._clock = clock

    def entries(self) -> list[Entry]:
        """Return all copies sorted by name, and per name the latest first.

        Raises:
            StoreError: a copy cannot be read.
        """
        copies = [_read(path) for path in self._paths()]
        return sorted(copies, key=lambda entry: (entry.name, -entry.added_s))

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted({path.parent.parent.name for path in self._paths()})

    def find(self, reference: str) -> Entry | None:
        """Return the latest copy of a name, or that of ``name@digest``; None if there is none.

        Args:
            reference: name or ``name@digest``; the digest may be shortened to eight digits or more.
        """
        name, _, digest = reference.partition(_AT)
        if _AT in reference and len(digest) < _MIN_DIGEST_CHARS:
            return None
        for entry in self.entries():
            if entry.name == name and entry.digest.startswith(digest):
                return entry
        return None

    def get(self, reference: str) -> Entry:
        """Return the copy that `find` returns.

        Raises:
            UnknownNameError: there is none.
        """
        entry = self.find(reference)
        if entry is None:
            raise UnknownNameError.of(f"registered {self._what}", reference, self.names())
        return entry

    def content(self, entry: Entry) -> Path:
        """Return the folder with a copy's content."""
        return self._folder / entry.name / entry.digest / _CONTENT

    def add(self, source: Path, examine: Callable[[Path], tuple[str, str, str]]) -> Entry:
        """Copy a folder; an existing copy with the same digest becomes the latest of its name.

        Args:
            source: the folder.
            examine: validates a copy and returns its name, digest and description.

        Raises:
            SpecError: the folder is too large, contains files that cannot be copied, or is rejected
                by `examine`.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with locked(self._folder / ".lock", what=f"The list of registered {self._what}s"):
            for leftover in self._folder.glob(f"{_NEW}*"):
                shutil.rmtree(leftover)
            new = Path(tempfile.mkdtemp(prefix=_NEW, dir=self._folder))
            try:
                _copy(source, new / _CONTENT)
                name, digest, description = examine(new / _CONTENT)
                entry = Entry(
                    name=name,
                    digest=digest,
                    description=description,
                    added_s=self._clock.now_s(),
                    source=str(source.resolve()),
                )
                self._keep(new, entry)
                return entry
            finally:
                shutil.rmtree(new, ignore_errors=True)

    def remove(self, name: str) -> list[Entry]:
        """Remove all copies of a name and return them.

        Raises:
            UnknownNameError: there is none.
        """
        self.get(name)
        with locked(self._folder / ".lock", what=f"The list of registered {self._what}s"):
            removed = [entry for entry in self.entries() if entry.name == name]
            shutil.rmtree(self._folder / name)
        return removed

    def _paths(self) -> list[Path]:
        return list(self._folder.glob(f"[!.]*/[0-9a-f]*/{_ENTRY}"))

    def _keep(self, new: Path, entry: Entry) -> None:
        target = self._folder / entry.name / entry.digest
        text = entry.model_dump_json(indent=1) + "\n"
        if target.is_dir():
            write_atomic(target / _ENTRY, text)
            return
        write_atomic(new / _ENTRY, text)
        new.chmod(0o755)
        target.parent.mkdir(exist_ok=True)
        new.rename(target)


def _read(path: Path) -> Entry:
    try:
        return Entry.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", details=str(exc)) from exc


def _copy(source: Path, target: Path) -> None:
    """Copy a folder's regular files and subfolders, world-readable and limited in size.

    Raises:
        SpecError: it contains a link, socket or other special file, is too large, or is unreadable.
    """
    left = MAX_BYTES
    try:
        for folder, names, files in os.walk(source):
            names[:] = sorted(set(names) - _LEFT_OUT)
            place = target / Path(folder).relative_to(source)
            place.mkdir(parents=True, mode=0o755)
            for path in (Path(folder) / name for name in (*names, *files)):
                if path.is_symlink() or not (path.is_file() or path.is_dir()):
                    raise SpecError(
                        f"{path} is neither a file nor a folder.",
                        resolution="Replace links with their targets.",
                    )
            for name in files:
                left -= (Path(folder) / name).stat().st_size
                if left < 0:
                    raise SpecError(f"{source} is larger than {MAX_BYTES} bytes.")
                is_program = os.access(Path(folder) / name, os.X_OK)
                shutil.copyfile(Path(folder) / name, place / name)
                (place / name).chmod(0o755 if is_program else 0o644)
    except OSError as exc:
        raise SpecError(f"{source} cannot be copied.", details=str(exc)) from exc
