from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.cli.resources import closing_at_end

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    """Close what a test opens like a command."""
    with closing_at_end():
        yield


@pytest.fixture
def tiny() -> Path:
    return Path(__file__).resolve().parents[3] / "suites/tiny"
