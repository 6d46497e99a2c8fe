"""Tests of the permissions and restrictions of registered agents in real containers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import docker
import pytest

from appliance.bringup.upkeep import Upkeep
from appliance.cli.main import main
from appliance.cli.service_database import open_database
from appliance.services.compose import SERVICES, Compose
from controller.agents.custom.container import LABEL, own_image
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import State
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import RequirementError
from foundation.process import run
from foundation.settings import REPOSITORY, Settings, get_settings
from tests.standins.agents import ASKER, PROBER, STUBBORN
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.controller.stand_in import StandIn

pytestmark = [pytest.mark.docker]

TINY = str(REPOSITORY / "tests/suites/tiny")
GONE_S = 20.0
LONG_S = 180.0
COMMAND = "command: [python3, main.py]\n"
REPLY = completion(("session__complete", "{}"))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return the settings of a separate appliance that reuses the built images."""
    source_settings = get_settings()
    try:
        own_image(source_settings)
    except RequirementError as exc:
        pytest.skip(exc.brief)
    shutil.copytree(source_settings.images_dir / "controller", tmp_path / "state/images/controller")
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "a-secret-of-the-service")
    get_settings.cache_clear()
    yield get_settings()
    get_settings.cache_clear()


@pytest.fixture
def try_agent(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Return a function that registers an agent, runs it on a task and returns the report."""
    assert settings.images_dir.is_dir()

    def attempt(program: str, *options: str, definition: str = COMMAND) -> dict[str, Any]:
        register(tmp_path, program, definition)
        capsys.readouterr()
        asked = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--agent", "tried"]
        assert main([*asked, *options, "--json"]) == 0, capsys.readouterr().err
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    return attempt


def register(parent: Path, program: str, definition: str) -> None:
    """Register a program as the agent `tried`."""
    folder = parent / "agent"
    folder.mkdir()
    (folder / "main.py").write_text(program)
    (folder / "agent.yaml").write_text(
        f"name: tried\nmemory_mib: 128\npids: 32\nenvironment: {{GREETING: hello}}\n{definition}"
    )
    assert main(["agent", "add", str(folder), "--json"]) == 0


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Serve the operator's model on loopback."""
    with stand_in((200, REPLY)) as server:
        monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", server.base_url)
        monkeypatch.setenv("MESOCOSM_MODEL_NAME", "m")
        yield server


def asker(model: StandIn) -> str:
    """Return the definition of an agent that tests its connections, including the model's port."""
    port = model.base_url.rpartition(":")[2].partition("/")[0]
    return f"command: [python3, main.py, '{port}']\nmodel: true\n"


def containers() -> list[str]:
    client = docker.from_env()
    try:
        labelled_containers = client.containers.list(
            all=True, ignore_removed=True, filters={"label": LABEL}
        )
        return [str(container.name) for container in labelled_containers]
    finally:
        client.close()


def found_by_agent(settings: Settings) -> dict[str, Any]:
    log = next(settings.runs_dir.rglob("*.jsonl"))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (findings,) = [event["data"]["found"] for event in events if event.get("kind") == "log"]
    return dict(findings)


def test_agent_reaches_only_its_own_files(
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
    # The engine removes a container that exits by itself after a delay.
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()


def require_only_the_model_was_reached(settings: Settings, model: StandIn) -> None:
    """Verify the agent's findings, and that it left nothing behind."""
    assert found_by_agent(settings) == {
        "answer": REPLY,
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
    # The request of the preflight check, then the agent's.
    assert model.keys == ["Bearer a-secret-of-the-service"] * 2
    (spec,) = settings.runs_dir.rglob("run.json")
    agent = json.loads(spec.read_text())["agents"][0]["agent"]
    assert (agent["model"], agent["endpoint"]) == ("m", model.base_url)
    written = [path.read_text(errors="replace") for path in settings.runs_dir.rglob("*.json*")]
    assert not any("a-secret-of-the-service" in text for text in written)
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()
    assert list(settings.agent_sockets_dir.iterdir()) == []


def test_agent_with_a_model_reaches_only_that(
    try_agent: Callable[..., dict[str, Any]], settings: Settings, model: StandIn
) -> None:
    report = try_agent(ASKER, definition=asker(model))
    assert report["trials"][0]["reason"] == "false_completion"
    assert report["model"] == "m"
    usage = report["trials"][0]["usage"]  # the agent reports none: it is read from the reply
    assert (usage["prompt"], usage["completion"], usage["is_known"]) == (100, 10, True)
    require_only_the_model_was_reached(settings, model)


@pytest.fixture
def worker(settings: Settings, model: StandIn) -> Iterator[Compose]:
    """Start the worker's container of a separate appliance with docker-compose.yml."""
    assert model.base_url  # is passed to the container
    compose = Compose(settings)
    # The other services are not started, but compose requires names for their images.
    compose.write_env(dict.fromkeys(SERVICES, own_image(settings)))
    try:
        run(compose.argv("up", "-d", "--no-deps", "worker"), timeout_s=120).require()
        yield compose
    finally:
        compose.remove(volumes=True)


def test_worker_container_runs_an_agent_with_a_model(
    settings: Settings,
    model: StandIn,
    worker: Compose,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    register(tmp_path, ASKER, asker(model))
    assert main(["suite", "add", TINY]) == 0
    capsys.readouterr()
    asked = ["queue", "add", "tiny", "--fleet", "fake", "--task", "write-file", "--agent", "tried"]
    assert main([*asked, "--json"]) == 0, capsys.readouterr().err
    name = json.loads(capsys.readouterr().out)["run"]
    with contextlib.closing(open_database()) as database:
        queue = RunQueue(database, SYSTEM_CLOCK)
        assert wait_until(lambda: queue.get(name).state.is_over, timeout_s=LONG_S), worker.tail(
            "worker"
        )
        ended = queue.get(name)
    assert (ended.state, ended.counts.failed) == (State.FINISHED, 1), ended
    require_only_the_model_was_reached(settings, model)


def test_endless_agent_is_removed_with_its_container(
    try_agent: Callable[..., dict[str, Any]],
) -> None:
    report = try_agent(STUBBORN, "--time-limit", "5")
    assert report["trials"][0]["reason"] == "time_limit"
    assert wait_until(lambda: not containers(), timeout_s=GONE_S), containers()


def test_containers_of_a_killed_process_are_removed_and_live_ones_kept(settings: Settings) -> None:
    gone = run([sys.executable, "-c", "import os; print(os.getpid())"]).require().text.strip()
    image, names = own_image(settings), []
    try:
        for owner in (gone, os.getpid()):
            argv = ["docker", "run", "--detach", "--rm", f"--label={LABEL}={owner}"]
            argv += ["--network=none", "--entrypoint=python3", image, "-c", STUBBORN]
            names.append(run(argv).require().text.strip())
        Upkeep(settings).work()
        left = run(["docker", "ps", "--quiet", "--no-trunc", f"--filter=label={LABEL}"]).require()
        assert set(names) & set(left.text.split()) == {names[1]}
    finally:
        run(["docker", "rm", "--force", *names])
