"""Do work in several threads, which Ctrl-C ends in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from appliance.base.cancel import CancelToken

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_in_threads(act: Callable[[], None], count: int, cancel: CancelToken) -> None:
    """Call a function in several threads at the same time, and wait for all of them.

    Args:
        act: what each thread does.
        count: of threads. One is the calling thread, where an interrupt ends it at once.
        cancel: told when one of them raises, or Ctrl-C is pressed; the others are to end by it.

    Raises:
        KeyboardInterrupt: Ctrl-C; every thread has ended.
        BaseException: what ended the first of them.
    """
    if count == 1:
        act()
        return
    team = _Team(act, count, cancel)
    is_interrupted = False
    while not team.are_done.is_set():
        try:
            team.start()
            # Not Thread.join: interrupted in Python 3.11, it takes a running thread for one that ended.
            team.are_done.wait()
        except KeyboardInterrupt:
            # Further interrupts change nothing: machines must go back before the run ends.
            is_interrupted = True
            cancel.cancel("Interrupted.")
    if is_interrupted:
        raise KeyboardInterrupt
    if team.failure is not None:
        raise team.failure


class _Team:
    """Threads that do the same."""

    def __init__(self, act: Callable[[], None], count: int, cancel: CancelToken) -> None:
        self._act = act
        self._count = self._running = count
        self._cancel = cancel
        self._lock = threading.Lock()
        self._has_started = False
        self.are_done = threading.Event()
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Start the threads, unless they were started before."""
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
    """Let no signal interrupt a block; those that arrive act after it.

    Threads started in the block hold them, too, until they call `_release_signals`.
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
