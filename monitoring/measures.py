"""Read the log of measures incrementally, and bound its size.

Writers append to ``measures.jsonl`` (`foundation.measures`). The reader keeps its offset in
memory. A file that has become large is renamed to ``measures.<n>.jsonl``, read to its end, folded
into ``folded.json`` and deleted. Totals are ``folded.json`` plus every file with a number above the
folded one, so a crash between any two of those steps neither loses nor duplicates a line.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import threading
from typing import TYPE_CHECKING

from foundation.files import canonical_json, write_atomic
from foundation.measures import MeasureLog, Name, record
from monitoring.aggregate import Aggregate

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_LOG_BYTES", "MeasureLog", "MeasureReader", "Name", "record"]

MAX_LOG_BYTES = 4 << 20
_START = b'{"t":'
_log = logging.getLogger(__name__)


class MeasureReader:
    """Reader of the log; only one process may have a reader for a folder.

    Args:
        folder: folder of ``measures.jsonl``; it need not exist yet.
        max_bytes: a log larger than this is folded.
    """

    def __init__(self, folder: Path, *, max_bytes: int = MAX_LOG_BYTES) -> None:
        self._folder = folder
        self._path = folder / "measures.jsonl"
        self._state = folder / "folded.json"
        self._max_bytes = max_bytes
        self._offset = 0
        self._mutex = threading.Lock()
        self._folded, self._totals = self._load()
        self._finish_folding()

    def update(self) -> Aggregate:
        """Read what was appended since the last call and return the totals; thread-safe."""
        with self._mutex:
            self._read_on()
            if self._offset > self._max_bytes:
                self._fold()
            return self._totals

    def _load(self) -> tuple[int, Aggregate]:
        try:
            state = json.loads(self._state.read_bytes())
            return int(state["folded"]), Aggregate.from_json(state["totals"])
        except FileNotFoundError:
            return 0, Aggregate()
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            _log.warning("%s is damaged; totals restart from zero: %s", self._state, exc)
            return 0, Aggregate()

    def _save(self) -> None:
        state = {"folded": self._folded, "totals": self._totals.to_json()}
        write_atomic(self._state, canonical_json(state))

    def _finish_folding(self) -> None:
        """Finish the work of an earlier process: fold renamed logs, delete folded ones."""
        for number, path in sorted(
            (int(path.name.split(".")[1]), path)
            for path in self._folder.glob("measures.[0-9]*.jsonl")
        ):
            if number > self._folded:
                self._take(path.read_bytes())
                self._folded = number
                self._save()
            path.unlink()

    def _read_on(self) -> None:
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._offset:  # someone emptied it by hand
                    self._offset = 0
                file.seek(self._offset)
                data = file.read(size - self._offset)
        except FileNotFoundError:
            return
        whole = data.rfind(b"\n") + 1  # a line still being written is left for later
        self._take(data[:whole])
        self._offset += whole

    def _fold(self) -> None:
        """Rename the log while nobody writes, read the rest of it, and keep only the totals."""
        moved = self._folder / f"measures.{self._folded + 1}.jsonl"
        with self._path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._path.rename(moved)
            file.seek(self._offset)
            self._take(file.read())
        self._offset = 0
        self._folded += 1
        self._save()
        moved.unlink()

    def _take(self, data: bytes) -> None:
        for line in data.splitlines():
            if not line.strip():
                continue
            if not self._take_line(line):
                self._totals.damaged += 1
                # A torn line has no newline: the next line follows on the same line.
                self._take_line(line[line.rfind(_START) :])

    def _take_line(self, line: bytes) -> bool:
        try:
            row = json.loads(line)
            name, value, labels = row["m"], float(row["v"]), row["l"]
            items = labels.items()
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        self._totals.add(str(name), value, dict(items))
        return True
