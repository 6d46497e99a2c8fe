"""The log of one trial: append-only synced JSONL; screenshots and trees are stored by content."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, Any, Self

from controller.observation.observer import describe_tree
from controller.specification.run import SCHEMA_VERSION
from controller.store.schema import require_known
from foundation.errors import StoreError
from foundation.files import digest_bytes, write_atomic
from foundation.masking import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from controller.observation.observer import Screenshot
    from evaluators.rendering.views.any import ViewedDocument
    from foundation.clock import Clock
    from provisioning.protocols import Element

EVENTS = "events.jsonl"


def picture_suffix(media_type: str) -> str:
    """Return the suffix of the file of a picture: ``.jpeg``, ``.webp``; ``.png`` for others."""
    kind = media_type.partition("/")[2]
    return f".{kind}" if kind in {"jpeg", "webp"} else ".png"


class TrialLog:
    """The log of one attempt at a trial, open for appending; a context manager.

    Its first line contains the schema version and the number of the attempt.

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
        self._header: dict[str, int] = {"schema_version": SCHEMA_VERSION, "attempt": attempt}
        self._blobs = blobs
        self._clock = clock
        self.folder: Path | None = folder
        self.path = folder / EVENTS
        try:
            folder.mkdir(parents=True, exist_ok=is_begun)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._fd = os.open(self.path, flags | (0 if is_begun else os.O_EXCL), 0o644)
            complete_bytes = self.path.read_bytes().rfind(b"\n") + 1 if is_begun else 0
            os.ftruncate(self._fd, complete_bytes)
        except OSError as exc:
            raise StoreError(f"{self.path} cannot be created.", details=str(exc)) from exc
        if complete_bytes:
            self._header = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Write one line and sync it to disk, without secrets known to this process.

        Raises:
            StoreError: the disk is full or broken.
        """
        row = {"type": type_, "t": round(self._clock.now_s(), 3), **self._header}
        row |= hide_secrets(fields)
        self._write_through((json.dumps(row, separators=(",", ":")) + "\n").encode())
        self._header = {}

    def keep(self, shots: dict[str, Screenshot]) -> dict[str, str]:
        """Write new screenshots and return the digests of all by role.

        Raises:
            StoreError: the disk is full or broken.
        """
        for shot in shots.values():
            self._keep(f"{shot.digest}.png", shot.png)
        return {role: shot.digest for role, shot in shots.items()}

    def keep_picture(self, data: bytes, media_type: str = "image/png") -> str:
        """Write a new picture and return its digest.

        Raises:
            StoreError: the disk is full or broken.
        """
        digest = digest_bytes(data)
        self._keep(f"{digest}{picture_suffix(media_type)}", data)
        return digest

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Write new accessibility trees and return the digests of all by role.

        Raises:
            StoreError: the disk is full or broken.
        """
        digests = {}
        for role, tree in trees.items():
            text = json.dumps(describe_tree(tree), separators=(",", ":")).encode()
            digests[role] = digest_bytes(text)
            self._keep(f"{digests[role]}.json", text)
        return digests

    def keep_view(self, viewed: ViewedDocument) -> str:
        """Write the view of a document, if it is new, and return its digest.

        Raises:
            StoreError: the disk is full or broken.
        """
        text = viewed.view.model_dump_json().encode()
        digest = digest_bytes(text)
        self._keep(f"{digest}.json", text)
        return digest

    def _keep(self, name: str, content: bytes) -> None:
        path = self._blobs / name
        if path.exists():
            return
        try:
            write_atomic(path, content)
        except OSError as exc:
            raise _not_written(path, exc) from exc

    def _write_through(self, line: bytes) -> None:
        """Write a complete line or nothing: a partial line would corrupt the next one."""
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
