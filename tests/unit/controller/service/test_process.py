from __future__ import annotations

import threading

import pytest

from controller.service.process import run_parts, stop_after

LONG_S = 60.0


def test_dependent_part_ends_after_the_part_that_uses_it() -> None:
    stop, is_asked, may_end = threading.Event(), threading.Event(), threading.Event()
    ended: list[str] = []

    def serve(over: threading.Event) -> None:
        over.wait(LONG_S)
        ended.append("server")

    def work(stop: threading.Event) -> None:
        stop.wait(LONG_S)
        is_asked.set()
        may_end.wait(LONG_S)
        ended.append("worker")

    server, worker = stop_after(serve, work)
    whole = threading.Thread(target=run_parts, args=({"server": server, "worker": worker}, stop))
    whole.start()
    stop.set()
    assert is_asked.wait(LONG_S)
    assert ended == []
    may_end.set()
    whole.join(LONG_S)
    assert ended == ["worker", "server"]


def test_failing_part_ends_all_with_its_error() -> None:
    def fail(_stop: threading.Event) -> None:
        raise RuntimeError("broken")

    server, worker = stop_after(lambda over: over.wait(LONG_S) and None, fail)
    with pytest.raises(RuntimeError, match="broken"):
        run_parts({"server": server, "worker": worker}, threading.Event())
