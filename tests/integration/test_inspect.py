"""Inspect against a service of its own, in an environment that has only the client and Inspect."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from appliance.bringup.machines import remove_machines
from foundation.clock import wait_until
from foundation.process import run
from foundation.settings import REPOSITORY, Settings
from tests.standins.container import desktop_container_settings
from tests.standins.reach import free_port
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.docker,
    nightly("installs Inspect into an environment of its own, and moves 200 MiB into a container"),
]

CHECKS = REPOSITORY / "tests/inspect_checks"
TOOLS = ("pytest", "pytest-asyncio", "pytest-timeout", "mypy")
OUTCOMES = {
    # The gap that docs/inspect.md names depends on the distribution's adduser.
    "self_check.py": r"\b(44 passed|43 passed, 1 xfailed)\b",
    "on_fakes.py": r"\b12 passed\b",
    "on_machines.py": r"\b3 passed\b",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the Python of an environment with the client's wheel and Inspect."""
    folder = tmp_path_factory.mktemp("environment")
    shutil.copytree(REPOSITORY / "client", folder / "client")  # the link's target, too
    run([sys.executable, "-m", "venv", str(folder / "venv")], timeout_s=120).require()
    python = str(folder / "venv/bin/python")
    wanted = f"{folder / 'client'}[inspect]"
    argv = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wanted, *TOOLS]
    run(argv, timeout_s=1200).require()
    return python


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run a service with desktop containers; return the environment of its clients."""
    source, state = desktop_container_settings(), tmp_path_factory.mktemp("state")
    for name, folder in (("images", source.images_dir), ("keys", source.keys_dir)):
        (state / name).symlink_to(folder)
    port = free_port()
    environment = {
        "MESOCOSM_STATE_DIR": str(state),
        "MESOCOSM_DESKTOP": "container",
        "MESOCOSM_DESKTOP_MEMORY_MIB": "1536",
        "MESOCOSM_SERVICE_PORT": str(port),
    }
    command = [sys.executable, "-m", "appliance.cli.main"]
    for suite in ("examples/suites/bare", "tests/suites/tiny"):
        argv = [*command, "suite", "add", str(REPOSITORY / suite)]
        run(argv, env=environment, cwd=REPOSITORY, timeout_s=120).require()
    process = subprocess.Popen(  # noqa: TID251 - runs until the end of the tests
        [*command, "service", "run", "--runs", "1"],
        env={**os.environ, **environment},
        cwd=REPOSITORY,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        assert wait_until(lambda: answers(url), timeout_s=120)
        token = (state / "service/token").read_text().strip()
        yield {"MESOCOSM_SERVER": url, "MESOCOSM_TOKEN": token, "PYTHONPATH": ""}
    finally:
        process.terminate()
        process.wait(120)
        remove_machines(Settings(state_dir=state, desktop="container"))


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):  # noqa: S310 - http
            return True
    except OSError:
        return False


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("checks", OUTCOMES)
def test_checks_pass(checks: str, python: str, service: dict[str, str]) -> None:
    options = ["-q", "-p", "no:cacheprovider", "--noconftest", "-c", str(CHECKS / "pytest.ini")]
    argv = [python, "-m", "pytest", *options, "--rootdir", str(CHECKS), str(CHECKS / checks)]
    ended = run(argv, env=service, cwd=CHECKS, timeout_s=2000)
    output = ended.stdout.decode()
    assert ended.exit_code == 0, output[-8000:]
    assert re.search(OUTCOMES[checks], output), output[-2000:]


def test_types_are_those_of_inspect(python: str, tmp_path: Path) -> None:
    argv = [
        python,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports",
        "silent",
        "-p",
        "mesocosm.inspect",
    ]
    options = ["--cache-dir", str(tmp_path)]
    ended = run([*argv, *options], env={"PYTHONPATH": ""}, cwd=tmp_path, timeout_s=600)
    assert ended.exit_code == 0, ended.stdout.decode()
