"""Parts of the service in one process: schedules, messages, worker and others.

Each part runs in its own thread until all are stopped. If one fails, all stop and the process ends
with its error. Its supervisor can restart the process without loss.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from controller.service.notifications.delivery import deliver
from controller.service.notifications.outbox import Outbox
from controller.service.schedules.firing import fire_due
from foundation.files import locked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.service.state.database import Database
    from controller.service.worker.worker import Worker
    from foundation.clock import Clock
    from foundation.settings import Settings

_log = logging.getLogger(__name__)

_TICK_S = 0.5


class Part(Protocol):
    """One part of the service."""

    def __call__(self, stop: threading.Event, /) -> None:
        """Work until `stop` is set."""
        ...


def run_parts(parts: Mapping[str, Part], stop: threading.Event) -> None:
    """Run all parts until `stop` is set or one of them fails; return when all have ended.

    Args:
        parts: by name, which also names the thread.
        stop: set to end them; set by this function if one fails.

    Raises:
        BaseException: the exception of the first part that failed.
    """
    failures: list[BaseException] = []

    def work(part: Part) -> None:
        try:
            part(stop)
        except BaseException as exc:  # noqa: BLE001 - reraised by the waiting thread
            failures.append(exc)
        finally:
            stop.set()

    threads = [
        threading.Thread(target=work, name=name, args=(part,)) for name, part in parts.items()
    ]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def stop_after(part: Part, other: Part) -> tuple[Part, Part]:
    """Return two parts of which the first ends only after the second has ended.

    Args:
        part: keeps serving while the second part works.
        other: may continue for a while after it is asked to stop.
    """
    is_over = threading.Event()

    def work(stop: threading.Event) -> None:
        try:
            other(stop)
        finally:
            is_over.set()

    return lambda _stop: part(is_over), work


class Scheduler:
    """Part that fires slots; at most one per state folder.

    Args:
        database: holds the schedules.
        settings: locate the scheduler's lock.
        clock: determines when slots are due.
    """

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    def __call__(self, stop: threading.Event) -> None:
        """Fire slots until `stop` is set.

        Raises:
            MachineBusyError: another process already fires slots.
            StateError: the database cannot be read or written.
        """
        with locked(self._settings.run_dir / "scheduler.lock", what="The scheduler"):
            while not stop.is_set():
                fire_due(self._database, self._clock)
                self._clock.wait(stop, _TICK_S)


def deliver_messages(database: Database, clock: Clock) -> Part:
    """Return the part that delivers messages."""
    outbox = Outbox(database, clock, deliver)

    def work(stop: threading.Event) -> None:
        while not stop.is_set():
            outbox.deliver_due()
            clock.wait(stop, _TICK_S)

    return work


def work_on_queue(worker: Worker, *, grace_s: float) -> Part:
    """Return the part that executes queued runs.

    Args:
        worker: executes them.
        grace_s: how long running trials may continue after the service stops.
    """

    def work(stop: threading.Event) -> None:
        worker.run(stop, grace_s=grace_s)

    return work
