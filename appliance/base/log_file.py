"""The appliance's log: one file of JSON lines that all its processes append to, rotated by size."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from appliance.base.masking import mask
from appliance.base.shared_lines import append_line, numbered, rotate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

FILE = "mesocosm.jsonl"
MAX_BYTES = 10 << 20
KEPT = 4
"""Renamed files beside the one that is written to."""

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
        pid: its process id, in its own container.
        names: what it worked on: ``run``, ``trial``, ``machine``, ``episode``.
        error: traceback; empty for none.
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
        """Return it as it stands in the file, without a line end."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data; what it worked on stands beside the other keys."""
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
    """Return a line of the file; None for one that is torn or of another form."""
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

    Records should have passed a `appliance.base.logging.ContextFilter`. What cannot be written is
    dropped: no log line is worth a failed trial.

    Args:
        folder: where the log is.
        program: name of the command that logs.
        max_bytes: a log larger than this is rotated.
        makes_folder: False drops what is logged where the folder is not there, or no longer.
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
            # Guest texts may hold halves of surrogate pairs.
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
    """Return the files of the log that there are, oldest first."""
    path = folder / FILE
    names = [*(numbered(path, number) for number in range(KEPT, 0, -1)), path]
    return [name for name in names if name.exists()]


class LogReader:
    """Reads the log from its oldest line, and goes on where it was when asked again.

    A log that is rotated meanwhile is read to its end first.

    Args:
        folder: where the log is; it need not exist yet.
        needed: texts that a line must hold all of, as JSON has them; others are not parsed.
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
            except FileNotFoundError:  # rotated meanwhile: the next call finds its new name
                continue
            with file:
                yield from self._read(file)

    def _read(self, file: BinaryIO) -> Iterator[LogLine]:
        status = os.fstat(file.fileno())
        offset = self._offsets.get(status.st_ino, 0)
        if offset > status.st_size:  # another file has the inode of one that is gone
            offset = 0
        file.seek(offset)
        for data in file:
            if not data.endswith(b"\n"):  # still being written
                break
            offset += len(data)
            self._offsets[status.st_ino] = offset
            if all(text in data for text in self._needed) and (line := parse_line(data)):
                yield line
