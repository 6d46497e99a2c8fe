"""The last accessibility tree, as long as no program reported a change."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from provisioning.probe.accessibility.client import EXTENTS, Query

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from provisioning.probe.accessibility.client import Ref
    from provisioning.probe.accessibility.events import EventWatch
    from provisioning.probe.accessibility.scope import Querying
    from provisioning.probe.serving.params import Params

    class Reader(Protocol):
        """Reads trees, as `provisioning.probe.accessibility.tree.Walker` does."""

        def read(self, params: Params) -> Reading:
            """Return the tree."""
            ...


MAX_AGE_S = 60.0
"""Age of a tree after which it is read again even if no program reported a change."""
_SCREEN = 0
_ANSWER_S = 1.0


class Reading(NamedTuple):
    """A tree.

    Attributes:
        rows: its elements; see `Walker.tree`.
        windows: left, top, width and height of each window.
        is_whole: whether nothing was left out for lack of time or answers.
    """

    rows: list[dict[str, Any]]
    windows: Mapping[Ref, tuple[int, int, int, int]]
    is_whole: bool


class RecentTree:
    """Reads a tree again only if it may have changed.

    A tree is the same if no program reported a change, and all windows are where they were: programs
    that are moved report nothing.

    Args:
        bus: asks programs for the places of their windows.
        reader: reads trees.
        watch: notes reports of changes.
    """

    def __init__(self, bus: Querying, reader: Reader, watch: EventWatch) -> None:
        self._bus = bus
        self._reader = reader
        self._watch = watch
        self._kept: Optional[Reading] = None
        self._most = 0
        self._read_s = 0.0

    def tree(self, params: Params) -> list[dict[str, Any]]:
        """Return the visible elements, as `Walker.tree` does."""
        most = params.whole("max_nodes", 0)
        kept = self._kept
        if kept is not None and most == self._most and self._is_same(kept, params):
            return kept.rows
        # Before the walk, so that a change during it counts.
        is_watched = self._watch.begin()
        reading = self._reader.read(params)
        self._kept = reading if is_watched and reading.is_whole else None
        self._most, self._read_s = most, time.monotonic()
        return reading.rows

    def _is_same(self, kept: Reading, params: Params) -> bool:
        if time.monotonic() - self._read_s > MAX_AGE_S or self._watch.fileno() < 0:
            return False
        self._bus.begin()
        deadline_s = time.monotonic() + min(_ANSWER_S, params.timeout_s / 4)
        asked = [Query(ref, EXTENTS, (_SCREEN,)) for ref in kept.windows]
        # What programs reported before they answer arrives before their answers.
        answers = self._bus.ask(asked, deadline_s)
        boxes = [answer and tuple(answer[0]) for answer in answers]
        return boxes == list(kept.windows.values()) and self._watch.is_quiet()
