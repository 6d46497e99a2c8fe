"""The shell part of bring-up, run by the shell."""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from foundation.process import CommandResult, find_tool, run

SETUP = Path(__file__).resolve().parents[4] / "appliance" / "bringup"
HAS_DPKG = pytest.mark.skipif(not find_tool("dpkg-query"), reason="not a Debian or Ubuntu")


def host(folder: Path, packages: str, *args: str, path: str | None = None) -> CommandResult:
    shutil.copy(SETUP / "host.sh", folder)
    (folder / "packages.txt").write_text(packages)
    env = {"PATH": path} if path else None
    return run(["/bin/sh", str(folder / "host.sh"), *args], timeout_s=60, env=env)


@HAS_DPKG
def test_no_output_if_no_package_is_missing(tmp_path: Path) -> None:
    result = host(tmp_path, "run dpkg why\nrun no-such-package-1|dpkg why\ntest? no-such-2 why\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"", b"")


@HAS_DPKG
def test_missing_packages_are_listed_by_stage(tmp_path: Path) -> None:
    packages = "# words\nrun no-such-1|no-such-2 why\n\ntest no-such-3 why\nrun dpkg why\n"
    assert host(tmp_path, packages, "--list").text == "no-such-1|no-such-2"
    assert host(tmp_path, packages, "--list", "--test").text == "no-such-1|no-such-2\nno-such-3"


def test_host_without_apt_is_shown_the_packages_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("dirname", "sed", "cat"):
        (tools / name).symlink_to(str(find_tool(name)))
    result = host(tmp_path, "run docker.io why\n", path=str(tools))
    assert result.exit_code == 3
    assert b"no apt" in result.stderr
    assert b"packages.txt" in result.stderr


def test_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    assert host(tmp_path, "", "--frobnicate").exit_code == 2


def test_every_package_has_a_stage_and_a_reason() -> None:
    rows = [
        line
        for line in (SETUP / "packages.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert len(rows) > 10
    for row in rows:
        assert re.fullmatch(r"(run|test\??) +[a-z0-9.+|-]+ +\S.{10,}", row), row


def rights(state_dir: Path, socket_path: Path) -> CommandResult:
    """Run rights.sh as a user who is not root."""
    text = (SETUP / "rights.sh").read_text()
    ids = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    lower = ["setpriv", *ids] if os.geteuid() == 0 else []
    env = {"MESOCOSM_STATE_DIR": str(state_dir), "DOCKER_HOST": f"unix://{socket_path}"}
    return run([*lower, "/bin/sh", "-c", text], timeout_s=30, env=env)


def test_missing_rights_are_reported_at_once() -> None:
    with tempfile.TemporaryDirectory(prefix="mesocosm-rights-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        locked, path = folder / "locked", folder / "docker.sock"
        locked.mkdir(0o555)
        result = rights(locked / "state", path)
        assert result.exit_code == 3
        assert f"may not write {locked}/state" in result.stderr.decode()
        result = rights(folder / "state", path)
        assert result.exit_code == 3
        assert "is not running, and this user may not start it" in result.stderr.decode()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            path.chmod(0)
            result = rights(folder / "state", path)
            assert result.exit_code == 3
            assert "may not use the Docker engine" in result.stderr.decode()
            path.chmod(0o666)
            assert rights(folder / "state", path).exit_code == 0
