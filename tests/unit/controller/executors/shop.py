"""Runs of the tiny suite on fake machines that other processes can execute, too."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from controller.agents.custom.python_class import specify_class
from controller.agents.registry import make_driver
from controller.executors.cluster.host_pool import appliance_id
from controller.executors.local import LocalExecutor
from controller.executors.messages import RunAccess, ServiceAddress
from controller.executors.ray import RayExecutor, RunPlace
from controller.planning import specify_run, suite_for
from controller.scheduling.execution import execute_run
from controller.service.api.app import make_app
from controller.service.api.server import Server, listen
from controller.service.state.database import Database
from controller.store.runs import Store
from controller.wiring import (
    isolated_executor,
    open_fleet,
    open_suite,
    open_suite_of,
    open_trials,
)
from foundation.clock import SYSTEM_CLOCK
from foundation.settings import Settings
from tests.unit.controller.executors.hosts import ProcessCluster
from tests.unit.controller.service.context import make_api_context

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.specification.agent import AgentSpec
    from controller.store.runs import RunFolder
    from foundation.cancel import CancelToken
    from foundation.clock import Clock

WAITING = """
class Agent:
    def act(self, observation):
        return {"do": "wait", "with": {"seconds": 0.2}}
"""


class Shop:
    """Runs of the tiny suite on fake machines, executed by the executor under test."""

    def __init__(self, kind: str, suite: Path, folder: Path) -> None:
        self.kind = kind
        self.suite = open_suite(str(suite))
        self.settings = Settings(state_dir=folder)
        self.events: list[TrialEvent] = []
        self.measured: list[TrialResult] = []
        self.cluster = ProcessCluster(folder.parent / "hosts", "a", "b")
        self._opened = contextlib.ExitStack()
        self._address = ""

    def close(self) -> None:
        """End the service and the tasks of other hosts."""
        self.cluster.close()
        self._opened.close()

    def begin(self, agent: AgentSpec, *tasks: str, repeats: int = 1, retries: int = 0) -> RunFolder:
        spec = specify_run(
            self.suite, agent, tasks=tasks, repeats=repeats, retries=retries, fleet="fake"
        )
        return Store(self.settings.runs_dir).create(spec)

    def executor(self, run: RunFolder, parallel: int = 1) -> Executor:
        suite = suite_for(run.spec, open_suite_of(run.spec))
        driver = make_driver(run.spec.only_agent)
        fleet = open_fleet("fake", self.settings)
        trials = open_trials(run.spec, suite, driver, fleet, self.settings)
        if self.kind == "local":
            return LocalExecutor(trials, parallel)
        if self.kind == "ray":
            return self.ray_executor(run, parallel)
        return isolated_executor(trials, run, self.settings, "fake", parallel=parallel)

    def ray_executor(
        self, run: RunFolder, parallel: int = 1, clock: Clock = SYSTEM_CLOCK
    ) -> RayExecutor:
        """Return the executor of hosts, whose trials a service on a port of this host records."""
        address = ServiceAddress(url=self.address(), run=run.spec.run, key="", writer="")
        access = RunAccess(sink=address, fleet="fake", is_bound=True)
        place = RunPlace(run, access, {}, appliance_id(self.settings))
        return RayExecutor(
            place, self.cluster.connect, parallel, measure=self.measured.append, clock=clock
        )

    def address(self) -> str:
        """Return the address of the service, which is started when it is first needed."""
        if self._address:
            return self._address
        database = Database(self.settings.service_dir / "state.sqlite")
        self._opened.callback(database.close)
        listener = listen("127.0.0.1", 0)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        context = make_api_context(database, self.settings.state_dir)
        stop = threading.Event()
        app = make_app(context, {host})
        server = threading.Thread(target=Server(app, listener), args=(stop,))
        server.start()
        self._opened.callback(server.join)
        self._opened.callback(stop.set)
        self._address = f"http://{host}"
        return self._address

    def go(
        self,
        run: RunFolder,
        parallel: int = 1,
        *,
        cancel: CancelToken | None = None,
        drain: threading.Event | None = None,
        then: Callable[[TrialEvent], None] = lambda _: None,
    ) -> list[TrialResult]:
        self.events.clear()

        def note(event: TrialEvent) -> None:
            self.events.append(event)
            then(event)

        executor = self.executor(run, parallel)
        return execute_run(run, executor, cancel=cancel, drain=drain, on_event=note)


def class_in(folder: Path, code: str) -> AgentSpec:
    """Write an agent's class, and return its specification."""
    (folder / "own.py").write_text(code)
    return specify_class("own.py:Agent", folder)
