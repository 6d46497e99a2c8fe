from __future__ import annotations

import os
import signal
import socket
import ssl
from typing import TYPE_CHECKING

import pytest

from appliance.bringup import service
from appliance.bringup.service import find_service, log_path, start_service, stop_service
from appliance.services.address import (
    fetch,
    make_trust_context,
    running_code,
    service_certificate,
    service_url,
)
from foundation.clock import wait_until
from foundation.errors import MachineStartError, RequirementError, SettingsError, UsageError
from foundation.settings import Settings
from tests.standins.certificate import make_certificate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return the settings of an appliance; its service is stopped after the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_SERVICE_PORT", str(port))
    settings = Settings()
    yield settings
    stop_service(settings)


@pytest.mark.slow
def test_service_is_started_once_and_stopped(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_service(settings) is None
    assert start_service(settings).startswith("started")
    first = find_service(settings)
    assert first
    assert start_service(settings).startswith("was already running")
    assert find_service(settings) == first
    assert log_path(settings).stat().st_mode & 0o077 == 0

    # A service of other code is replaced.
    real = running_code
    monkeypatch.setattr(
        service,
        "running_code",
        lambda current_settings: (
            "0.0" if find_service(current_settings) == first else real(current_settings)
        ),
    )
    assert start_service(settings).startswith("started")
    second = find_service(settings)
    assert second not in {None, first}
    assert stop_service(settings) == "stopped"
    assert stop_service(settings) == "was not running"
    assert "The service has stopped." in log_path(settings).read_text()


@pytest.mark.slow
def test_service_start_failure_is_reported_with_its_cause(
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


@pytest.mark.slow
def test_killed_service_is_not_mistaken_for_a_running_one(settings: Settings) -> None:
    start_service(settings)
    process = find_service(settings)
    assert process
    os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: find_service(settings) is None, timeout_s=60)
    assert stop_service(settings) == "was not running"
    assert start_service(settings).startswith("started")


def test_public_address_without_tls_names_the_settings(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SERVICE_ADDRESS", "192.0.2.1")
    with pytest.raises(UsageError) as caught:
        service_certificate(Settings(state_dir=settings.state_dir))
    assert "MESOCOSM_SERVICE_TLS_CERT and MESOCOSM_SERVICE_TLS_KEY" in caught.value.resolution
    assert "--tls-cert" not in caught.value.resolution


@pytest.mark.slow
def test_background_service_uses_tls_as_configured(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start_service(settings).endswith(f"http://127.0.0.1:{settings.service_port}")
    first = find_service(settings)
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("MESOCOSM_SERVICE_TLS_CERT", str(certificate.path))
    monkeypatch.setenv("MESOCOSM_SERVICE_TLS_KEY", str(certificate.key_path))
    encrypted = Settings()
    address = f"https://127.0.0.1:{settings.service_port}"
    # The service that runs without TLS is replaced, and only then.
    assert start_service(encrypted) == f"started, {address}"
    assert find_service(encrypted) not in {None, first}
    assert start_service(encrypted) == f"was already running, {address}"
    trust = ssl.create_default_context(cafile=certificate.path)
    assert fetch(f"{address}/healthz", trust=trust)
    (tmp_path / "other").mkdir()
    stranger = make_certificate(tmp_path / "other")
    assert fetch(f"{address}/healthz", trust=make_trust_context(stranger.path)) is None


def test_network_address_needs_a_certificate_and_its_key(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    without_key = Settings(state_dir=tmp_path, service_tls_cert=certificate.path)
    with pytest.raises(SettingsError, match="must be set together"):
        start_service(without_key)
    open_to_all = Settings(state_dir=tmp_path, service_address="0.0.0.0")  # noqa: S104
    with pytest.raises(UsageError, match="without TLS"):
        start_service(open_to_all)
    wrong = Settings(
        state_dir=tmp_path, service_tls_cert=certificate.path, service_tls_key=certificate.path
    )
    with pytest.raises(UsageError, match="not a certificate and its key"):
        service_certificate(wrong)


@pytest.mark.parametrize(
    ("chosen", "address"),
    [
        ({}, "http://127.0.0.1:9465"),
        ({"service_address": "::1"}, "http://[::1]:9465"),
        ({"service_hosts": "localhost:8000"}, "http://127.0.0.1:9465"),
        ({"service_address": "192.0.2.1", "service_tls_cert": "c"}, "https://192.0.2.1:9465"),
        (
            {"service_address": "::", "service_tls_cert": "c"},
            f"https://{socket.gethostname()}:9465",
        ),
        (
            {
                "service_address": "::",
                "service_tls_cert": "c",
                "service_hosts": "bench.example.org:9465, other",
            },
            "https://bench.example.org:9465",
        ),
    ],
)
def test_service_url_follows_the_settings(chosen: dict[str, str], address: str) -> None:
    assert service_url(Settings(**chosen)) == address  # type: ignore[arg-type] # parsed
