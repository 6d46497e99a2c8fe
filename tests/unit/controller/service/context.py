"""API context for tests of the API and its pages."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

from appliance.bringup.status import Status
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.service.api.context import ApiContext
from controller.service.episodes.sessions import EpisodeSessions
from controller.service.metrics import make_registry, render
from controller.service.state.claims import Claims
from controller.service.state.queued_run import Requester, State
from controller.service.worker.work import Work
from controller.specification.episode import EpisodeSpec
from controller.specification.observation import ObservationSpec
from controller.wiring import open_suite
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import UnknownNameError
from foundation.settings import REPOSITORY, Settings
from images.currency import Currency, ImageState
from provisioning.fake import FakeFleet
from tests.pages.fake_machine_service import FakeMachineService

if TYPE_CHECKING:
    from pathlib import Path

    from controller.service.episodes.orders import EpisodeRequest
    from controller.service.state.database import Database
    from controller.specification.request import RunRequest
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.cancel import CancelToken
    from foundation.clock import Clock

TINY = REPOSITORY / "tests/suites/tiny"
STATUS = Status(
    engine=True,
    services={"controller": ("running", True), "prometheus": ("exited", False)},
    machines={("desktop", "ready"): 2, ("phone", "ended"): 1},
    accelerator="tcg",
    addresses={"page": "http://127.0.0.1:9464"},
    service=True,
    waiting=["desktop"],
    lost=["phone-1"],
    images=[ImageState("desktop", "debian-12", Currency.STALE, "its recipe changed")],
)
HOST = "127.0.0.1:9465"


@cache
def suites() -> dict[str, Suite]:
    return {"smoke": open_suite("smoke"), "tiny": open_suite(str(TINY))}


class FakeFactory:
    """Creates episodes of the suites `smoke` and `tiny` on in-memory machines."""

    def __init__(self, fleet: FakeFleet, clock: Clock = SYSTEM_CLOCK) -> None:
        self.fleet = fleet
        self.clock = clock

    def check(self, request: EpisodeRequest) -> Task:
        if request.suite not in suites():
            raise UnknownNameError.of("suite", request.suite, suites())
        return suites()[request.suite].task(request.task)

    def make(self, request: EpisodeRequest, cancel: CancelToken) -> tuple[Episode, Task]:
        context = RunContext(
            self.fleet,
            EpisodeSpec(observation=ObservationSpec(trees=request.trees)),
            vocabulary=suites()[request.suite].vocabulary,
            clock=self.clock,
        )
        return Episode(context, cancel=cancel), self.check(request)


def make_api_context(
    database: Database,
    folder: Path,
    episodes: EpisodeSessions | None = None,
    *,
    rate: float = 100_000.0,
    clock: Clock = SYSTEM_CLOCK,
) -> ApiContext:
    episodes_clock = FakeClock()
    factory = FakeFactory(FakeFleet(episodes_clock), episodes_clock)
    return ApiContext(
        database=database,
        # A port without a listener, so that tests do not reach the appliance of this host.
        settings=Settings(state_dir=folder, service_rate=rate, controller_port=1),
        clock=clock,
        stop=threading.Event(),
        version="0",
        machines=lambda: [{"machine_id": "desktop-1", "in_use": False}],
        doctor=lambda: [
            {"name": "disk", "state": "ok", "cause": "", "cure": ""},
            {"name": "kvm", "state": "warn", "cause": "Guests are slow.", "cure": "Another host."},
        ],
        status=STATUS.to_dict,
        metrics=lambda: render(make_registry(database, FakeClock())),
        machine_service=FakeMachineService(3, SYSTEM_CLOCK),
        find_viewer=lambda: None,
        episodes=episodes or EpisodeSessions(factory, episodes_clock, max_open=4),
    )


def carry_out(context: ApiContext, request: RunRequest) -> str:
    """Queue a run, execute it as a worker does, and return its id."""
    run = context.queue.add(request, Requester("cli", priority=9)).run
    assert carry_out_next(context) == run
    return run


def carry_out_next(context: ApiContext) -> str:
    """Execute the next run of the queue as a worker does, and return its id."""
    claims = Claims(context.database, SYSTEM_CLOCK)
    queued = claims.claim()
    assert queued
    run = queued.run
    work = Work(
        queued,
        context.settings,
        SYSTEM_CLOCK,
        note=lambda counts: claims.note(run, counts),
        preflight=lambda _: None,
    )
    assert work.run()
    claims.release(run, is_stopping=True)
    context.queue.cancel(run)
    assert context.queue.get(run).state is State.CANCELLED
    return run
