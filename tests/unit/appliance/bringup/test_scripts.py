"""The shell part of bring-up, run by the shell."""

from __future__ import annotations

import re
import shutil
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
@pytest.mark.slow
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
        assert re.fullmatch(r"(run\??|test\??|old-python) +[a-z0-9.+|-]+ +\S.{10,}", row), row


ENGINE = "Debian GNU/Linux 12|/var/lib/docker|x86_64|[name=seccomp,profile=builtin name=cgroupns]"
"""What the engine of a supported host says of itself."""
SUPPORTED = {
    "uname": "case $1 in -s) echo Linux ;; -m) echo x86_64 ;; -r) echo 6.1.0-18-amd64 ;; esac",
    "id": "echo 0",
    "python3": "exit 0",
    "docker": f"echo '{ENGINE}'",
    "dockerd": "exit 0",
    "apt-cache": "echo '  Candidate: 3.10.6-1~22.04'",
}
"""What the programs that the script asks do on a supported host."""


def supported(folder: Path, *args: str, **programs: str) -> CommandResult:
    """Run supported.sh where programs are scripts; an empty one is not installed."""
    folder.mkdir(exist_ok=True)
    for name, text in {**SUPPORTED, **programs}.items():
        if text:
            path = folder / name.replace("_", "-")
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
    argv = ["/bin/sh", str(SETUP / "supported.sh"), *args]
    return run(argv, timeout_s=30, env={"PATH": str(folder)})


def uname(system: str = "Linux", machine: str = "x86_64", release: str = "6.1.0") -> str:
    return f"case $1 in -s) echo {system} ;; -m) echo {machine} ;; -r) echo {release} ;; esac"


def docker(system: str = "Debian", folder: str = "/var/lib/docker", options: str = "") -> str:
    return f"echo '{system}|{folder}|x86_64|[name=seccomp {options}]'"


WSL = uname(release="5.15.167.4-microsoft-standard-WSL2")
UNSUPPORTED = {
    "macos": ({"uname": uname("Darwin", "arm64")}, "This is Darwin", "Debian 12 or Ubuntu 24.04"),
    "arm": ({"uname": uname(machine="aarch64")}, "processor is aarch64", "x86-64 host"),
    "user": ({"id": "echo 1000"}, "You are not root", "sudo make up"),
    "wsl": ({"uname": WSL, "dockerd": ""}, "This is WSL", "apt-get install docker.io"),
    "selinux": ({"getenforce": "echo Enforcing"}, "SELinux is enforcing", "setenforce 0"),
    "python": ({"python3": "exit 1"}, "Python 3.11 or later", "python3.11"),
    "desktop": ({"docker": docker("Docker Desktop")}, "This is Docker Desktop", "docker.io"),
    "snap": ({"docker": docker(folder="/var/snap/docker/common")}, "is a snap", "snap remove"),
    "rootless": ({"docker": docker(options="name=rootless")}, "is rootless", "unset DOCKER_HOST"),
    "userns": ({"docker": docker(options="name=userns")}, "remaps users", "daemon.json"),
    "engine-selinux": ({"docker": docker(options="name=selinux")}, "has SELinux", "daemon.json"),
    "engine-arm": ({"docker": "echo 'Debian|/d|aarch64|[]'"}, "runs on aarch64", "x86-64 engine"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_hosts_are_refused_with_cause_and_cure(tmp_path: Path, name: str) -> None:
    programs, cause, cure = UNSUPPORTED[name]
    refused = supported(tmp_path / "bin", **programs)
    assert refused.exit_code == 3
    first, *rest = refused.stderr.decode().splitlines()
    assert first.startswith("error: ")
    assert cause in first
    assert cure in " ".join(rest)
    assert all(line.startswith("→ ") for line in rest)
    assert refused.stdout == b""


@pytest.mark.parametrize(
    "programs",
    [
        {},
        {"docker": "", "dockerd": ""},
        {"docker": "echo 'Cannot connect to the Docker daemon' >&2; exit 1"},
        {"uname": WSL},
        {"getenforce": "echo Permissive"},
        {"python3": "exit 1", "apt_cache": "echo '  Candidate: 3.11.0~rc1-1~22.04'"},
        {"python3": "exit 1", "python3.11": "exit 0"},
    ],
    ids=["usual", "no engine yet", "stopped engine", "WSL", "permissive", "archive", "beside"],
)
def test_supported_hosts_are_accepted(tmp_path: Path, programs: dict[str, str]) -> None:
    accepted = supported(tmp_path / "bin", **programs)
    assert (accepted.exit_code, accepted.stderr) == (0, b"")


def test_only_the_engine_is_asked_on_request(tmp_path: Path) -> None:
    odd = {"id": "echo 1000", "uname": uname("Darwin")}
    assert supported(tmp_path / "a", "--engine", **odd).exit_code == 0
    snap = docker(folder="/var/snap/docker/common")
    assert supported(tmp_path / "b", "--engine", **odd, docker=snap).exit_code == 3


def test_up_refuses_before_anything_is_installed(tmp_path: Path) -> None:
    """Make does not come to the next line of the target."""
    shown = (
        run(["make", "--no-print-directory", "-n", "up"], cwd=SETUP.parents[1])
        .require()
        .text.splitlines()
    )
    assert [line.split("/")[-1].split()[0] for line in shown[:3]] == [
        "supported.sh",
        "host.sh",
        "venv.sh",
    ]


APT = """case $1 in
depends) echo {depends} ;;
policy) case $2 in
{candidates}
esac ;; esac"""


def listed(
    folder: Path,
    packages: str,
    *,
    installed: str,
    candidates: str,
    python: str = "exit 0",
    depends: str = "",
    docker: bool = False,
) -> str:
    """Run host.sh --list on a host with other packages and another Python."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("dirname", "sed", "cat", "cut", "tr", "grep"):
        (tools / name).symlink_to(str(find_tool(name)))
    programs = {
        "dpkg-query": f"case $4 in\n{installed}\nesac",
        "apt-get": "exit 1",
        "apt-cache": APT.format(candidates=candidates, depends=depends),
        "python3": python,
        **({"docker": "exit 0"} if docker else {}),
    }
    for name, text in programs.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    return host(folder, packages, "--list", path=str(tools)).text


COMPOSE = "run docker-compose-v2|docker-compose-plugin|docker-compose why\n"


@pytest.mark.parametrize(
    ("engine", "compose", "missing"),
    [
        ("20.10.24+dfsg1-1", "1.29.2-3", ""),
        ("5:28.5.1-1~debian.12", "1.29.2-3", ""),
        ("5:29.0.2-1~debian.12", "1.29.2-3", COMPOSE.split()[1]),
        ("5:29.0.2-1~debian.13", "2.26.1-4", ""),
    ],
)
def test_compose_1_is_enough_for_older_engines_only(
    tmp_path: Path, engine: str, compose: str, missing: str
) -> None:
    installed = (
        f"docker-ce) echo 'installed {engine}' ;;\ndocker-compose) echo 'installed {compose}' ;;"
    )
    found = listed(tmp_path, COMPOSE, installed=installed, candidates="")
    assert found == missing


@pytest.mark.parametrize(
    ("recommended", "candidate", "docker", "missing"),
    [
        ("docker-cli", "26.1.5+dfsg1-9", False, "docker-cli"),
        ("docker-cli", "26.1.5+dfsg1-9", True, ""),
        ("needrestart", "26.1.5+dfsg1-9", False, ""),
        ("docker-cli", "(none)", False, ""),
    ],
    ids=["Debian 13", "docker-ce", "client in docker.io", "no archive"],
)
def test_docker_client_is_installed_where_the_engine_comes_without(
    tmp_path: Path, recommended: str, candidate: str, missing: str, *, docker: bool
) -> None:
    candidates = f"docker-cli) echo '  Candidate: {candidate}' ;;"
    found = listed(
        tmp_path,
        "run? docker-cli why\n",
        installed="",
        candidates=candidates,
        depends=recommended,
        docker=docker,
    )
    assert found == missing


@pytest.mark.parametrize(
    ("python", "candidate", "missing"),
    [("exit 0", "3.10.6-1", ""), ("exit 1", "3.11.2-1", ""), ("exit 1", "3.10.6-1", "python3.11")],
)
def test_another_python_is_installed_where_the_usual_one_is_too_old(
    tmp_path: Path, python: str, candidate: str, missing: str
) -> None:
    row = "old-python python3.11 why\n"
    candidates = f"python3) echo '  Candidate: {candidate}' ;;"
    found = listed(tmp_path, row, installed="", candidates=candidates, python=python)
    assert found == missing
