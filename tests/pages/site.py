"""A whole service on machines in memory: API, pages, worker, schedules, with runs to look at."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.service.api.server import Server, listen
from controller.service.process import Scheduler, run_parts, work_on_queue
from controller.service.state.database import Database
from controller.service.state.tokens import Role
from controller.service.web.app import make_app_with_pages
from controller.service.worker.worker import Worker
from foundation.clock import SYSTEM_CLOCK
from tests.unit.controller.service.context import make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.api.context import ApiContext


@dataclass(frozen=True)
class Site:
    """A service that runs.

    Attributes:
        context: what it is about.
        address: of its pages.
        token: of an operator.
    """

    context: ApiContext
    address: str
    token: str


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Site]:
    """Run a service for the length of a block; its state is in `folder`."""
    database = Database(folder / "service/state.sqlite")
    context = make_api_context(database, folder)
    listener = listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    worker = Worker(database, context.settings, SYSTEM_CLOCK, preflight=lambda _: None)
    parts = {
        "api": Server(make_app_with_pages(context, {host}), listener),
        "scheduler": Scheduler(database, context.settings, SYSTEM_CLOCK),
        "worker": work_on_queue(worker, grace_s=0.0),
    }
    thread = threading.Thread(target=run_parts, args=(parts, context.stop))
    thread.start()
    try:
        yield Site(context, f"http://{host}", context.tokens.add("pages", Role.OPERATE))
    finally:
        context.stop.set()
        thread.join()
        database.close()
