from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.doctor import programs
from appliance.doctor.check import State
from appliance.doctor.programs import (
    check_build_tools,
    check_compose,
    check_docker,
    check_libvirt,
    check_python,
    check_qemu,
    tool_check,
)
from foundation.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bin_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder that is the whole search path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(
        "foundation.process.find_tool",
        lambda name: str(folder / name) if (folder / name).exists() else None,
    )
    monkeypatch.setattr(
        programs, "find_tool", lambda name: str(folder / name) if (folder / name).exists() else None
    )
    return folder


def _install(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_tool_is_ok_missing_or_broken(bin_dir: Path) -> None:
    ask = tool_check("adb", "adb", "version")
    missing = ask(Settings())
    assert missing.state is State.MISSING
    assert "apt-get install adb" in missing.resolution
    _install(bin_dir, "adb", "echo 'adb 1.0.41'; echo more")
    assert ask(Settings()).cause == "adb 1.0.41"
    _install(bin_dir, "adb", "echo 'lib missing' >&2; exit 127")
    broken = ask(Settings())
    assert broken.state is State.FAILED
    assert "lib missing" in broken.cause


def test_missing_build_tools_are_listed_with_their_packages(bin_dir: Path) -> None:
    for name in ("dpkg-deb", "gpg"):
        _install(bin_dir, name, "")
    finding = check_build_tools(Settings())
    assert finding.state is State.MISSING
    assert "mkfs.ext4" in finding.cause
    assert "e2fsprogs" in finding.resolution


def test_uninstalled_docker_is_missing(bin_dir: Path) -> None:
    assert check_docker(Settings()).state is State.MISSING


def test_stopped_docker_error_suggests_how_to_start_it(
    bin_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(bin_dir, "docker", "")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{bin_dir}/none.sock")
    finding = check_docker(Settings())
    assert finding.state is State.FAILED
    assert "dockerd" in finding.resolution


@pytest.mark.parametrize(
    ("version", "state"),
    [("1.29.2", State.OK), ("v2.24.5", State.OK), ("1.25.0", State.FAILED)],
)
def test_compose_version_is_checked(
    bin_dir: Path, monkeypatch: pytest.MonkeyPatch, version: str, state: State
) -> None:
    _install(bin_dir, "docker-compose", f"echo {version}")
    monkeypatch.setattr(programs, "find_compose", lambda: [str(bin_dir / "docker-compose")])
    assert check_compose(Settings()).state is state


@pytest.mark.libvirt
def test_stopped_hypervisor_is_a_warning(tmp_path: Path) -> None:
    finding = check_libvirt(Settings(state_dir=tmp_path))
    assert finding.state is State.WARN
    assert "mesocosm up" in finding.resolution


@pytest.mark.libvirt
def test_hypervisor_socket_without_a_listener_is_a_warning(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    (settings.run_dir / "libvirt").mkdir(parents=True)
    (settings.run_dir / "libvirt" / "libvirt-sock").touch()
    finding = check_libvirt(settings)
    assert finding.state is State.WARN
    assert "does not answer" in finding.cause


def test_missing_qemu_is_a_warning(bin_dir: Path, tmp_path: Path) -> None:
    assert check_qemu(Settings(state_dir=tmp_path)).state is State.WARN


def test_this_python_is_supported() -> None:
    assert check_python(Settings()).state is State.OK
