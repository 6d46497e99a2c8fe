from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import FakeClock
from controller.service.requests import RunRequest
from controller.service.state.database import Database
from controller.service.state.queue import RunQueue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    one = Database(tmp_path / "service/state.sqlite")
    yield one
    one.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(database: Database, clock: FakeClock) -> RunQueue:
    return RunQueue(database, clock)


@pytest.fixture
def request_of_tiny(tiny: Path) -> RunRequest:
    return RunRequest(suite=str(tiny), agent="oracle", tasks=("dark-style",), fleet="fake")
