"""Dependencies of the API; those from other layers are passed in by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.service.schedules.register import Register
from controller.service.state.queue import RunQueue
from controller.service.state.tokens import Tokens
from controller.store.runs import Store

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from controller.service.episodes.sessions import EpisodeSessions
    from controller.service.machine_service import MachineService
    from controller.service.state.database import Database
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Dependencies of the API.

    Attributes:
        database: the service's state.
        settings: settings of the appliance.
        clock: provides the current time.
        stop: set when the service stops.
        version: version of Mesocosm.
        machines: returns the machines with their current states.
        doctor: returns the findings of `mesocosm doctor`.
        status: returns the output of `mesocosm status`.
        metrics: returns the metrics for Prometheus.
        episodes: episodes driven by external programs.
        machine_service: screens of individual machines, and operations on them.
        find_viewer: returns the folder of noVNC; None if it is not available.
        worker: socket of the process with access to machines; None if this process has it.
        own_prometheus: host and port of Prometheus itself; empty if it cannot be reached directly.
    """

    database: Database
    settings: Settings
    clock: Clock
    stop: threading.Event
    version: str
    machines: Callable[[], Sequence[dict[str, Json]]]
    doctor: Callable[[], Sequence[dict[str, Json]]]
    status: Callable[[], dict[str, object]]
    metrics: Callable[[], bytes]
    episodes: EpisodeSessions
    machine_service: MachineService
    find_viewer: Callable[[], Path | None]
    worker: Path | None = None
    own_prometheus: str = ""

    @property
    def prometheus(self) -> str:
        """Host and port for queries to Prometheus: its own, or the controller's, which forwards them."""
        return self.own_prometheus or f"127.0.0.1:{self.settings.controller_port}"

    @property
    def queue(self) -> RunQueue:
        """The queue of runs."""
        return RunQueue(self.database, self.clock)

    @property
    def register(self) -> Register:
        """The schedules."""
        return Register(self.database, self.clock)

    @property
    def tokens(self) -> Tokens:
        """The tokens."""
        return Tokens(self.database, self.clock)

    @property
    def store(self) -> Store:
        """The runs."""
        return Store(self.settings.runs_dir)
