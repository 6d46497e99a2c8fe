from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import wait_until
from appliance.base.errors import MachineStartError, RequirementError
from appliance.base.settings import Settings
from appliance.bringup import service
from appliance.bringup.service import find_service, log_path, start_service, stop_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return the settings of an appliance whose service is stopped in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_SERVICE_PORT", str(port))
    settings = Settings()
    yield settings
    stop_service(settings)


def test_the_service_is_started_once_and_stopped(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_service(settings) is None
    assert start_service(settings).startswith("started")
    first = find_service(settings)
    assert first
    assert start_service(settings).startswith("ran already")
    assert find_service(settings) == first
    assert log_path(settings).stat().st_mode & 0o077 == 0

    # One of another code is replaced.
    real = service._running_code
    monkeypatch.setattr(
        service,
        "_running_code",
        lambda found: "0.0" if find_service(found) == first else real(found),
    )
    assert start_service(settings).startswith("started")
    second = find_service(settings)
    assert second not in {None, first}
    assert stop_service(settings) == "stopped"
    assert stop_service(settings) == "did not run"
    assert "The service has stopped." in log_path(settings).read_text()


def test_a_service_that_cannot_start_says_why(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", settings.service_port))
        other.listen()
        with pytest.raises(RequirementError, match="MESOCOSM_SERVICE_PORT"):
            start_service(settings)
    settings.service_dir.mkdir(exist_ok=True)
    (settings.service_dir / "state.sqlite").write_bytes(b"damaged" * 1000)
    with pytest.raises(MachineStartError) as caught:
        start_service(settings)
    assert "damaged" in caught.value.details
    assert find_service(settings) is None


def test_a_killed_service_is_not_taken_for_a_running_one(settings: Settings) -> None:
    start_service(settings)
    process = find_service(settings)
    assert process
    os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: find_service(settings) is None, timeout_s=60)
    assert stop_service(settings) == "did not run"
    assert start_service(settings).startswith("started")
