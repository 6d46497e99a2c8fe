"""Ends only the fork that exceeded its memory reservation, before the kernel's OOM killer acts."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from foundation.files import FileLock, write_atomic
from provisioning.desktop.qemu.process import PROC, qemu_processes
from provisioning.fleet.allocation import hypervisor_limit_mib, memory_mib

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from foundation.settings import Settings
    from provisioning.fleet.inventory import Inventory
    from provisioning.fleet.ledger import Ledger

LOW_MIB = 512
"""Memory below which the host, or the hypervisor's container, is about to run out."""

_EVERY_S = 1.0
_OWN = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB$", re.MULTILINE)

_log = logging.getLogger(__name__)


def guest_memory_mib(proc: Path = PROC) -> dict[str, int]:
    """Return the private memory of each QEMU process of this host, MiB, by domain name.

    Pages that forks share with their template are mapped from its file, so they do not count.

    Source: proc(5), ``RssAnon`` and ``RssShmem`` of ``status``.
    """
    used: dict[str, int] = {}
    for name, process in qemu_processes(proc):
        with contextlib.suppress(OSError):  # it ended meanwhile
            kib = sum(map(int, _OWN.findall((process / "status").read_text())))
            used[name] = kib >> 10
    return used


def end_note(settings: Settings, lease_id: str) -> Path:
    """Return the path of the file that records why a machine of a lease was ended."""
    return settings.run_dir / "leases" / f"{lease_id}.ended"


class MemoryGuard:
    """Watches the host's memory while machines are leased.

    Args:
        settings: locates its lock and its end notes.
        ledger: records how much memory each machine has reserved.
        inventory: ends machines.
        memory: returns the host's total and available memory, MiB.
        usage: returns the memory that guests use, MiB by machine id.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        inventory: Inventory,
        *,
        memory: Callable[[], tuple[int, int]] = memory_mib,
        usage: Callable[[], Mapping[str, int]] = guest_memory_mib,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._inventory = inventory
        self._memory = memory
        self._usage = usage
        self._lock = threading.Lock()
        self._holders = 0
        self._stopped = threading.Event()

    def check(self) -> str:
        """End the fork that exceeds its reservation the most, if the host is about to run out.

        Returns:
            The id of the ended machine; empty if none was ended.

        Raises:
            MesocosmError: the fork could not be ended.
        """
        total_mib, available_mib = self._memory()
        limit_mib = hypervisor_limit_mib(total_mib)
        # Guests that use nearly all of their container's memory leave the host no more than this.
        if available_mib >= total_mib - limit_mib + LOW_MIB:
            return ""
        used = self._usage()
        left_mib = min(available_mib, limit_mib - sum(used.values()))
        if left_mib >= LOW_MIB:
            return ""
        grown = [
            (used[row.machine_id] - row.reserved_mib, row)
            for row in self._ledger.machines()
            if row.machine_id in used and self._is_fork(row.machine_id)
        ]
        excess_mib, row = max(grown, key=lambda pair: pair[0], default=(0, None))
        if row is None or excess_mib <= 0:
            _log.warning("%d MiB are left, and no fork exceeds its reservation.", left_mib)
            return ""
        message = (
            f"{row.machine_id} was ended: it used {used[row.machine_id]} MiB of the "
            f"{row.reserved_mib} MiB that are reserved for it, and {left_mib} MiB were left."
        )
        _log.warning(message)
        if row.lease_id:
            write_atomic(end_note(self._settings, row.lease_id), message, is_durable=False)
        self._inventory.destroy(self._inventory.folder(row.machine_id))
        return row.machine_id

    def start(self) -> None:
        """Watch until `stop` has been called as often as `start`."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._stopped = threading.Event()
                threading.Thread(
                    target=self._watch, args=(self._stopped,), name="memory-guard", daemon=True
                ).start()

    def stop(self) -> None:
        """Remove one holder; stop watching when none is left."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._stopped.set()

    def _watch(self, stopped: threading.Event) -> None:
        """Check repeatedly; only one process of the host does so at a time."""
        lock = FileLock(self._settings.run_dir / "memory-guard.lock")
        while not stopped.wait(_EVERY_S):
            if not lock.is_held and not lock.try_acquire():
                continue
            try:
                self.check()
            except (MesocosmError, OSError) as exc:
                _log.warning("The memory of machines could not be checked: %s", exc)
        lock.release()

    def _is_fork(self, machine_id: str) -> bool:
        record = self._inventory.folder(machine_id).read()
        return record is not None and record.is_fork
