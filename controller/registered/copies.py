"""Copies of folders in the state folder, by name and digest; a copy is there whole or not at all.

::

    <state>/registered/<kind>/<name>/<digest>/entry.json    written last, then the folder is renamed
    <state>/registered/<kind>/<name>/<digest>/content/      what was copied
    <state>/registered/<kind>/.new-<random>/                being copied; a leftover when unlocked
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import SpecError, StoreError, UnknownNameError
from appliance.base.files import locked, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.base.clock import Clock

MAX_BYTES = 1 << 30
"""How large a folder may be."""
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
        name: what it is called.
        digest: SHA-256 of what counts of its content.
        description: of its author.
        added_s: when it was added last, unix time; the latest of a name is what the name means.
        source: folder that it was copied from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    digest: str
    description: str
    added_s: float
    source: str

    @property
    def reference(self) -> str:
        """Its name and digest, which mean this copy whatever is added later."""
        return f"{self.name}{_AT}{self.digest[:_SHOWN_CHARS]}"


class Copies:
    """The copies of one kind.

    Args:
        folder: where they are; it need not exist.
        what: what one of them is called in errors, such as ``suite``.
        clock: stamps them.
    """

    def __init__(self, folder: Path, what: str, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._folder = folder
        self._what = what
        self._clock = clock

    def entries(self) -> list[Entry]:
        """Return all copies by name, of each name the latest first.

        Raises:
            StoreError: one cannot be read.
        """
        copies = [_read(path) for path in self._paths()]
        return sorted(copies, key=lambda entry: (entry.name, -entry.added_s))

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted({path.parent.parent.name for path in self._paths()})

    def find(self, reference: str) -> Entry | None:
        """Return the latest copy of a name, or the one of ``name@digest``; None where there is none.

        Args:
            reference: the digest may be cut to eight digits or more.
        """
        name, _, digest = reference.partition(_AT)
        if _AT in reference and len(digest) < _MIN_DIGEST_CHARS:
            return None
        for entry in self.entries():
            if entry.name == name and entry.digest.startswith(digest):
                return entry
        return None

    def get(self, reference: str) -> Entry:
        """Return the same.

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
        """Copy a folder, unless there is a copy with its digest; that is then the latest of its name.

        Args:
            source: the folder.
            examine: checks a copy and returns its name, digest and description.

        Raises:
            SpecError: the folder is too large, holds what cannot be copied, or `examine` refuses it.
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
        """Remove all copies of a name and return what they were.

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
    """Copy a folder: files and folders alone, readable by everybody, bounded in size.

    Raises:
        SpecError: it holds a link, a socket or such, or is too large, or cannot be read.
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
                        resolution="Replace links by what they lead to.",
                    )
            for name in files:
                left -= (Path(folder) / name).stat().st_size
                if left < 0:
                    raise SpecError(f"{source} holds more than {MAX_BYTES} bytes.")
                is_program = os.access(Path(folder) / name, os.X_OK)
                shutil.copyfile(Path(folder) / name, place / name)
                (place / name).chmod(0o755 if is_program else 0o644)
    except OSError as exc:
        raise SpecError(f"{source} cannot be copied.", details=str(exc)) from exc
