"""Renderers that stand by, started before they are needed and used once."""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluators.rendering.process import RendererProcess

_log = logging.getLogger(__name__)


class RendererPool:
    """Renderers of one image; thread-safe.

    Args:
        start: starts a renderer.
        size: number of renderers to keep ready; with 0, each is started when it is needed.
        bound: how many may work at a time; more wait.
    """

    def __init__(
        self, start: Callable[[], RendererProcess], *, size: int = 1, bound: int = 2
    ) -> None:
        self._start = start
        self._size = size
        self._working = threading.BoundedSemaphore(bound)
        self._lock = threading.Lock()
        self._ready: list[RendererProcess] = []
        self._starting: threading.Thread | None = None
        self._is_closed = False

    @contextlib.contextmanager
    def renderer(self) -> Iterator[RendererProcess]:
        """Provide a renderer for one document; a replacement is started afterwards.

        Raises:
            RendererError: it does not start.
        """
        with self._working:
            taken = self._take() or self._start()
            try:
                yield taken
            finally:
                taken.close()
        self.warm()

    def warm(self) -> None:
        """Start renderers in the background until `size` are ready."""
        with self._lock:
            is_busy = self._starting is not None and self._starting.is_alive()
            if is_busy or self._is_closed or len(self._ready) >= self._size:
                return
            self._starting = threading.Thread(target=self._fill, name="renderers", daemon=True)
            self._starting.start()

    def wait_until_warm(self) -> None:
        """Wait until the renderers that are being started are ready."""
        with self._lock:
            starting = self._starting
        if starting is not None:
            starting.join()

    def close(self) -> None:
        """End all renderers that stand by."""
        with self._lock:
            self._is_closed = True
        self.wait_until_warm()
        while (taken := self._take()) is not None:
            taken.close()

    def _fill(self) -> None:
        while not self._is_closed and len(self._ready) < self._size:
            try:
                started = self._start()
            except MesocosmError as exc:
                _log.warning("no renderer stands by: %s", exc.brief)
                return
            with self._lock:
                self._ready.append(started)

    def _take(self) -> RendererProcess | None:
        with self._lock:
            return self._ready.pop() if self._ready else None
