"""Attempts that another host executes: what it sends is written to the run's folder at once.

An attempt has one writer, which names itself when it begins; requests that it repeats have no
further effect. Once the attempt has its result, whoever recorded it, nothing more is accepted:
a writer that was given up cannot add to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

from controller.store.event_log import EVENTS
from controller.store.runs import LOCK, WRITER
from foundation.errors import StoreError, UsageError
from foundation.files import FileLock, digest_bytes, digest_file, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from controller.store.runs import RunFolder

_CANCEL = "cancel"
_BLOB = re.compile(r"(?P<digest>[0-9a-f]{64})\.(png|jpeg|webp|json)")
_FILE = re.compile(r"screen-[A-Za-z0-9_-]{1,100}\.mp4")
MAX_FILE_BYTES = 1 << 30


class AttemptOverError(StoreError):
    """An attempt has its result, or belongs to another writer: nothing more is recorded."""

    code = "attempt_over"


class Part(NamedTuple):
    """A part of a file.

    Attributes:
        data: its bytes.
        offset: where they begin in the file.
        size: bytes of the whole file.
    """

    data: bytes
    offset: int
    size: int


class ReceivedAttempt:
    """One attempt that another host executes.

    Args:
        run: the run.
        task: id of the task.
        repeat: number of the repetition, from 0.
        number: number of the attempt, from 1.
        writer: the name that its writer gave itself.

    Raises:
        UsageError: the run has no such trial.
    """

    def __init__(self, run: RunFolder, task: str, repeat: int, number: int, writer: str) -> None:
        if (task, repeat) not in run.spec.planned:
            raise UsageError(f"{run.spec.run} has no trial {task}/{repeat}.")
        self._run = run
        self._folder = run.attempt_folder(task, repeat, number)
        self._writer = writer

    def begin(self) -> None:
        """Create the log of the attempt.

        Raises:
            AttemptOverError: it was begun by another writer, or concluded.
            StoreError: it cannot be created.
        """
        if self._folder.exists():
            self._require_writer()
            return
        # The folder appears with its writer, so that no other request sees it without one.
        new = self._folder.with_name(f".{self._folder.name}.{_short(self._writer)}")
        try:
            new.mkdir(parents=True, exist_ok=True)
            write_atomic(new / WRITER, self._writer)
            write_atomic(new / EVENTS, b"")
            new.rename(self._folder)
        except OSError as exc:
            shutil.rmtree(new, ignore_errors=True)
            if not self._folder.exists():
                raise _not_written(self._folder, exc) from exc
            self._require_writer()

    def append(self, first: int, lines: Sequence[str]) -> None:
        """Append lines to the log.

        Args:
            first: number of the first of these lines in the log, from 0; lines that are there
                already must be the same.
            lines: each is a JSON object with a type, without a line end.

        Raises:
            AttemptOverError: the attempt is over, or belongs to another writer.
            UsageError: lines are missing before these, or they are not lines of a log.
            StoreError: they cannot be written.
        """
        for line in lines:
            _require_event(line)
        with self._writing() as log:
            known = _complete_lines(log)
            if known and _type_of(known[-1]) == "end" and first + len(lines) > len(known):
                raise self._over("it has a result")
            if first > len(known):
                raise UsageError(f"{len(known)} lines are there; line {first} cannot follow.")
            again = list(known[first : first + len(lines)])
            if again != [line.encode() for line in lines[: len(again)]]:
                raise self._over("its log has other lines")
            _append(log, lines[len(again) :])

    def beat(self) -> str:
        """Return why the attempt's process shall end; empty if it shall not.

        Raises:
            AttemptOverError: the attempt was concluded, or belongs to another writer.
        """
        if not self._folder.is_dir():
            return ""  # not begun yet
        self._require_writer()
        with contextlib.suppress(FileNotFoundError):
            return (self._folder / _CANCEL).read_text()
        return ""

    def receive_file(self, name: str, part: Part) -> bool:
        """Store a part of a recording; return whether the file is complete.

        Raises:
            AttemptOverError: the attempt belongs to another writer.
            UsageError: the name is not that of a recording, or a part is missing before this one.
            StoreError: it cannot be written.
        """
        if not _FILE.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a recording.")
        self._require_writer()
        return _receive(self._folder / name, self._writer, part)

    def receive_blob(self, name: str, part: Part) -> bool:
        """Store a part of a picture, tree or view; return whether it is complete.

        Raises:
            UsageError: its content does not have the digest that is its name, or a part is missing
                before this one.
            StoreError: it cannot be written.
        """
        match = _BLOB.fullmatch(name)
        if match is None:
            raise UsageError(f"{name!r} is not the name of a blob.")
        path = self._run.path / "blobs" / name
        return _receive(path, self._writer, part, match["digest"])

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Path]:
        """Hold the lock of the attempt, which its writer has begun; yield the path of its log."""
        self._require_writer()
        lock = FileLock(self._folder / LOCK)
        lock.acquire()
        try:
            yield self._folder / EVENTS
        finally:
            lock.release()

    def _require_writer(self) -> None:
        try:
            known = (self._folder / WRITER).read_text()
        except FileNotFoundError:
            raise self._over("it was concluded") from None
        if known != self._writer:
            raise self._over("it has another writer")

    def _over(self, why: str) -> AttemptOverError:
        return AttemptOverError(f"{self._folder.name} of {self._folder.parent.name}: {why}.")


def request_cancel(run: RunFolder, task: str, repeat: int, number: int, reason: str) -> None:
    """Ask the process of an attempt on another host to end it as cancelled; no-op before it begins."""
    folder = run.attempt_folder(task, repeat, number)
    if folder.is_dir():
        write_atomic(folder / _CANCEL, reason)


def _receive(path: Path, writer: str, part: Part, digest: str = "") -> bool:
    """Store a part of a file; its name exists only once the file is complete."""
    if path.exists():
        return True
    end = part.offset + len(part.data)
    if not 0 <= part.offset <= end <= part.size <= MAX_FILE_BYTES:
        raise UsageError(f"A part of {path.name} exceeds its size.")
    partial = path.with_name(f".{path.name}.{_short(writer)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("r+b" if part.offset else "wb") as file:
            if file.seek(0, os.SEEK_END) < part.offset:
                raise _missing(path, part)
            file.seek(part.offset)
            file.write(part.data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        if end < part.size:
            return False
        if digest and digest_file(partial) != digest:
            partial.unlink()
            raise UsageError(f"The content of {path.name} has another digest.")
        partial.replace(path)
    except FileNotFoundError as exc:
        raise _missing(path, part) from exc
    except OSError as exc:
        raise _not_written(path, exc) from exc
    return True


def _short(writer: str) -> str:
    """Return the name of a writer as a part of a file's name."""
    return digest_bytes(writer.encode())[:16]


def _missing(path: Path, part: Part) -> UsageError:
    return UsageError(f"A part of {path.name} is missing before byte {part.offset}.")


def _complete_lines(log: Path) -> list[bytes]:
    """Return the complete lines of a log, whose partial last line, of a full disk, is removed."""
    raw = log.read_bytes()
    end = raw.rfind(b"\n") + 1
    if end < len(raw):
        os.truncate(log, end)
    return raw[:end].split(b"\n")[:-1]


def _append(log: Path, lines: Sequence[str]) -> None:
    if not lines:
        return
    data = "".join(f"{line}\n" for line in lines).encode()
    try:
        with log.open("ab", buffering=0) as file:
            if file.write(data) != len(data):
                raise StoreError(f"{log} cannot be written completely.")
            os.fsync(file.fileno())
    except OSError as exc:
        raise _not_written(log, exc) from exc


def _require_event(line: str) -> None:
    if "\n" in line or _type_of(line) is None:
        raise UsageError("A line is not an event of a log.")


def _type_of(line: str | bytes) -> str | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    kind = event.get("type") if isinstance(event, dict) else None
    return kind if isinstance(kind, str) else None


def _not_written(path: Path, exc: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written.", details=str(exc))
