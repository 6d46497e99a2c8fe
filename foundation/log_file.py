"""The appliance's log: one file of JSON lines that all its processes append to, rotated by size."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from foundation.masking import mask
from foundation.shared_lines import append_line, numbered, rotate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

FILE = "mesocosm.jsonl"
MAX_BYTES = 10 << 20
KEPT = 4
"""Number of rotated files to keep, in addition to the current one."""

_MESSAGE_CHARS = 8000
_ERROR_CHARS = 16000
_OWN = frozenset({"t", "level", "logger", "message", "program", "pid", "error"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log.

    Attributes:
        time_s: seconds since the epoch.
        level: ``debug``, ``info``, ``warning`` or ``error``.
        logger: dotted name of the module.
        message: what happened.
        program: command that logged it, such as ``run``.
        pid: its process id, within its container.
        names: its context: ``run``, ``trial``, ``machine``, ``episode``.
        error: traceback; empty if there is none.
    """

    time_s: float
    level: str
    logger: str
    message: str
    program: str = ""
    pid: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    def to_json(self) -> str:
        """Return the line in the format of the file, without a line end."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_dict(self) -> dict[str, object]:
        """Return the line as plain data, with its context at the top level."""
        own = {
            "t": datetime.fromtimestamp(self.time_s, tz=UTC).isoformat(timespec="milliseconds"),
            "level": self.level,
            "logger": self.logger,
            "program": self.program,
            "pid": self.pid,
            "message": self.message,
        }
        names = {name: text for name, text in self.names.items() if name not in _OWN}
        return own | names | ({"error": self.error} if self.error else {})


def parse_line(text: bytes) -> LogLine | None:
    """Return a line of the file; None if it is incomplete or has another format."""
    try:
        data: dict[str, Any] = json.loads(text)
        return LogLine(
            time_s=datetime.fromisoformat(data["t"]).timestamp(),
            level=str(data["level"]),
            logger=str(data["logger"]),
            message=str(data["message"]),
            program=str(data["program"]),
            pid=int(data["pid"]),
            names={name: str(value) for name, value in data.items() if name not in _OWN},
            error=str(data.get("error", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class LogFileHandler(logging.Handler):
    """Appends records to the log of an appliance; secrets are masked.

    Records should have passed an `foundation.logging.ContextFilter`. Records that cannot be
    written are dropped, so that logging never makes a trial fail.

    Args:
        folder: of the log.
        program: name of the command that logs.
        max_bytes: a log larger than this is rotated.
        makes_folder: False drops records if the folder does not exist.
    """

    def __init__(
        self, folder: Path, program: str, *, max_bytes: int = MAX_BYTES, makes_folder: bool = True
    ) -> None:
        super().__init__()
        self._path = folder / FILE
        self._program = program
        self._max_bytes = max_bytes
        self._makes_folder = makes_folder

    def emit(self, record: logging.LogRecord) -> None:
        """Append one record."""
        if not self._makes_folder and not self._path.parent.is_dir():
            return
        try:
            line = self._line(record).to_json() + "\n"
            # Text from guests may contain lone surrogates.
            data = line.encode("utf-8", errors="replace")
            if append_line(self._path, data, mode=0o600) > self._max_bytes:
                rotate(self._path, max_bytes=self._max_bytes, kept=KEPT)
        except (OSError, ValueError):
            return

    def _line(self, record: logging.LogRecord) -> LogLine:
        error = ""
        if record.exc_info:
            error = mask(logging.Formatter().formatException(record.exc_info))
        return LogLine(
            time_s=record.created,
            level=record.levelname.lower(),
            logger=record.name,
            message=mask(record.getMessage())[:_MESSAGE_CHARS],
            program=self._program,
            pid=os.getpid(),
            names=getattr(record, "names", {}),
            error=error[-_ERROR_CHARS:],
        )


def log_paths(folder: Path) -> list[Path]:
    """Return the existing files of the log, oldest first."""
    path = folder / FILE
    names = [*(numbered(path, number) for number in range(KEPT, 0, -1)), path]
    return [name for name in names if name.exists()]


class LogReader:
    """Reads the log from its oldest line; further reads continue where the last one ended.

    A log that is rotated in between is first read to its end.

    Args:
        folder: of the log; it need not exist yet.
        needed: texts that a line must contain, in JSON encoding; other lines are not parsed.
    """

    def __init__(self, folder: Path, needed: Iterable[str] = ()) -> None:
        self._folder = folder
        self._needed = [text.encode() for text in needed]
        self._offsets: dict[int, int] = {}

    def read(self) -> Iterator[LogLine]:
        """Yield the lines that are new since the last call, oldest first."""
        for path in log_paths(self._folder):
            try:
                file = path.open("rb")
            except FileNotFoundError:  # just rotated: the next call finds its new name
                continue
            with file:
                yield from self._read(file)

    def _read(self, file: BinaryIO) -> Iterator[LogLine]:
        status = os.fstat(file.fileno())
        offset = self._offsets.get(status.st_ino, 0)
        if offset > status.st_size:  # a new file reuses the inode of a deleted one
            offset = 0
        file.seek(offset)
        for data in file:
            if not data.endswith(b"\n"):  # still being written
                break
            offset += len(data)
            self._offsets[status.st_ino] = offset
            if all(text in data for text in self._needed) and (line := parse_line(data)):
                yield line
