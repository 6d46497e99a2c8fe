"""Tests of a disk that fills during a run: the fault is reported, and nothing is lost once there is space."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from controller.service.api.app import make_app
from controller.service.state.queued_run import Requester, State
from controller.service.state.tokens import Role
from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from tests.integration.test_killed_service import LONG_S, TINY, Service, request
from tests.unit.controller.service.context import HOST, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted, as root")

TRIALS = 12
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
_PAGE_BYTES = 4096


class Disk:
    """A disk of 16 MiB.

    Attributes:
        path: its mount point.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Fill the disk completely, including space that was freed in the meantime."""
        with self._filler.open("ab", buffering=0) as file:
            while True:
                try:
                    file.write(b"x" * _PAGE_BYTES)
                except OSError:
                    return

    def clear(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(tmp_path)]).require()
    try:
        yield Disk(tmp_path)
    finally:
        run(["umount", "--lazy", str(tmp_path)]).require()


@pytest.fixture
def service(disk: Disk) -> Iterator[Service]:
    service = Service(disk.path / "state")
    yield service
    service.database.close()


def trials_that_ended(service: Service, run: str) -> list[str]:
    """Return the paths of the logs of all attempts that passed."""
    folder = Store(service.settings.runs_dir).open(run)
    attempts = (attempt for trial in folder.spec.planned for attempt in folder.attempts(*trial))
    return [
        str(attempt.path)
        for attempt in attempts
        if attempt.result and attempt.result.verdict == "PASS"
    ]


@pytest.mark.timeout(600)
def test_service_reports_a_full_disk_and_continues_once_space_is_free(
    disk: Disk, service: Service
) -> None:
    # The preflight check would refuse such a small disk.
    asked = request(TRIALS).model_copy(update={"preflight": False})
    run = service.queue.add(asked, Requester("api")).run
    with service.start() as process:
        assert wait_until(lambda: service.queue.get(run).counts.passed >= 2, timeout_s=LONG_S)

        def has_ended() -> bool:
            disk.fill()
            return process.poll() is not None

        assert wait_until(has_ended, timeout_s=LONG_S, every_s=0.02)
        output = process.communicate()[0].decode()
    assert process.returncode == 1
    assert "disk is full" in output
    assert "Traceback" not in output
    assert service.queue.get(run).state is State.RUNNING  # the next worker continues it
    before = trials_that_ended(service, run)
    assert 2 <= len(before) < TRIALS

    disk.clear()
    with service.start() as process:
        assert wait_until(lambda: service.is_over(run), timeout_s=LONG_S)
        process.terminate()
        process.communicate(timeout=60)
    queued = service.queue.get(run)
    assert (queued.state, queued.counts.passed) == (State.FINISHED, TRIALS)
    after = trials_that_ended(service, run)
    assert len(after) == TRIALS
    assert set(before) <= set(after)


def test_requests_on_a_full_disk_are_rejected_and_accepted_later(
    disk: Disk, service: Service
) -> None:
    context = make_api_context(service.database, disk.path / "state")
    headers = {"Authorization": f"Bearer {context.tokens.add('x', Role.OPERATE)}"}
    client = TestClient(make_app(context, {HOST}), f"http://{HOST}", headers=headers)
    body = {"request": {"suite": "smoke", "agent": "noop", "fleet": "fake"}}
    disk.fill()
    refused = client.post("/api/v1/queue", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "state")
    assert "disk is full" in refused.json()["error"]["details"]
    assert client.get("/api/v1/queue").json()["runs"] == []
    disk.clear()
    assert client.post("/api/v1/queue", json=body).status_code == 201


@pytest.mark.timeout(600)
def test_run_in_a_terminal_reports_a_full_disk_and_is_resumed(disk: Disk) -> None:
    env = {"MESOCOSM_STATE_DIR": str(disk.path / "state")}
    options = ["--task", "write-file", "--repeats", str(TRIALS), "--fleet", "fake"]
    args = ["run", str(TINY), "--agent", "oracle", *options, "--no-preflight"]
    with start([*MESOCOSM, *args], env=env, merge=True) as process:

        def has_ended() -> bool:
            if len(list(disk.path.glob("state/runs/*/trials/*"))) > 1:
                disk.fill()
            return process.poll() is not None

        assert wait_until(has_ended, timeout_s=LONG_S, every_s=0.02)
        output = process.communicate()[0].decode()
    assert process.returncode == 1
    assert "No space left on device" in output
    assert "mesocosm results prune" in output
    assert "Traceback" not in output
    disk.clear()
    run([*MESOCOSM, "resume", "latest", "--no-preflight"], env=env, timeout_s=LONG_S).require()
    (folder,) = Store(disk.path / "state/runs").names()
    results = Store(disk.path / "state/runs").open(folder).results()
    assert [str(result.verdict) for result in results] == ["PASS"] * TRIALS
