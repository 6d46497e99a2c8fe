"""Locks of files that other processes check at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineBusyError
from foundation.files import FileLock, locked

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 500


def test_checking_a_lock_does_not_block_its_acquisition(tmp_path: Path) -> None:
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


def test_is_taken_reports_whether_a_lock_is_held(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    assert not lock.is_taken()
    assert not lock.path.exists()

    assert lock.try_acquire()
    assert lock.is_taken()
    assert FileLock(lock.path).is_taken()
    assert not FileLock(lock.path).try_acquire()

    lock.release()
    assert not FileLock(lock.path).is_taken()


def test_held_lock_cannot_be_acquired(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        locked(path, what="It"),
        pytest.raises(MachineBusyError, match="It is in use"),
        locked(path, what="It"),
    ):
        pass
