"""What API and pages are about, in tests."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, FakeClock
from appliance.base.settings import Settings
from controller.service.api.surroundings import Surroundings
from controller.service.metrics import make_registry, render
from controller.service.state.claims import Claims
from controller.service.state.queued_run import Asker, State
from controller.service.worker.work import Work

if TYPE_CHECKING:
    from pathlib import Path

    from controller.service.requests import RunRequest
    from controller.service.state.database import Database

HOST = "127.0.0.1:9465"


def make_surroundings(database: Database, folder: Path) -> Surroundings:
    return Surroundings(
        database=database,
        settings=Settings(state_dir=folder),
        clock=SYSTEM_CLOCK,
        stop=threading.Event(),
        version="0",
        machines=lambda: [{"machine_id": "desktop-1", "in_use": False}],
        doctor=lambda: [{"name": "disk", "state": "ok"}],
        metrics=lambda: render(make_registry(database, FakeClock())),
    )


def carry_out(around: Surroundings, request: RunRequest) -> str:
    """Queue a run, do what a worker does, and return the run's id."""
    run = around.queue.add(request, Asker("cli", priority=9)).run
    assert carry_out_next(around) == run
    return run


def carry_out_next(around: Surroundings) -> str:
    """Do what a worker does with the next run of the queue, and return its id."""
    claims = Claims(around.database, SYSTEM_CLOCK)
    queued = claims.claim()
    assert queued
    run = queued.run
    work = Work(
        queued,
        around.settings,
        SYSTEM_CLOCK,
        note=lambda counts: claims.note(run, counts),
        preflight=lambda _: None,
    )
    assert work.run()
    claims.give_back(run, is_stopping=True)
    around.queue.cancel(run)
    assert around.queue.get(run).state is State.CANCELLED
    return run
