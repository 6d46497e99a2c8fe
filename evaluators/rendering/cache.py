"""Views on disk, by the digest of the document, the request and the renderer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from evaluators.rendering import reading
from foundation.files import digest_bytes, digest_json, write_atomic
from images.renderer.program.framing import VERSION, MessageError, encode, read_message

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.rendering.request import ViewRequest

_log = logging.getLogger(__name__)

MAX_BYTES = 1 << 30


class ViewCache:
    """Replies of renderers in a folder; the least recently used are removed.

    Args:
        folder: the folder; created when needed.
        max_bytes: size of the files to keep.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def key(self, renderer: str, document: bytes, request: ViewRequest) -> str:
        """Return the key of a view.

        Args:
            renderer: digest of the renderer.
            document: the file.
            request: what is asked.
        """
        asked = request.asked()
        return digest_json([VERSION, reading.VERSION, renderer, digest_bytes(document), asked])

    def get(self, key: str) -> list[bytes] | None:
        """Return view and pages, or None if there are none."""
        path = self._folder / key
        try:
            with path.open("rb") as file:
                _, parts = read_message(file.read)
            path.touch()
        except FileNotFoundError:
            return None
        except (EOFError, MessageError) as exc:
            _log.warning("the cached view %s is damaged: %s", key, exc)
            return None
        return parts

    def put(self, key: str, parts: list[bytes]) -> None:
        """Keep view and pages."""
        write_atomic(self._folder / key, encode({}, parts), is_durable=False)
        self._prune()

    def _prune(self) -> None:
        files = sorted(
            ((path.stat(), path) for path in self._folder.iterdir()),
            key=lambda row: row[0].st_mtime_ns,
        )
        total = sum(stat.st_size for stat, _ in files)
        for stat, path in files[:-1]:
            if total <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            total -= stat.st_size
