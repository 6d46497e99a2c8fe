"""Sizes of the parts of the state folder, measured in the background: a walk may take minutes."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from monitoring.gauges import Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from foundation.settings import Settings

EVERY_S = 600.0
PARTS = ("runs", "images", "templates", "machines", "devices", "service", "metrics", "logs")
"""Folders below the state folder that are measured."""


class StoreSizes:
    """Measures the parts of the state folder periodically; a context manager.

    Args:
        settings: locate the folder.
    """

    def __init__(self, settings: Settings) -> None:
        self._root = settings.state_dir
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-sizes", daemon=True)
        self._sizes: Mapping[str, int] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def measure(self) -> None:
        """Measure all parts once."""
        self._sizes = {part: size_bytes(self._root / part, self._ended) for part in PARTS}

    def gauge(self) -> Gauge:
        """Return the last measurement; no values before the first one."""
        return Gauge(
            "store_bytes",
            "Disk space of the parts of the state folder, measured every ten minutes.",
            {(part,): size for part, size in self._sizes.items()},
            ("part",),
        )

    def _run(self) -> None:
        while not self._ended.is_set():
            self.measure()
            self._ended.wait(EVERY_S)


def size_bytes(folder: Path, ended: threading.Event) -> int:
    """Return the disk space of a folder.

    Args:
        folder: it need not exist, and may change meanwhile.
        ended: ends the walk early.
    """
    total = 0
    for base, _folders, names in os.walk(folder):
        if ended.is_set():
            break
        for name in names:
            try:
                total += os.lstat(os.path.join(base, name)).st_blocks * 512  # noqa: PTH118 - many
            except OSError:  # gone meanwhile
                continue
    return total
