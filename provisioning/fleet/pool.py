"""Keep forks standing by, and keep the host's memory from being promised twice."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.protocols import Kind

RESERVE_MIB = 1024
"""Memory that stays free for the host itself."""

_MEMINFO = Path("/proc/meminfo")
_EVERY_S = 0.5


def available_mib(meminfo: Path = _MEMINFO) -> int:
    """Give the memory that can be used without pushing anything out, MiB, as the kernel measures."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo.read_text(), flags=re.MULTILINE)
    return int(found[1]) >> 10 if found else 0


class Queue:
    """Those who wait for memory, for all to see: one file each in ``<run_dir>/queue``.

    Args:
        settings: where the run folder is.
        clock: waits.
        available: measures the free memory, MiB.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock = SYSTEM_CLOCK,
        available: Callable[[], int] = available_mib,
    ) -> None:
        self._folder = settings.run_dir / "queue"
        self._clock = clock
        self._available = available

    def wait(self, kind: Kind, need_mib: int, *, timeout_s: float) -> None:
        """Wait until a machine fits into memory.

        Args:
            kind: of the machine.
            need_mib: what one uses, measured.
            timeout_s: how long to wait.

        Raises:
            MachineError: it did not fit in time.
        """
        if self._fits(need_mib):
            return
        with self._listed(kind):
            if wait_until(
                lambda: self._fits(need_mib),
                timeout_s=timeout_s,
                every_s=_EVERY_S,
                clock=self._clock,
            ):
                return
        raise MachineError(
            f"There is no memory for another {kind.value}.",
            details=f"{self._available()} MiB are available, {need_mib + RESERVE_MIB} are needed; "
            f"waited {timeout_s:g} s.",
            resolution="Run fewer trials at once, or stop machines (`mesocosm machine list`).",
        )

    def waiting(self) -> list[str]:
        """Give the kinds that living processes wait for, one entry each."""
        kinds = []
        for path in sorted(self._folder.glob("*-*")) if self._folder.is_dir() else []:
            pid, _, kind = path.name.partition("-")
            if Path(f"/proc/{pid}").exists():
                kinds.append(kind)
            else:
                path.unlink(missing_ok=True)
        return kinds

    def _fits(self, need_mib: int) -> bool:
        return self._available() >= need_mib + RESERVE_MIB

    @contextlib.contextmanager
    def _listed(self, kind: Kind) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{os.getpid()}-{kind.value}"
        path.touch()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def pool_size(settings: Settings, *, need_mib: int) -> int:
    """Give how many forks stand by: what the settings say, or one a core where memory allows."""
    if settings.desktop_pool != "auto":
        return int(settings.desktop_pool)
    fitting = max(0, available_mib() - RESERVE_MIB) // max(1, need_mib)
    return min(os.cpu_count() or 1, fitting)
