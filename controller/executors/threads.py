"""Run a function in several threads that Ctrl-C ends in an orderly way."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foundation.cancel import CancelToken

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_in_threads(act: Callable[[], None], count: int, cancel: CancelToken) -> None:
    """Call a function in several threads at the same time, and wait for all of them.

    Args:
        act: the function that each thread calls.
        count: number of threads; with 1, the calling thread is used, where an interrupt ends it
            immediately.
        cancel: cancelled when a thread raises or Ctrl-C is pressed; the function must stop then.

    Raises:
        KeyboardInterrupt: Ctrl-C; every thread has ended.
        BaseException: the exception of the first thread that failed.
    """
    if count == 1:
        act()
        return
    threads = _ThreadGroup(act, count, cancel)
    is_interrupted = False
    while not threads.are_done.is_set():
        try:
            threads.start()
            # Not Thread.join: if interrupted in Python 3.11, it treats a running thread as ended.
            threads.are_done.wait()
        except KeyboardInterrupt:
            # Further interrupts have no effect: machines must be released before the run ends.
            is_interrupted = True
            cancel.cancel("Interrupted.")
    if is_interrupted:
        raise KeyboardInterrupt
    if threads.failure is not None:
        raise threads.failure


class _ThreadGroup:
    """Threads that call the same function."""

    def __init__(self, act: Callable[[], None], count: int, cancel: CancelToken) -> None:
        self._act = act
        self._count = self._running = count
        self._cancel = cancel
        self._lock = threading.Lock()
        self._has_started = False
        self.are_done = threading.Event()
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Start the threads unless they have been started."""
        if self._has_started:
            return
        with _signals_held():
            for number in range(self._count):
                threading.Thread(target=self._work, name=f"trials-{number}").start()
            self._has_started = True

    def _work(self) -> None:
        _release_signals()
        try:
            self._act()
        except KeyboardInterrupt:
            self._cancel.cancel("Interrupted.")
        except BaseException as exc:  # noqa: BLE001 - raised again by the thread that waits
            with self._lock:
                self.failure = self.failure or exc
            self._cancel.cancel("Interrupted.")
        with self._lock:
            self._running -= 1
            if not self._running:
                self.are_done.set()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Block signals during a block; those that arrive are delivered after it.

    Threads started in the block also block signals, until they call `_release_signals`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        _release_signals()


def _release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
