"""Controller and worker as separate processes, as in the containers; runs on in-memory machines."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.service_database import own_token_path
from appliance.exporter.sight import WORKER, WorkerWatch
from controller.service.worker.report import ask_worker
from foundation.clock import wait_until
from foundation.process import start_detached
from foundation.settings import Settings
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from subprocess import Popen  # noqa: TID251 - as a type

    Process = Popen[bytes]
    Start = Callable[..., Process]


def free_port() -> int:
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        return int(free_socket.getsockname()[1])


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "s"))
    monkeypatch.setenv("MESOCOSM_SERVICE_PORT", str(free_port()))
    monkeypatch.setenv("MESOCOSM_CONTROLLER_PORT", str(free_port()))
    settings = Settings()
    settings.run_dir.mkdir(parents=True)
    return settings


@pytest.fixture
def start(settings: Settings, tmp_path: Path) -> Iterator[Start]:
    assert settings.run_dir.is_dir()
    running: list[Process] = []

    def call(*args: str) -> Process:
        argv = [sys.executable, "-m", "appliance.cli.main", *args]
        running.append(start_detached(argv, log=tmp_path / "log"))
        return running[-1]

    yield call
    for process in running:
        process.terminate()
    for process in running:
        process.wait(180)


def ask(settings: Settings, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Send a request to the controller; the status is 0 if it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", settings.service_port, timeout=30)
    token = own_token_path(settings)
    headers = {"Authorization": f"Bearer {token.read_text().strip()}" if token.exists() else ""}
    if body is not None:
        headers["Content-Type"] = "application/json"
    with contextlib.closing(connection):
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1{path}", data, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except OSError:
            return 0, None


def state_of(settings: Settings, run: str) -> str:
    return str(ask(settings, "GET", f"/queue/{run}")[1]["state"])


@nightly("`make test` kills services and runs in test_killed_service.py and test_killed_run.py")
@pytest.mark.timeout(900)
def test_killed_worker_loses_no_run_and_a_stopped_one_exits_cleanly(
    settings: Settings, start: Start, tmp_path: Path
) -> None:
    controller, worker = start("serve"), start("work")
    assert wait_until(lambda: ask(settings, "GET", "/queue")[0] == 200, timeout_s=240)
    assert wait_until(lambda: ask_worker(settings) is not None, timeout_s=240)
    watch = WorkerWatch(settings)
    assert watch.latest().hosts[WORKER] == ""

    request = {"suite": "smoke", "agent": "noop", "fleet": "fake", "tasks": ["desktop-editor"]}
    status, queued = ask(settings, "POST", "/queue", {"request": request})
    assert status == 201, queued
    run = queued["run"]
    assert wait_until(lambda: state_of(settings, run) == "finished", timeout_s=240)
    opening = {"suite": "smoke", "task": "none"}
    assert ask(settings, "POST", "/episodes", opening)[1]["error"]["code"] == "wrong_value"
    second = start("work")
    assert second.wait(180) == 1, "one worker a state folder"
    assert ask_worker(settings) is not None

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert ask(settings, "GET", "/episodes")[1]["error"]["code"] == "no_worker"
    assert ask(settings, "GET", "/machines")[0] == 200
    assert all(watch.latest().hosts.values())
    again = ask(settings, "POST", "/queue", {"request": request})[1]["run"]
    worker = start("work")
    assert wait_until(lambda: state_of(settings, again) == "finished", timeout_s=240)
    assert ask(settings, "GET", "/episodes")[0] == 200
    for process in (worker, controller):
        process.terminate()
        assert process.wait(180) == 0, (tmp_path / "log").read_text()[-3000:]
    assert own_token_path(settings).stat().st_mode & 0o077 == 0
