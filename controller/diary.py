"""Entries of an agent for its trial's log: prompts, replies, thoughts, warnings."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from provisioning.protocols import Json

MAX_ENTRY_CHARS = 1_000_000
"""Maximum length of an entry as JSON."""


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A picture that the log keeps.

    Attributes:
        data: the encoded picture.
        media_type: its format, such as ``image/png``.
    """

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry.

    Attributes:
        kind: kind of entry, such as ``reply``; chosen by the agent.
        data: any JSON data.
        pictures: pictures that are kept with it.
    """

    kind: str
    data: dict[str, Json]
    pictures: tuple[KeptPicture, ...] = ()


class Diary:
    """Collects an agent's entries; thread-safe.

    It gives no access to machines or evaluators. Entries of an abandoned agent are ignored.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._pictures: list[KeptPicture] = []
        self._sources: list[Callable[[], Mapping[str, str]]] = []

    def follow(self, source: Callable[[], Mapping[str, str]]) -> None:
        """Include the texts of a source in later results of `take`.

        Args:
            source: returns texts by kind of entry; each becomes an entry with the field ``text``.
        """
        self._sources.append(source)

    def write(self, kind: str, **data: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Write an entry.

        Args:
            kind: kind of entry.
            data: any JSON data.

        Raises:
            TypeError: `data` contains values that JSON cannot represent.
            ValueError: the entry is longer than `MAX_ENTRY_CHARS`.
        """
        text = json.dumps(data)
        if len(text) > MAX_ENTRY_CHARS:
            raise ValueError(f"an entry may have {MAX_ENTRY_CHARS} characters, got {len(text)}")
        with self._lock:
            pictures, self._pictures = tuple(self._pictures), []
            self._entries.append(Entry(str(kind), json.loads(text), pictures))

    def keep(self, data: bytes, media_type: str) -> None:
        """Keep a picture with the next entry; the entry may name it by its SHA-256."""
        with self._lock:
            self._pictures.append(KeptPicture(data, media_type))

    def take(self) -> list[Entry]:
        """Return the entries since the last call."""
        for source in self._sources:
            for kind, text in source().items():
                self.write(kind, text=text)
        with self._lock:
            entries, self._entries = self._entries, []
        return entries
