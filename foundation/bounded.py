"""Run calls in a separate thread, so that waiting for them can time out."""

from __future__ import annotations

import contextvars
import queue
import threading
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from foundation.cancel import CancelToken

T = TypeVar("T")
_POLL_S = 0.05
"""Minimum extension of a wait."""


class NoAnswerError(MesocosmError):
    """A call did not return in time; its thread is abandoned."""

    code = "no_answer"


class _Call(Generic[T]):
    """One call with its result or its error."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._context = contextvars.copy_context()
        self._results: list[T] = []
        self._error: BaseException | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            self._results.append(self._context.run(self._function))
        except BaseException as exc:  # noqa: BLE001 - raised again in the thread that waits
            self._error = exc
        self.ended.set()

    @property
    def has_ended(self) -> bool:
        return bool(self._results) or self._error is not None

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._results[0]


class BackgroundCall(Generic[T]):
    """A call that runs in its own daemon thread while its caller does something else.

    Args:
        function: called immediately.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        self._call = _Call(function)
        threading.Thread(target=self._call.run, name="background", daemon=True).start()

    def result(self) -> T:
        """Wait until the call ends and return its result.

        Raises:
            Exception: whatever the call raised.
        """
        self._call.ended.wait()
        return self._call.result()


class CallThread:
    """A daemon thread that runs calls sequentially; a context manager.

    A call that does not return blocks the thread, which then cannot be used any further.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call[object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="calls", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._calls.put(None)

    def run(
        self,
        function: Callable[[], T],
        *,
        timeout_s: float,
        cancel: CancelToken | None = None,
        extension_s: Callable[[], float] = lambda: 0.0,
    ) -> T:
        """Run a call and return its result.

        Args:
            function: called in the thread.
            timeout_s: how long to wait for it.
            cancel: also ends the wait, if given.
            extension_s: called when the time is over; returns how much longer than `timeout_s` to
                wait in all, seconds.

        Raises:
            NoAnswerError: it did not return in time.
            CancelledError: the wait was cancelled.
            Exception: whatever the call raised.
        """
        call = _Call(function)
        withdraw = cancel.on_cancel(call.ended.set) if cancel else None
        try:
            self._calls.put(call)  # type: ignore[arg-type]  # its result is not read there
            begin_s, wait_s = SYSTEM_CLOCK.monotonic_s(), timeout_s
            while not call.ended.wait(wait_s):
                elapsed_s = SYSTEM_CLOCK.monotonic_s() - begin_s
                left_s = timeout_s + extension_s() - elapsed_s
                if left_s <= 0:
                    break
                wait_s = max(left_s, _POLL_S)
        finally:
            if withdraw:
                withdraw()
        if call.has_ended:
            return call.result()
        if cancel:
            cancel.check()
        raise NoAnswerError(f"No answer within {timeout_s:g} s.")

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            call.run()
