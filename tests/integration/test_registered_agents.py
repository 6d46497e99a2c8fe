"""Registered agents, in real containers: what they can do, and all that they cannot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import docker
import pytest

from appliance.base.clock import wait_until
from appliance.base.errors import RequirementError
from appliance.base.settings import REPOSITORY, Settings, get_settings
from appliance.cli.main import main
from controller.agents.custom.container import LABEL, own_image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker]

TINY = str(REPOSITORY / "tests/suites/tiny")
GONE_S = 20.0
PROBER = """
import glob, json, os, socket, subprocess, sys

def attempt(call):
    try:
        call()
    except BaseException as exc:
        return type(exc).__name__
    return "done"

def hog():
    blocks = [bytearray(1 << 20) for _ in range(512)]

def fork_many():
    children = []
    try:
        for _ in range(64):
            children.append(subprocess.Popen(["sleep", "30"]))
    finally:
        for child in children:
            child.kill()

with open("/proc/self/status") as status:
    caps = [line.split()[1] for line in status if line.startswith(("CapEff", "CapBnd"))]
found = {
    "network": attempt(lambda: socket.create_connection(("192.0.2.1", 80), 2)),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "write_own": attempt(lambda: open("/agent/x", "w")),
    "write_root": attempt(lambda: open("/x", "w")),
    "write_tmp": attempt(lambda: open("/tmp/x", "w").close()),
    "forks": attempt(fork_many),
    "caps": caps,
    "uid": os.getuid(),
    "socket": os.path.exists("/var/run/docker.sock"),
    "solutions": glob.glob("/opt/mesocosm/src/*"),
    "state": os.path.exists("/var/lib/mesocosm"),
    "given": os.environ.get("GREETING"),
    "keys": [name for name in os.environ if "KEY" in name],
}
child = subprocess.run([sys.executable, "-c", "x = [bytearray(1 << 20) for _ in range(512)]"])
found["hog"] = child.returncode
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "log", "found": found}), flush=True)
    elif message["type"] == "observation":
        print(json.dumps({"actions": [{"do": "complete"}]}), flush=True)
"""
STUBBORN = "import time\nwhile True:\n    time.sleep(1)\n"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return the settings of an appliance of its own that borrows the built images."""
    lender = get_settings()
    try:
        own_image(lender)
    except RequirementError as exc:
        pytest.skip(exc.brief)
    (tmp_path / "state").mkdir()
    (tmp_path / "state/images").symlink_to(lender.images_dir)
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "a-secret-of-the-service")
    get_settings.cache_clear()
    yield get_settings()
    get_settings.cache_clear()


@pytest.fixture
def try_agent(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Return a function that registers an agent, lets it try a task and returns the trial."""
    assert settings.images_dir.is_dir()

    def attempt(program: str, *options: str) -> dict[str, Any]:
        folder = tmp_path / "agent"
        folder.mkdir()
        (folder / "main.py").write_text(program)
        (folder / "agent.yaml").write_text(
            "name: tried\ncommand: [python3, main.py]\nmemory_mib: 128\npids: 32\n"
            "environment: {GREETING: hello}\n"
        )
        assert main(["agent", "add", str(folder), "--json"]) == 0
        capsys.readouterr()
        asked = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--agent", "tried"]
        assert main([*asked, *options, "--json"]) == 0, capsys.readouterr().err
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    return attempt


def containers() -> list[str]:
    client = docker.from_env()
    try:
        found = client.containers.list(all=True, filters={"label": LABEL})
        return [str(each.name) for each in found]
    finally:
        client.close()


def test_an_agent_reaches_nothing_but_its_own_files(
    try_agent: Callable[..., dict[str, Any]], settings: Settings
) -> None:
    report = try_agent(PROBER)
    assert report["trials"][0]["reason"] == "false_completion"
    log = next(settings.runs_dir.rglob("*.jsonl"))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (found,) = [event["data"]["found"] for event in events if event.get("kind") == "log"]
    assert found == {
        "network": "OSError",
        "interfaces": ["lo"],
        "write_own": "OSError",
        "write_root": "OSError",
        "write_tmp": "done",
        "forks": "BlockingIOError",
        "caps": ["0000000000000000"] * 2,
        "uid": 65534,
        "socket": False,
        "solutions": [],
        "state": False,
        "given": "hello",
        "keys": [],
        "hog": -9,
    }
    # The engine removes one that has ended by itself, a moment later.
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()


def test_an_agent_that_does_not_end_is_removed_with_its_container(
    try_agent: Callable[..., dict[str, Any]],
) -> None:
    report = try_agent(STUBBORN, "--time-limit", "5")
    assert report["trials"][0]["reason"] == "time_limit"
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()
