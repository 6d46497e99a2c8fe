from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.controller.bench import Bench, make_task
from tests.unit.controller.lab import Lab

if TYPE_CHECKING:
    from evaluators.model.task import Task


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def dark_task() -> Task:
    return make_task()


@pytest.fixture
def tiny() -> Path:
    return Path(__file__).resolve().parents[2] / "suites/tiny"


@pytest.fixture
def lab(tiny: Path, tmp_path: Path) -> Lab:
    return Lab(tiny, tmp_path)
