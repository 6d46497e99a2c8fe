"""The controller forwards requests for machines to the worker, over a real Unix socket."""

from __future__ import annotations

import dataclasses
import socket
import threading
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from controller.service.api.forwarding import NAME
from controller.service.api.gate import COOKIE
from controller.service.api.server import Server, listen, listen_privately
from controller.service.state.tokens import Role
from controller.service.web.app import make_app_with_pages
from foundation.clock import wait_until
from foundation.errors import RequirementError
from tests.pages.fake_machine_service import FakeMachineService
from tests.standins.firmware import IS_THERE, running_firmware
from tests.standins.viewer import HttpViewer
from tests.unit.controller.service.context import HOST, make_api_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.service.state.database import Database

EDITOR = {"suite": "smoke", "task": "desktop-editor", "ttl_s": 100}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker.sock"


@pytest.fixture
def controller(database: Database, tmp_path: Path, path: Path) -> TestClient:
    context = make_api_context(database, tmp_path)
    none = FakeMachineService(0, context.clock)
    context = dataclasses.replace(context, worker=path, machine_service=none, doctor=list)
    return TestClient(make_app_with_pages(context, {HOST}), base_url=f"http://{HOST}")


@pytest.fixture
def worker(database: Database, tmp_path: Path, path: Path) -> Iterator[None]:
    context = make_api_context(database, tmp_path)
    server, stop = (
        Server(make_app_with_pages(context, {NAME}), listen_privately(path)),
        context.stop,
    )
    thread = threading.Thread(target=server, args=(stop,))
    thread.start()
    yield
    stop.set()
    thread.join()
    context.episodes.close_all(30)


@pytest.fixture
def sign_in(controller: TestClient, database: Database, tmp_path: Path) -> Callable[[Role], None]:
    tokens = make_api_context(database, tmp_path).tokens

    def work(role: Role) -> None:
        controller.cookies.set(COOKIE, tokens.add(f"of-{role.value}", role))
        controller.headers["Origin"] = f"http://{HOST}"

    return work


@pytest.mark.slow
@pytest.mark.usefixtures("worker")
def test_worker_shows_and_controls_machines(
    controller: TestClient, sign_in: Callable[[Role], None], path: Path
) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert controller.get("/fleet", follow_redirects=False).status_code == 303
    assert controller.get("/api/v1/doctor").status_code == 401
    sign_in(Role.OPERATE)
    fleet = controller.get("/fleet")
    assert "desktop-0002" in fleet.text
    assert fleet.headers["content-security-policy"].startswith("default-src")
    done = controller.post("/fleet/desktop-0000/stop")
    assert done.url.path == "/fleet"
    assert "desktop-0000 was stopped." in done.text
    picture = controller.get("/fleet/desktop-0002/picture")
    assert picture.content.startswith(b"\x89PNG")
    assert controller.get("/fleet/none").status_code == 404
    assert controller.get("/api/v1/status").json()["lost"] == ["phone-1"]
    assert len(controller.get("/api/v1/doctor").json()["records"]) == 2


@pytest.mark.usefixtures("worker")
@pytest.mark.slow
def test_episodes_run_in_the_worker(
    controller: TestClient, sign_in: Callable[[Role], None]
) -> None:
    sign_in(Role.OPERATE)
    opened = controller.post("/api/v1/episodes", json=EDITOR)
    assert opened.status_code == 201
    episode = opened.json()["id"]
    seen = opened.json()["observation"]["screens"]["desktop"]["address"]
    assert controller.get(seen).content.startswith(b"\x89PNG")
    step = {"request_id": "1", "actions": [{"do": "wait", "with": {"seconds": 1}}]}
    assert controller.post(f"/api/v1/episodes/{episode}/step", json=step).status_code == 200
    assert controller.post(f"/api/v1/episodes/{episode}/close", json={}).status_code == 200
    wrong = controller.post("/api/v1/episodes", json={**EDITOR, "task": "none"})
    assert wrong.status_code == 422


@pytest.mark.usefixtures("worker")
@pytest.mark.slow
def test_worker_checks_the_rights_of_a_token(
    controller: TestClient, sign_in: Callable[[Role], None]
) -> None:
    sign_in(Role.READ)
    assert controller.get("/fleet").status_code == 200
    assert controller.post("/fleet/desktop-0000/stop").status_code == 403
    assert controller.post("/api/v1/episodes", json=EDITOR).status_code == 403


@pytest.mark.slow
@pytest.mark.skipif(not IS_THERE, reason="the qemu-system-x86 package is missing")
def test_live_screen_is_forwarded_and_ends_with_its_viewer(
    database: Database, tmp_path: Path, path: Path
) -> None:
    inner, outer = (make_api_context(database, tmp_path) for _ in range(2))
    machine_service = inner.machine_service
    assert isinstance(machine_service, FakeMachineService)
    outer = dataclasses.replace(
        outer, worker=path, machine_service=FakeMachineService(0, outer.clock)
    )
    listener = listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    servers = {
        Server(make_app_with_pages(inner, {NAME}), listen_privately(path)): inner.stop,
        Server(make_app_with_pages(outer, {host}), listener): outer.stop,
    }
    threads = [threading.Thread(target=part, args=(stop,)) for part, stop in servers.items()]
    token = outer.tokens.add("viewer", Role.OPERATE)
    with running_firmware(tmp_path) as firmware:
        machine_service.vnc_socket = firmware.socket
        for thread in threads:
            thread.start()
        try:
            with HttpViewer(f"http://{host}", token, "desktop-0000") as viewer:
                width, height = viewer.greet()
                assert len(viewer.screen(width, height)) == 4 * width * height
                assert viewer.press() == (204, True)
                assert "desktop-0000" in machine_service.used
            assert wait_until(lambda: "desktop-0000" not in machine_service.used, timeout_s=30)
        finally:
            for stop in servers.values():
                stop.set()
            for thread in threads:
                thread.join()


def test_other_pages_work_without_a_worker(
    controller: TestClient, sign_in: Callable[[Role], None], path: Path
) -> None:
    assert controller.get("/api/v1/status").status_code == 401
    sign_in(Role.OPERATE)
    assert controller.get("/runs").status_code == 200
    refused = controller.get("/api/v1/status")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "no_worker"
    page = controller.get("/fleet")
    assert (page.status_code, "mesocosm service start" in page.text) == (503, True)

    with listen_privately(path) as listener:

        def hang_up() -> None:
            listener.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        assert controller.get("/api/v1/status").json()["error"]["code"] == "no_worker"


def test_socket_of_a_killed_worker_is_replaced(path: Path, tmp_path: Path) -> None:
    listen_privately(path).close()
    with listen_privately(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    with pytest.raises(RequirementError, match="Cannot listen on"):
        listen_privately(tmp_path / "none" / "worker.sock")
