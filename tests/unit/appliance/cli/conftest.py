from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.cli.output import console_err, console_out
from appliance.cli.resources import closing_at_end

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    """Close what a test opens like a command."""
    with closing_at_end():
        yield


@pytest.fixture(autouse=True)
def _own_width() -> None:
    """Create consoles anew: another test's may have another width."""
    console_out.cache_clear()
    console_err.cache_clear()


@pytest.fixture
def tiny() -> Path:
    return Path(__file__).resolve().parents[3] / "suites/tiny"
