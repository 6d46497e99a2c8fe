"""Tests of controller and worker in the containers of `mesocosm up`: real machines, no socket in the controller."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from appliance.cli.service_database import own_token_path
from appliance.services.compose import Compose
from controller.service.worker.report import ask_worker
from foundation.clock import wait_until
from foundation.process import run
from foundation.settings import REPOSITORY, get_settings
from provisioning.machine_folder import iter_folders
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings

pytestmark = [pytest.mark.docker, pytest.mark.vm, NEEDS_APPLIANCE]

LONG_S = 180.0
_MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
_SMOKE = {"suite": "smoke", "agent": "noop", "tasks": ["desktop-editor"], "fleet": "fake"}
TICK_OFF = {"suite": "smoke", "task": "phone-tick-off"}


@pytest.fixture
def settings() -> Settings:
    return get_settings()


def ask(settings: Settings, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Send a request to the controller with the token of this host."""
    connection = http.client.HTTPConnection("127.0.0.1", settings.service_port, timeout=LONG_S)
    token = own_token_path(settings).read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def container_of(settings: Settings, service: str) -> str:
    (compose_service,) = [
        listed for listed in Compose(settings).services() if listed.name == service
    ]
    return compose_service.container


def inspect(container: str, asked: str) -> str:
    return run(["docker", "inspect", "--format", asked, container]).require().text


def test_only_the_worker_has_the_socket_and_no_key_can_be_inspected(settings: Settings) -> None:
    mounts = "{{range .Mounts}}{{.Destination}} {{end}}"
    assert "docker.sock" in inspect(container_of(settings, "worker"), mounts)
    controller = container_of(settings, "controller")
    assert inspect(controller, mounts).split() == [str(settings.state_dir)]
    names = run(["docker", "exec", controller, "ls", "/var/run/docker.sock"])
    assert names.exit_code != 0
    for service in ("controller", "worker"):
        environment = inspect(container_of(settings, service), "{{.Config.Env}}")
        assert "KEY" not in environment
    report = ask_worker(settings)
    assert report is not None
    assert report.place == "container"
    assert not any(report.hosts.values())


def test_worker_knows_recipes_commit_and_findings_of_the_host(settings: Settings) -> None:
    status = ask(settings, "GET", "/api/v1/status")[1]
    assert status["up"] is True
    here = json.loads(
        run([*_MESOCOSM, "status", "--json"], timeout_s=LONG_S, cwd=REPOSITORY).require().stdout
    )
    assert status["images_not_current"] == here["images_not_current"]
    assert status["accelerator"] == here["accelerator"]
    rows = {row["name"]: row for row in ask(settings, "GET", "/api/v1/doctor")[1]["records"]}
    assert "(found on the host, " in rows["mmdebstrap"]["cause"]
    assert rows["services"]["state"] == "ok"


def test_queued_run_uses_a_host_machine_and_survives_kill_9(settings: Settings) -> None:
    request = {"suite": "smoke", "agent": "oracle", "tasks": ["phone-tick-off"], "repeats": 2}
    queued = ask(settings, "POST", "/api/v1/queue", {"request": request})[1]
    path = f"/api/v1/queue/{queued['run']}"
    assert wait_until(lambda: ask(settings, "GET", path)[1]["state"] == "running", timeout_s=LONG_S)
    worker = container_of(settings, "worker")
    os.kill(int(inspect(worker, "{{.State.Pid}}")), signal.SIGKILL)
    assert wait_until(
        lambda: ask(settings, "GET", path)[1]["state"] == "finished", timeout_s=2 * LONG_S
    )
    ended = ask(settings, "GET", path)[1]
    assert ended["passed"] == 2, ended
    spec = ask(settings, "GET", f"/api/v1/runs/{queued['run']}")[1]["spec"]
    assert spec["images"]["phone"]
    assert container_of(settings, "worker") == worker
    assert wait_until(lambda: ask_worker(settings) is not None, timeout_s=LONG_S)


def test_worker_rewinds_a_desktop_without_loading_its_ram(settings: Settings) -> None:
    """The worker may write to the memory of QEMU, which runs in another container."""
    chosen = f"desktop:{settings.distribution}"
    records = [folder.read() for folder in iter_folders(settings)]
    desktop = next(
        record.machine_id
        for record in records
        if record and record.image == chosen and not record.is_fork
    )
    rewind = ["mesocosm", "machine", "rewind", desktop, "--json"]
    worker = container_of(settings, "worker")
    reply = run(["docker", "exec", worker, *rewind], timeout_s=LONG_S).require()
    assert "memory" in json.loads(reply.stdout)["phases_s"]


def test_episode_is_driven_through_the_controller(settings: Settings) -> None:
    status, opened = ask(settings, "POST", "/api/v1/episodes", TICK_OFF)
    assert status == 201, opened
    episode = f"/api/v1/episodes/{opened['id']}"
    assert opened["observation"]["screens"]["phone"]["width"] > 0
    standing = ask(settings, "POST", f"{episode}/evaluate", {})[1]
    assert (standing["verdict"], standing["nodes_met"]) == ("FAIL", 0)
    closed = ask(settings, "POST", f"{episode}/close", {})[1]
    assert closed["outcome"]["fault"] == "cancelled"


def test_copy_is_restored_into_the_containers(settings: Settings, tmp_path: Path) -> None:
    """Later changes are discarded, schedules and tokens of the copy are restored, and runs are executed."""
    schedule = {
        "trigger": {"kind": "cron", "line": "0 2 1 1 *"},
        "request": {**_SMOKE, "repeats": 1},
    }
    names = ("restored-kept", "restored-late")
    present = tmp_path / "present.sqlite"
    assert ask(settings, "POST", "/api/v1/schedules", {"name": names[0], **schedule})[0] == 201
    copy = tmp_path / "copy.sqlite"
    assert main(["service", "backup", str(copy)]) == 0  # while the containers run
    assert ask(settings, "POST", "/api/v1/schedules", {"name": names[1], **schedule})[0] == 201
    assert main(["service", "restore", str(copy)]) != 0  # refused while the containers run
    try:
        with stopped_containers(settings):
            assert main(["service", "backup", str(present)]) == 0
            assert main(["service", "restore", str(copy)]) == 0
        rows = ask(settings, "GET", "/api/v1/schedules")[1]["schedules"]
        assert {row["schedule"]["name"] for row in rows} & set(names) == {names[0]}
        queued = ask(settings, "POST", "/api/v1/queue", {"request": _SMOKE})[1]
        path = f"/api/v1/queue/{queued['run']}"
        assert wait_until(
            lambda: ask(settings, "GET", path)[1]["state"] == "finished", timeout_s=LONG_S
        )
    finally:
        if present.exists():
            with stopped_containers(settings):
                assert main(["service", "restore", str(present)]) == 0
        for name in names:
            main(["schedule", "remove", name])


@contextlib.contextmanager
def stopped_containers(settings: Settings) -> Iterator[None]:
    """Stop controller and worker during a block, and wait until both respond after it."""
    containers = [container_of(settings, name) for name in ("controller", "worker")]
    run(["docker", "stop", *containers], timeout_s=LONG_S).require()
    try:
        yield
    finally:
        run(["docker", "start", *containers], timeout_s=LONG_S).require()
        assert wait_until(lambda: ask_worker(settings) is not None, timeout_s=LONG_S)
        assert wait_until(lambda: is_answering(settings), timeout_s=LONG_S)


def is_answering(settings: Settings) -> bool:
    try:
        return ask(settings, "GET", "/api/v1/queue")[0] == 200
    except OSError:
        return False


def test_host_folder_is_rejected_and_a_stopped_worker_restarted(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = str(REPOSITORY / "tests/suites/tiny")
    assert main(["queue", "add", suite, "--agent", "oracle", "--fleet", "fake"]) == 2
    assert "container cannot see" in capsys.readouterr().err
    assert main(["service", "stop"]) == 0
    try:
        assert ask_worker(settings) is None
        assert ask(settings, "GET", "/api/v1/queue")[0] == 200
        assert (
            ask(settings, "POST", "/api/v1/episodes", TICK_OFF)[1]["error"]["code"] == "no_worker"
        )
    finally:
        assert main(["service", "start"]) == 0
    assert ask_worker(settings) is not None
