"""What the worker does from time to time: surplus machines and forks that ended go, the engine's log stays small."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError
from provisioning.fleet.local import LocalFleet

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from appliance.base.settings import Settings

EVERY_S = 60.0
IDLE_S = 600.0
"""How long a machine beyond the pool may be idle."""
MAX_LOG_BYTES = 10 << 20
KEPT_LOG_BYTES = 1 << 20

_log = logging.getLogger(__name__)


class Upkeep:
    """Works in the background until the block ends.

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
        """Do all of it once; what fails is logged and tried again the next time."""
        try:
            cut_log(self._settings.run_dir / "dockerd.log")
            fleet = LocalFleet(self._settings, judges_images=False)
            for line in fleet.remove_ended() + fleet.trim(IDLE_S):
                _log.info("removed: %s", line)
        except (MesocosmError, OSError) as exc:
            _log.warning("upkeep failed: %s", exc)

    def _run(self) -> None:
        while not self._ended.wait(EVERY_S):
            self.work()


def cut_log(
    path: Path, *, max_bytes: int = MAX_LOG_BYTES, kept_bytes: int = KEPT_LOG_BYTES
) -> bool:
    """Cut a log that another process appends to, keeping its end beside it; whether it was cut.

    Args:
        path: of the log; it need not exist.
        max_bytes: a log of this size is cut.
        kept_bytes: how much of its end goes to ``<name>.1``.
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
    # Its writer appends, so that it goes on at the new end.
    os.truncate(path, 0)
    return True
