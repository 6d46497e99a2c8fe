"""The format of logs: what a trial records, as lines and content-addressed blobs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from controller.observation.observer import describe_tree
from controller.specification.run import SCHEMA_VERSION
from foundation.files import digest_bytes
from foundation.masking import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from controller.observation.observer import Screenshot
    from evaluators.rendering.views.any import ViewedDocument
    from foundation.clock import Clock
    from provisioning.protocols import Element


def picture_suffix(media_type: str) -> str:
    """Return the suffix of the file of a picture: ``.jpeg``, ``.webp``; ``.png`` for others."""
    kind = media_type.partition("/")[2]
    return f".{kind}" if kind in {"jpeg", "webp"} else ".png"


class EventFormat(ABC):
    """A `controller.episode.context.EventSink`; subclasses store its lines and blobs.

    The first line contains the schema version and the number of the attempt.

    Args:
        clock: provides the lines' timestamps.
        attempt: number of the attempt, from 1.
        folder: folder for files of the trial; None stores none.
        is_continued: whether the log already has its first line.
    """

    def __init__(
        self, clock: Clock, attempt: int, folder: Path | None, *, is_continued: bool = False
    ) -> None:
        header = {"schema_version": SCHEMA_VERSION, "attempt": attempt}
        self._header: dict[str, int] = {} if is_continued else header
        self._clock = clock
        self.folder = folder

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Store one line durably, without secrets known to this process.

        Raises:
            StoreError: it cannot be stored.
        """
        row = {"type": type_, "t": round(self._clock.now_s(), 3), **self._header}
        row |= hide_secrets(fields)
        self._store_line((json.dumps(row, separators=(",", ":")) + "\n").encode())
        self._header = {}

    def keep(self, shots: dict[str, Screenshot]) -> dict[str, str]:
        """Store new screenshots and return the digests of all by role.

        Raises:
            StoreError: they cannot be stored.
        """
        for shot in shots.values():
            self._store_blob(f"{shot.digest}.png", shot.png)
        return {role: shot.digest for role, shot in shots.items()}

    def keep_picture(self, data: bytes, media_type: str = "image/png") -> str:
        """Store a new picture and return its digest.

        Raises:
            StoreError: it cannot be stored.
        """
        digest = digest_bytes(data)
        self._store_blob(f"{digest}{picture_suffix(media_type)}", data)
        return digest

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Store new accessibility trees and return the digests of all by role.

        Raises:
            StoreError: they cannot be stored.
        """
        digests = {}
        for role, tree in trees.items():
            text = json.dumps(describe_tree(tree), separators=(",", ":")).encode()
            digests[role] = digest_bytes(text)
            self._store_blob(f"{digests[role]}.json", text)
        return digests

    def keep_view(self, viewed: ViewedDocument) -> str:
        """Store the view of a document, if it is new, and return its digest.

        Raises:
            StoreError: it cannot be stored.
        """
        text = viewed.view.model_dump_json().encode()
        digest = digest_bytes(text)
        self._store_blob(f"{digest}.json", text)
        return digest

    @abstractmethod
    def _store_line(self, line: bytes) -> None:
        """Store a complete line, with its line end, or raise a `StoreError`."""

    @abstractmethod
    def _store_blob(self, name: str, content: bytes) -> None:
        """Store a blob unless it is stored already, or raise a `StoreError`."""
