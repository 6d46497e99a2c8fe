"""The whole phone as one machine: snapshots, reboot, stop."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

from images.phone.device.config import SHARED_FOLDERS
from images.phone.device.processes import ProcessesLeftError
from images.phone.device.store.snapshots import SnapshotRefusedError, SnapshotStore
from images.phone.device.sync.syncer import Syncer

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.config import DeviceConfig
    from images.phone.device.phone import Phone
    from images.phone.device.processes import Processes


_LOG_KEY = ("device", "log")


class PhoneMachine:
    """Save and restore the phone.

    A rewind ends what leads to hosts, kills every process started by a shell, then restores the state's database and the
    files below /sdcard and /data/local/tmp; meanwhile no command and no process can start.

    Args:
        config: paths and names.
        phone: the phone with its state.
        processes: processes started by its shells.

    Attributes:
        syncer: synchronises it with the account that it is signed in to.
    """

    def __init__(self, config: DeviceConfig, phone: Phone, processes: Processes) -> None:
        self._phone = phone
        self._processes = processes
        self._snapshots = SnapshotStore(config.snapshots_dir, config.root, SHARED_FOLDERS)
        self._stopped = threading.Event()
        self.syncer = Syncer(phone)
        self.booted_s = time.monotonic()
        self.at_reboot: list[Callable[[], None]] = []
        """Functions called at the beginning of every reboot."""
        self.at_load: list[Callable[[], None]] = []
        """Functions called at the beginning of every rewind."""

    def snapshot_names(self) -> list[str]:
        """Return the names of the snapshots."""
        return self._snapshots.names()

    def save(self, name: str) -> None:
        """Save everything.

        Raises:
            SnapshotRefusedError: it cannot be saved.
        """
        with self._processes.lock, self._phone.event():
            # The log is in memory; store it in the state so that the copy contains it.
            store = self._phone.store
            store.put_setting(*_LOG_KEY, json.dumps(self._phone.log.to_list()))
            try:
                self._snapshots.save(name, store)
            finally:
                store.delete_setting(*_LOG_KEY)

    def load(self, name: str) -> None:
        """Restore everything.

        Raises:
            SnapshotRefusedError: there is no such snapshot, it is damaged, or a process did not
                die.
        """
        with self._processes.lock, self._phone.lock:
            if name not in self._snapshots.names():
                raise SnapshotRefusedError(f"there is no snapshot called '{name}'")
            for act in self.at_load:
                act()
            try:
                self._processes.kill_all()
                self._snapshots.load(name, self._phone.store)
                self._take_log()
                self._phone.reload()
            except (ProcessesLeftError, sqlite3.Error, OSError, ValueError) as exc:
                raise SnapshotRefusedError(f"loading failed: {exc}") from exc

    def _take_log(self) -> None:
        store = self._phone.store
        kept = store.setting(*_LOG_KEY)
        store.delete_setting(*_LOG_KEY)
        self._phone.log.replace(json.loads(kept) if kept else [])

    def reboot(self, answer: Callable[[], None] | None = None) -> None:
        """Reboot: disconnect every host, end all processes, and show the home screen.

        Hosts may reconnect immediately, but their commands start only after the reboot: everything
        that answers after `answer` is the rebooted phone.

        Args:
            answer: called at the beginning, to answer the request.
        """
        with self._processes.lock, self._phone.lock:
            if answer is not None:
                answer()
            for act in self.at_reboot:
                act()
            with contextlib.suppress(ProcessesLeftError):
                self._processes.kill_all()
            self._phone.boot()
        self.booted_s = time.monotonic()

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotRefusedError: there is no such snapshot.
        """
        with self._phone.lock:
            self._snapshots.delete(name)

    def stop(self) -> None:
        """Make `wait` return."""
        self._stopped.set()

    def wait(self) -> None:
        """Wait for `stop`."""
        self._stopped.wait()
