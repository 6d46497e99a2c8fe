from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from controller.service.state.database import Database
from controller.service.state.queue import RunQueue
from controller.service.web.app import make_app_with_pages
from controller.specification.request import RunRequest
from foundation.clock import FakeClock
from tests.unit.controller.service.context import HOST, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.api.context import ApiContext


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
def context(database: Database, tmp_path: Path) -> ApiContext:
    return make_api_context(database, tmp_path)


@pytest.fixture
def browser(context: ApiContext) -> TestClient:
    """Return a client that requests pages like a browser that is already on one of them."""
    app = make_app_with_pages(context, {HOST})
    own = {"Origin": f"http://{HOST}"}
    return TestClient(app, base_url=f"http://{HOST}", headers=own, follow_redirects=True)
