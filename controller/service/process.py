"""The parts of the service in one process: schedules, messages, worker, and what else is added.

Each runs in a thread of its own until all are told to stop. Where one fails, all stop, and the
process ends with its error: whoever started it starts it again, and nothing is lost.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from appliance.base.files import locked
from controller.service.notifications.delivery import deliver
from controller.service.notifications.outbox import Outbox
from controller.service.schedules.firing import fire_due

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from controller.service.state.database import Database
    from controller.service.worker.worker import Worker

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
        parts: by name; threads are called after them.
        stop: set to end them, and set here where one fails.

    Raises:
        BaseException: what the first part that failed raised.
    """
    failures: list[BaseException] = []

    def work(part: Part) -> None:
        try:
            part(stop)
        except BaseException as exc:  # noqa: BLE001 - raised again by the thread that waits
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


def lasting(part: Part, other: Part) -> tuple[Part, Part]:
    """Return two parts of which the first ends only once the second has.

    Args:
        part: serves others for as long as the second works.
        other: may go on for a while when it is told to stop.
    """
    is_over = threading.Event()

    def work(stop: threading.Event) -> None:
        try:
            other(stop)
        finally:
            is_over.set()

    return lambda _stop: part(is_over), work


class Scheduler:
    """Fires slots; one a state folder.

    Args:
        database: where schedules are.
        settings: where its lock is.
        clock: says when slots are.
    """

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    def __call__(self, stop: threading.Event) -> None:
        """Fire slots until `stop` is set.

        Raises:
            MachineBusyError: another process does so.
            StateError: the state cannot be read or written.
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
    """Return the part that carries out queued runs.

    Args:
        worker: does it.
        grace_s: how long running trials may go on once the service stops.
    """

    def work(stop: threading.Event) -> None:
        worker.run(stop, grace_s=grace_s)

    return work
