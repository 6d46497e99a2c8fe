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
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker]

TINY = str(REPOSITORY / "tests/suites/tiny")
GONE_S = 20.0
COMMAND = "command: [python3, main.py]\n"
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
ASKER = """
import glob, json, os, socket, struct, sys, urllib.error, urllib.request

def attempt(call):
    try:
        return call()
    except urllib.error.HTTPError as exc:
        return exc.code
    except BaseException as exc:
        return type(exc).__name__

def connect(host, port):
    return lambda: socket.create_connection((host, port), 2).close()

def ask(path, **body):
    url = os.environ["MESOCOSM_MODEL_BASE_URL"] + path
    headers = {"Content-Type": "application/json", "Authorization": "Bearer mine"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    return lambda: json.load(urllib.request.urlopen(request, timeout=20))

def resolve():
    return socket.getaddrinfo("example.org", 80)

def ask_resolver():
    query = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + bytes([7]) + b"example" + bytes([3]) + b"org"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(query + struct.pack(">BHH", 0, 1, 1), ("8.8.8.8", 53))

port = int(sys.argv[1])
asked = {"model": os.environ["MESOCOSM_MODEL_NAME"], "messages": [{"role": "user", "content": "hi"}]}
found = {
    "answer": attempt(ask("/chat/completions", **asked)),
    "other_model": attempt(ask("/chat/completions", **{**asked, "model": "dearer"})),
    "other_path": attempt(ask("/files", **asked)),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "routes": open("/proc/net/route").read().splitlines()[1:],
    "endpoint": attempt(connect("127.0.0.1", port)),
    "gateway": attempt(connect("172.17.0.1", port)),
    "ssh": attempt(connect("172.17.0.1", 22)),
    "metadata": attempt(connect("169.254.169.254", 80)),
    "internet": attempt(connect("192.0.2.1", 443)),
    "ipv6": attempt(connect("2001:db8::1", 443)),
    "name": attempt(resolve),
    "resolver": attempt(ask_resolver),
    "openai": [os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]],
    "secrets": [name for name, value in os.environ.items() if "secret" in value],
    "sockets": glob.glob("/run/*.sock") + glob.glob("/var/run/*.sock"),
}
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

    def attempt(program: str, *options: str, definition: str = COMMAND) -> dict[str, Any]:
        folder = tmp_path / "agent"
        folder.mkdir()
        (folder / "main.py").write_text(program)
        (folder / "agent.yaml").write_text(
            f"name: tried\nmemory_mib: 128\npids: 32\nenvironment: {{GREETING: hello}}\n{definition}"
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


def found_by_agent(settings: Settings) -> dict[str, Any]:
    log = next(settings.runs_dir.rglob("*.jsonl"))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (found,) = [event["data"]["found"] for event in events if event.get("kind") == "log"]
    return dict(found)


def test_an_agent_reaches_nothing_but_its_own_files(
    try_agent: Callable[..., dict[str, Any]], settings: Settings
) -> None:
    report = try_agent(PROBER)
    assert report["trials"][0]["reason"] == "false_completion"
    assert found_by_agent(settings) == {
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


def test_an_agent_with_a_model_reaches_that_and_nothing_else(
    try_agent: Callable[..., dict[str, Any]], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = completion(("session__complete", "{}"))
    with stand_in((200, reply)) as server:
        port = server.base_url.rpartition(":")[2].partition("/")[0]
        monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", server.base_url)
        monkeypatch.setenv("MESOCOSM_MODEL_NAME", "m")
        report = try_agent(
            ASKER, definition=f"command: [python3, main.py, '{port}']\nmodel: true\n"
        )
        assert report["trials"][0]["reason"] == "false_completion"
        assert report["model"] == "m"
        assert found_by_agent(settings) == {
            "answer": reply,
            "other_model": 403,
            "other_path": 404,
            "interfaces": ["lo"],
            "routes": [],
            "endpoint": "ConnectionRefusedError",
            "gateway": "OSError",
            "ssh": "OSError",
            "metadata": "OSError",
            "internet": "OSError",
            "ipv6": "OSError",
            "name": "gaierror",
            "resolver": "OSError",
            "openai": ["http://127.0.0.1:8099/v1", "none"],
            "secrets": [],
            "sockets": [],
        }
        # The preflight's question, then the agent's.
        assert server.keys == ["Bearer a-secret-of-the-service"] * 2
    (spec,) = settings.runs_dir.rglob("run.json")
    agent = json.loads(spec.read_text())["agent"]
    assert (agent["model"], agent["endpoint"]) == ("m", server.base_url)
    written = [path.read_text(errors="replace") for path in settings.runs_dir.rglob("*.json*")]
    assert not any("a-secret-of-the-service" in text for text in written)
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()
    assert list(settings.agent_sockets_dir.iterdir()) == []


def test_an_agent_that_does_not_end_is_removed_with_its_container(
    try_agent: Callable[..., dict[str, Any]],
) -> None:
    report = try_agent(STUBBORN, "--time-limit", "5")
    assert report["trials"][0]["reason"] == "time_limit"
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()
