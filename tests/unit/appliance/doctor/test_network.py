from __future__ import annotations

import socket
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from appliance.doctor import network
from appliance.doctor.check import State
from appliance.doctor.network import (
    check_base_archive,
    check_clock,
    check_desktop_archives,
    check_ports,
)
from foundation.clock import FakeClock
from foundation.settings import Settings
from images.catalog import NAMES
from images.distribution import Reachability

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


@contextmanager
def _serve(reply: bytes) -> Iterator[int]:
    """Answer every connection with the same bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> None:
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                with link:
                    link.recv(100)
                    link.sendall(reply)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_free_ports_are_ok() -> None:
    settings = Settings(controller_port=_free_port(), service_port=_free_port())
    assert check_ports(settings).state is State.OK


def test_port_held_by_another_program_is_reported_with_its_holder() -> None:
    with _serve(b"HTTP/1.0 404 no\r\n\r\n") as port:
        settings = Settings(controller_port=port)
        finding = check_ports(settings)
    assert finding.state is State.FAILED
    assert f"Port {port}" in finding.cause
    assert "pid" in finding.cause
    assert "MESOCOSM_CONTROLLER_PORT" in finding.resolution


def test_prometheus_port_matters_only_where_it_is_published() -> None:
    with _serve(b"HTTP/1.0 404 no\r\n\r\n") as port:
        settings = Settings(
            controller_port=_free_port(), service_port=_free_port(), prometheus_port=port
        )
        assert check_ports(settings).state is State.OK
        finding = check_ports(settings.model_copy(update={"publish_prometheus": True}))
    assert finding.state is State.FAILED
    assert "MESOCOSM_PROMETHEUS_PORT" in finding.resolution


@pytest.fixture
def reachable(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the distributions whose archive answers."""
    names: set[str] = set()

    def check(distribution: object, settings: Settings, *, timeout_s: float) -> Reachability:
        name = str(getattr(distribution, "name", ""))
        return Reachability(ok=name in names, reason=f"{name} is down")

    monkeypatch.setattr(network, "check_archive", check)
    return names


def test_ubuntu_falls_back_to_debian_then_fails(tmp_path: Path, reachable: set[str]) -> None:
    settings = Settings(state_dir=tmp_path)
    assert check_desktop_archives(settings).state is State.FAILED
    reachable.add("debian-12")
    fallen_back = check_desktop_archives(settings)
    assert fallen_back.state is State.WARN
    assert "built from debian-12" in fallen_back.cause
    reachable.add("ubuntu-22.04")
    assert check_desktop_archives(settings).state is State.OK


def test_unknown_distribution_is_a_failure(tmp_path: Path, reachable: set[str]) -> None:
    settings = Settings(state_dir=tmp_path, distribution="debian-99")
    finding = check_desktop_archives(settings)
    assert finding.state is State.FAILED
    assert "ubuntu-24.04" in finding.resolution


def test_unreachable_archive_matters_only_while_images_are_missing(
    tmp_path: Path, reachable: set[str]
) -> None:
    settings = Settings(state_dir=tmp_path)
    assert check_base_archive(settings).state is State.FAILED
    for name in NAMES:
        folder = settings.images_dir / name / "0"
        folder.mkdir(parents=True)
        (folder / "manifest.json").touch()
    assert check_base_archive(settings).state is State.WARN
    assert check_desktop_archives(settings).state is State.WARN


@pytest.mark.parametrize(
    ("now_s", "server_s", "state"),
    [
        (1_790_000_000, 1_790_000_002, State.OK),
        (1_790_000_000, None, State.OK),
        (1_790_000_000, 1_790_009_000, State.WARN),
        (1_000, 1_790_000_000, State.FAILED),
    ],
)
def test_clock_is_compared_with_a_server(
    monkeypatch: pytest.MonkeyPatch, now_s: float, server_s: float | None, state: State
) -> None:

    def ask(settings: Settings) -> float | None:
        return server_s

    monkeypatch.setattr(network, "_server_time_s", ask)
    assert check_clock(Settings(), clock=FakeClock(now_s)).state is state
