"""Locks of files, beside others that ask for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import MachineBusyError
from appliance.base.files import FileLock, locked

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 500


def test_who_only_asks_keeps_nobody_from_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            FileLock(path).is_taken()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(ROUNDS):
            with locked(path, what="It"):
                pass
    finally:
        over.set()
        asking.join()


def test_it_is_told_whether_anybody_holds_a_lock(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    assert not lock.is_taken()
    assert not lock.path.exists()

    assert lock.try_acquire()
    assert lock.is_taken()
    assert FileLock(lock.path).is_taken()
    assert not FileLock(lock.path).try_acquire()

    lock.release()
    assert not FileLock(lock.path).is_taken()


def test_a_lock_that_is_held_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        locked(path, what="It"),
        pytest.raises(MachineBusyError, match="It is in use"),
        locked(path, what="It"),
    ):
        pass
