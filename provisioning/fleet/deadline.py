"""End a lease that lasts too long: its machines are stopped, and whoever hangs on them is told."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from provisioning.protocols import Machine


@contextlib.contextmanager
def bounded(
    machines: Collection[Machine], deadline_s: float, say: Callable[[str], None]
) -> Iterator[None]:
    """Stop machines that are still in use after a time; within the block they are the caller's.

    Every talk with a stopped machine ends with an error, so that no call outlasts its lease.

    Args:
        machines: of the lease.
        deadline_s: how long it may last.
        say: told in one line which machine was stopped.
    """
    ended, taking = False, threading.Lock()

    def stop() -> None:
        with taking:
            for machine in () if ended else machines:
                say(f"{machine.info.machine_id} is stopped: its lease ended after {deadline_s:g} s")
                with contextlib.suppress(MesocosmError):
                    machine.power.stop()

    timer = threading.Timer(deadline_s, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with taking:  # a stop that has begun ends before the machines go back
            ended = True
