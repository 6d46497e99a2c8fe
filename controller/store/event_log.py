"""The log of one trial: append-only synced JSONL; screenshots and trees are stored by content."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, Any, Self

from controller.store.event_format import EventFormat
from controller.store.schema import require_known
from foundation.errors import StoreError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from foundation.clock import Clock

EVENTS = "events.jsonl"


class TrialLog(EventFormat):
    """The log of one attempt at a trial, open for appending; a context manager.

    Args:
        folder: folder of the attempt; it is created.
        blobs: folder of screenshots and trees.
        clock: provides the lines' timestamps.
        attempt: number of the attempt, from 1.
        is_begun: continue the log of a process that died, if it began one; a truncated last line is
            removed.

    Raises:
        StoreError: the attempt already has a log, unless `is_begun`; or it cannot be created.
    """

    def __init__(
        self, folder: Path, blobs: Path, clock: Clock, *, attempt: int = 1, is_begun: bool = False
    ) -> None:
        self._blobs = blobs
        self.path = folder / EVENTS
        try:
            folder.mkdir(parents=True, exist_ok=is_begun)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._fd = os.open(self.path, flags | (0 if is_begun else os.O_EXCL), 0o644)
            complete_bytes = self.path.read_bytes().rfind(b"\n") + 1 if is_begun else 0
            os.ftruncate(self._fd, complete_bytes)
        except OSError as exc:
            raise StoreError(f"{self.path} cannot be created.", details=str(exc)) from exc
        super().__init__(clock, attempt, folder, is_continued=bool(complete_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def _store_blob(self, name: str, content: bytes) -> None:
        path = self._blobs / name
        if path.exists():
            return
        try:
            write_atomic(path, content)
        except OSError as exc:
            raise _not_written(path, exc) from exc

    def _store_line(self, line: bytes) -> None:
        """Write and sync a complete line or nothing: a partial line would corrupt the next one."""
        size_bytes = os.fstat(self._fd).st_size
        try:
            _write_all(self._fd, line)
        except OSError as exc:
            os.ftruncate(self._fd, size_bytes)
            raise _not_written(self.path, exc) from exc


def _write_all(fd: int, line: bytes) -> None:
    written = os.write(fd, line)
    if written != len(line):
        raise OSError(errno.ENOSPC, f"{written} of {len(line)} bytes were written")
    os.fsync(fd)


def _not_written(path: Path, exc: OSError) -> StoreError:
    is_full = exc.errno in {errno.ENOSPC, errno.EDQUOT}
    return StoreError(
        f"{path} cannot be written.",
        details=str(exc),
        resolution="Free disk space: `mesocosm results prune`." if is_full else "",
    )


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a log; a last line truncated by a killed process is ignored.

    Raises:
        StoreError: another line is damaged, or the log has a newer schema.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    *lines, _torn = raw.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            row["type"]
        except (ValueError, KeyError, TypeError) as exc:
            raise StoreError(
                f"{path}:{number} is damaged.",
                details=str(exc),
                resolution="Back up the file, then delete that line.",
            ) from exc
        if number == 1:
            require_known(row, path)
        yield row
