"""What an agent writes down for its trial's log: prompts, replies, thoughts, warnings."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from provisioning.protocols import Json

MAX_ENTRY_CHARS = 1_000_000
"""Longest entry, as JSON."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry.

    Attributes:
        kind: what it is, such as ``reply``; the agent's own word.
        data: anything JSON has.
    """

    kind: str
    data: dict[str, Json]


class Diary:
    """Takes an agent's entries; safe among threads.

    Nothing in it reaches machines or evaluators. An agent that was abandoned writes in vain.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._sources: list[Callable[[], Mapping[str, str]]] = []

    def follow(self, source: Callable[[], Mapping[str, str]]) -> None:
        """Let `take` also return what a source has by then.

        Args:
            source: returns texts by kind of entry; each becomes an entry with the field ``text``.
        """
        self._sources.append(source)

    def write(self, kind: str, **data: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Write an entry.

        Args:
            kind: what it is.
            data: anything JSON has.

        Raises:
            TypeError: `data` holds what JSON has not.
            ValueError: the entry is longer than `MAX_ENTRY_CHARS`.
        """
        text = json.dumps(data)
        if len(text) > MAX_ENTRY_CHARS:
            raise ValueError(f"an entry has {MAX_ENTRY_CHARS} characters at most, got {len(text)}")
        entry = Entry(str(kind), json.loads(text))
        with self._lock:
            self._entries.append(entry)

    def take(self) -> list[Entry]:
        """Return what was written since the last call."""
        for source in self._sources:
            for kind, text in source().items():
                self.write(kind, text=text)
        with self._lock:
            entries, self._entries = self._entries, []
        return entries
