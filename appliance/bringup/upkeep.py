"""Periodic upkeep by the worker: remove surplus machines, ended forks, leftover agents and renderers, old logs."""

from __future__ import annotations

import logging
import os
import threading
from functools import partial
from typing import TYPE_CHECKING

from controller.agents.custom.container import remove_leftovers
from evaluators.rendering import container as renderers
from foundation.errors import MesocosmError
from provisioning.fleet.local import LocalFleet

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from foundation.settings import Settings

EVERY_S = 60.0
IDLE_S = 600.0
"""How long a machine beyond the pool size may be idle."""
MAX_LOG_BYTES = 10 << 20
KEPT_LOG_BYTES = 1 << 20

_log = logging.getLogger(__name__)


class Upkeep:
    """Runs upkeep in the background until the block ends.

    Args:
        settings: of the appliance.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def work(self) -> None:
        """Run all jobs once; failures are logged, and retried the next time."""
        log = self._settings.run_dir / "dockerd.log"
        jobs = (partial(cut_log, log), self._tend_machines, remove_leftovers, self._end_renderers)
        for job in jobs:
            try:
                job()
            except (MesocosmError, OSError) as exc:
                _log.warning("upkeep failed: %s", exc)

    def _tend_machines(self) -> None:
        fleet = LocalFleet(self._settings, judges_images=False)
        for line in fleet.remove_ended() + fleet.trim(IDLE_S):
            _log.info("removed: %s", line)

    def _end_renderers(self) -> None:
        for name in renderers.remove_leftovers(self._settings.state_dir):
            _log.info("removed: renderer %s: it does not run", name)

    def _run(self) -> None:
        while not self._ended.wait(EVERY_S):
            self.work()


def cut_log(
    path: Path, *, max_bytes: int = MAX_LOG_BYTES, kept_bytes: int = KEPT_LOG_BYTES
) -> bool:
    """Truncate a log that another process appends to, and keep its end; return whether it was cut.

    Args:
        path: of the log; it need not exist.
        max_bytes: a log larger than this is truncated.
        kept_bytes: how much of its end is copied to ``<name>.1``.
    """
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return False
    if size <= max_bytes:
        return False
    with path.open("rb") as file:
        file.seek(size - kept_bytes)
        path.with_name(f"{path.name}.1").write_bytes(file.read())
    # Its writer appends, so it continues at the new end.
    os.truncate(path, 0)
    return True
