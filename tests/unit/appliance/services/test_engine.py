"""The docker engine: started if it does not run, stopped only if we started it, failures with their cause.

The engine here is a small program called dockerd that answers ``/_ping`` on a separate socket:
the real one must not be stopped under the tests that use it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from appliance.services import engine
from appliance.services.engine import engine_answers, stop_engine
from foundation.errors import RequirementError
from foundation.process import run
from foundation.settings import Settings
from provisioning.container_names import LABEL_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STANDIN = """#!{python}
import http.server, os, socketserver
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        containers = open({containers!r}, "rb").read() if os.path.exists({containers!r}) else b"[]"
        body = containers if "containers" in self.path else b'{{"ApiVersion": "1.41"}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_HEAD = do_GET
    def address_string(self):
        return "unix"
socketserver.UnixStreamServer({socket!r}, Handler).serve_forever()
"""
BROKEN = """#!/bin/sh
echo 'failed to create NAT chain DOCKER: iptables not found'
exit 1
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return the settings of a host whose engine does not run, and whose dockerd is the stand-in."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    monkeypatch.setattr(engine, "_SYSTEMD", tmp_path / "no-systemd")
    program = STANDIN.format(
        python=sys.executable,
        socket=f"{tmp_path}/docker.sock",
        containers=f"{tmp_path}/containers.json",
    )
    install(tmp_path, program)
    made = Settings(state_dir=tmp_path / "state")
    yield made
    pid_file = made.run_dir / "dockerd.pid"
    argv = ["start-stop-daemon", "--stop", "--oknodo", "--retry", "KILL/5", "--pidfile"]
    if pid_file.exists():
        run([*argv, str(pid_file)])


def install(folder: Path, text: str) -> None:
    path = folder / "bin" / "dockerd"
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.slow
def test_stopped_engine_is_started_and_stopped_again(settings: Settings) -> None:
    assert not engine.engine_answers()
    assert engine.ensure_engine(settings) == "started (daemon)"
    assert engine.engine_answers()
    assert engine.ensure_engine(settings) == "already running"
    assert engine.stop_engine(settings) == "stopped"
    assert not engine.engine_answers()
    assert list(settings.run_dir.glob("dockerd.pid")) == []
    assert engine.stop_engine(settings) == "was not running"


@pytest.mark.slow
def test_engine_started_by_others_is_left_running(settings: Settings) -> None:
    engine.ensure_engine(settings)
    (settings.run_dir / "dockerd.started").unlink()
    assert "not started by us" in engine.stop_engine(settings)
    assert engine.engine_answers()


@pytest.mark.slow
def test_engine_that_dies_is_reported_with_its_output(settings: Settings, tmp_path: Path) -> None:
    install(tmp_path, BROKEN)
    with pytest.raises(RequirementError) as caught:
        engine.ensure_engine(settings)
    assert "iptables not found" in caught.value.details
    assert "iptables" in caught.value.resolution
    assert not (settings.run_dir / "dockerd.started").exists()


def test_missing_engine_error_suggests_fix(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "dockerd").unlink()
    monkeypatch.setattr(engine, "find_tool", lambda _name: None)
    with pytest.raises(RequirementError, match="not installed") as caught:
        engine.ensure_engine(settings)
    assert "make up" in caught.value.resolution


@pytest.mark.slow
def test_engine_used_by_another_appliance_is_left_running(
    settings: Settings, tmp_path: Path
) -> None:
    engine.ensure_engine(settings)
    rows = [
        {"Names": ["/mesocosm-phone-1"], "Labels": {LABEL_STATE: str(settings.state_dir)}},
        {"Names": ["/mesocosm-phone-2"], "Labels": {LABEL_STATE: "/other"}},
    ]
    (tmp_path / "containers.json").write_text(json.dumps(rows))
    assert "left running for other containers: mesocosm-phone-2" in stop_engine(settings)
    assert engine_answers()
    (tmp_path / "containers.json").write_text(json.dumps(rows[:1]))
    assert stop_engine(settings) == "stopped"


@pytest.mark.slow
def test_engine_that_others_restarted_is_left_running(settings: Settings) -> None:
    """For example, the host rebooted, and the system started Docker itself."""
    engine.ensure_engine(settings)
    mark = settings.run_dir / "dockerd.started"
    how, _, identity = mark.read_text().partition(" ")
    mark.write_text(f"{how} another-boot {identity.partition(' ')[2]}")
    assert engine.stop_engine(settings) == "left running: restarted by others"
    assert engine.engine_answers()
    assert engine.stop_engine(settings) == "left running: not started by us"


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("Debian GNU/Linux 12|/var/lib/docker|x86_64|[name=seccomp]", ""),
        ("Docker Desktop|/var/lib/docker|x86_64|[]", "This is Docker Desktop"),
        ("Debian|/home/user/.local/share/docker|x86_64|[name=rootless]", "is rootless"),
    ],
)
def test_engine_of_an_unsupported_kind_is_refused(
    settings: Settings, tmp_path: Path, said: str, refused: str
) -> None:
    program = tmp_path / "bin/docker"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    if not refused:
        engine.require_supported()
        return
    with pytest.raises(RequirementError, match=refused) as caught:
        engine.require_supported()
    assert "docker context use default" in caught.value.resolution
