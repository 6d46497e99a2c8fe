from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from foundation.bounded import CallThread, NoAnswerError
from foundation.cancel import CancelToken
from foundation.errors import CancelledError


def test_calls_run_one_after_the_other_in_one_thread() -> None:
    with CallThread() as thread:
        names = {
            thread.run(lambda: threading.current_thread().name, timeout_s=30) for _ in range(3)
        }
    assert names == {"calls"}


def test_exceptions_of_a_call_are_reraised() -> None:
    with CallThread() as thread:
        with pytest.raises(ZeroDivisionError):
            thread.run(lambda: 1 // 0, timeout_s=30)
        assert thread.run(lambda: None, timeout_s=30) is None


def test_call_that_does_not_return_times_out() -> None:
    release = threading.Event()
    with CallThread() as thread, pytest.raises(NoAnswerError, match=r"within 0\.05 s"):
        thread.run(lambda: release.wait(30), timeout_s=0.05)
    release.set()


def test_wait_is_extended_until_its_extension_is_over() -> None:
    release, extensions_s = threading.Event(), [0.1, 60.0, 0.0]

    def extension_s() -> float:
        if len(extensions_s) == 2:
            release.set()
        return extensions_s.pop(0)

    with CallThread() as thread:
        wait = lambda: release.wait(30)  # noqa: E731
        assert thread.run(wait, timeout_s=0.01, extension_s=extension_s)
        release.clear()
        with pytest.raises(NoAnswerError):
            thread.run(wait, timeout_s=0.01, extension_s=lambda: 0.0)
    release.set()


def test_cancellation_ends_the_wait() -> None:
    release, cancel = threading.Event(), CancelToken()
    threading.Timer(0.05, cancel.cancel).start()
    with CallThread() as thread, pytest.raises(CancelledError):
        thread.run(lambda: release.wait(30), timeout_s=30, cancel=cancel)
    release.set()


def test_calls_see_the_context_of_their_caller() -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    with CallThread() as thread:
        token = name.set("trial")
        assert thread.run(name.get, timeout_s=60) == "trial"
        name.reset(token)
        assert thread.run(name.get, timeout_s=60) == ""
