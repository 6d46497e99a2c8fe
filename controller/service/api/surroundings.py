"""What the API shows; handed in from the composition root, where it is of other layers."""

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

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from controller.service.episodes.sessions import EpisodeSessions
    from controller.service.machine_desk import MachineDesk
    from controller.service.state.database import Database
    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an API is about.

    Attributes:
        database: the service's state.
        settings: where runs are.
        clock: says when now is.
        stop: set when the service ends.
        version: of Mesocosm.
        machines: returns the machines with their states as they are now.
        doctor: returns the findings of `mesocosm doctor`.
        status: returns what `mesocosm status` prints.
        metrics: returns what Prometheus scrapes.
        episodes: those that programs elsewhere drive.
        desk: where machines are looked at and handled one by one.
        find_viewer: returns the folder of noVNC; None where it could not be had.
        worker: socket of the process that reaches machines; None where this one does.
        own_prometheus: host and port at which Prometheus itself is reached; empty where it is not.
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
    desk: MachineDesk
    find_viewer: Callable[[], Path | None]
    worker: Path | None = None
    own_prometheus: str = ""

    @property
    def prometheus(self) -> str:
        """Host and port at which Prometheus is asked: its own, or the controller's page, which passes it on."""
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
