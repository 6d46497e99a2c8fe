"""A service that listens on loopback, with machines in memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.service.api.app import make_app
from controller.service.api.server import Server, listen
from controller.service.episodes.sessions import EpisodeSessions
from controller.service.state.database import Database
from controller.service.state.tokens import Role
from foundation.clock import SYSTEM_CLOCK, FakeClock
from provisioning.fake import FakeFleet
from tests.unit.controller.service.context import FakeFactory, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI

    from foundation.clock import Clock


@dataclass(frozen=True)
class LiveService:
    """A running service."""

    url: str
    token: str
    app: FastAPI
    fleet: FakeFleet
    sessions: EpisodeSessions


@contextmanager
def serving(
    folder: Path, clock: Clock | None = None, *, max_open: int = 4, tends: bool = False
) -> Iterator[LiveService]:
    """Serve until the end of the block.

    Args:
        folder: state of the service.
        clock: of its episodes; by default one that stands still.
        max_open: maximum number of open episodes.
        tends: whether episodes expire.
    """
    fleet = FakeFleet(FakeClock())
    factory = FakeFactory(fleet, FakeClock())
    sessions = EpisodeSessions(factory, clock or FakeClock(), max_open=max_open)
    database = Database(folder / "service/state.sqlite")
    context = make_api_context(database, folder, sessions, clock=SYSTEM_CLOCK)
    listener = listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    app = make_app(context, {host})
    token = context.tokens.add("client", Role.OPERATE)
    parts = [threading.Thread(target=Server(app, listener), args=(context.stop,))]
    if tends:
        parts.append(threading.Thread(target=sessions, args=(context.stop,)))
    for part in parts:
        part.start()
    try:
        yield LiveService(f"http://{host}", token, app, fleet, sessions)
    finally:
        context.stop.set()
        for part in parts:
            part.join()
        sessions.close_all(30)
        database.close()
