"""Cancel running work from any thread."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from foundation.errors import CancelledError, MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foundation.clock import Clock


class CancelToken:
    """A token shared by the worker and those who may cancel it; thread-safe.

    Attributes:
        event: set once it is cancelled, for code that can wait for an event.
        reason: why it was cancelled; empty before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self.event = threading.Event()
        self.reason = ""

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self.event.is_set()

    def cancel(self, reason: str = "Cancelled.") -> None:
        """Request that the work ends; only the first call has an effect.

        Args:
            reason: one sentence, kept in results.
        """
        with self._lock:
            if self.event.is_set():
                return
            self.reason = reason
            self.event.set()
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise an error if the token is cancelled.

        Raises:
            CancelledError: it is cancelled.
        """
        if self.event.is_set():
            raise CancelledError(self.reason)

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` when the token is cancelled, or immediately if it already is.

        Returns:
            A function that removes the callback.
        """
        with self._lock:
            self._callbacks.append(callback)
            is_cancelled = self.event.is_set()
        if is_cancelled:
            callback()
        return lambda: self._withdraw(callback)

    def _withdraw(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


class CancellableClock:
    """A clock whose waits end when a token is cancelled.

    Args:
        clock: measures and waits.
        token: ends the waits.
    """

    def __init__(self, clock: Clock, token: CancelToken) -> None:
        self._clock = clock
        self._token = token

    @property
    def token(self) -> CancelToken:
        """The token that ends its waits."""
        return self._token

    def now_s(self) -> float:
        """Return seconds since the epoch (UTC)."""
        return self._clock.now_s()

    def monotonic_s(self) -> float:
        """Return seconds since an arbitrary start, which never decrease."""
        return self._clock.monotonic_s()

    def sleep(self, seconds: float) -> None:
        """Wait.

        Raises:
            CancelledError: the token was cancelled, before or during the wait.
        """
        self._clock.wait(self._token.event, seconds)
        self._token.check()

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Wait until an event is set, at most `timeout_s`; cancelling does not end this wait."""
        return self._clock.wait(event, timeout_s)


@contextlib.contextmanager
def ended_by(token: CancelToken | None, end: Callable[[], object]) -> Iterator[None]:
    """Run a block that `end` interrupts when a token is cancelled.

    Args:
        token: None never interrupts the block.
        end: called in the thread that cancels, or immediately if the token is already cancelled.

    Raises:
        CancelledError: it was cancelled; replaces any error that the block raised because of that.
    """
    if token is None:
        yield
        return
    withdraw = token.on_cancel(end)
    try:
        token.check()
        yield
    except MesocosmError:
        token.check()
        raise
    finally:
        withdraw()
    token.check()
