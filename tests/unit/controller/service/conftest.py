from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from appliance.base.clock import FakeClock
from controller.service.requests import RunRequest
from controller.service.state.database import Database
from controller.service.state.queue import RunQueue
from controller.service.web.app import make_app_with_pages
from tests.unit.controller.service.surroundings import HOST, make_surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.api.surroundings import Surroundings


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "service/state.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(database: Database, clock: FakeClock) -> RunQueue:
    return RunQueue(database, clock)


@pytest.fixture
def request_of_tiny(tiny: Path) -> RunRequest:
    return RunRequest(suite=str(tiny), agent="oracle", tasks=("dark-style",), fleet="fake")


@pytest.fixture
def around(database: Database, tmp_path: Path) -> Surroundings:
    return make_surroundings(database, tmp_path)


@pytest.fixture
def browser(around: Surroundings) -> TestClient:
    """Return a client that requests pages like a browser that is already on one of them."""
    app = make_app_with_pages(around, {HOST})
    own = {"Origin": f"http://{HOST}"}
    return TestClient(app, base_url=f"http://{HOST}", headers=own, follow_redirects=True)
