from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import LinkClosedError, LinkError, MachineStartError
from provisioning.links import deploy
from provisioning.links.ssh import SshTarget, open_ssh
from provisioning.links.virtio import connect_virtio
from provisioning.links.zipapp import build_probe
from provisioning.probe.system.identity import Identity
from tests.standins.ssh import SshStandIn
from tests.standins.virtio import VirtioStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.links.ssh import SshSession

USER = Identity.own().name


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use this host as the guest, in a separate folder."""
    folder = tmp_path / "mesocosm"
    monkeypatch.setattr(deploy, "GUEST_DIR", str(folder))
    monkeypatch.setattr(deploy, "TAG", str(folder / "probe.json"))
    monkeypatch.setattr(deploy, "PIDFILE", str(tmp_path / "probe.pid"))
    monkeypatch.setattr(deploy, "LOG", str(tmp_path / "probe.log"))
    monkeypatch.setattr(deploy, "PYTHON", sys.executable)
    yield folder
    stop_daemon(tmp_path / "probe.pid")


def stop_daemon(pidfile: Path) -> None:
    if pidfile.is_file():
        pid = int(pidfile.read_text())
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            return
        assert wait_until(lambda: not Path(f"/proc/{pid}/exe").exists(), timeout_s=10)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshStandIn]:
    stand_in = SshStandIn(tmp_path)
    yield stand_in
    stand_in.close()


@pytest.fixture
def ssh(server: SshStandIn) -> Iterator[SshSession]:
    with open_ssh(server.target) as session:
        yield session


@pytest.fixture
def port(tmp_path: Path) -> Iterator[VirtioStandIn]:
    stand_in = VirtioStandIn(tmp_path)
    yield stand_in
    stand_in.close()


def test_deployed_probe_answers_and_is_not_deployed_twice(
    guest: Path, ssh: SshSession, port: VirtioStandIn
) -> None:
    first = deploy.deploy_probe(ssh, port=str(port.port), user=USER)
    assert (first.was_stored, first.was_running) == (False, False)
    assert Path(first.path).stat().st_mode & 0o777 == 0o700
    link = connect_virtio(port.socket_path, timeout_s=20)
    reply = link.call("ping")
    link.close()
    assert isinstance(reply, dict)
    assert reply["version"] == build_probe().digest
    again = deploy.deploy_probe(ssh, port=str(port.port), user=USER)
    assert (again.was_stored, again.was_running) == (True, True)


def test_interrupted_deployment_is_repeated(guest: Path, ssh: SshSession) -> None:
    archive = build_probe()
    deploy.store(ssh, archive)
    Path(deploy.TAG).unlink()
    Path(deploy.guest_path(archive)).write_bytes(b"half")
    assert not deploy.is_stored(ssh, archive)
    deploy.store(ssh, archive)
    assert deploy.is_stored(ssh, archive)
    assert Path(deploy.guest_path(archive)).read_bytes() == archive.data


def test_invalid_tag_is_no_tag(guest: Path, ssh: SshSession) -> None:
    guest.mkdir()
    Path(deploy.TAG).write_text("{")
    assert not deploy.is_stored(ssh, build_probe())


def test_rejection_by_the_guest_includes_its_output(guest: Path, ssh: SshSession) -> None:
    guest.write_text("a file where the folder should be")
    with pytest.raises(MachineStartError, match="mesocosm"):
        deploy.store(ssh, build_probe())


def test_probe_start_failure_includes_its_output(
    guest: Path, ssh: SshSession, port: VirtioStandIn
) -> None:
    with pytest.raises(MachineStartError, match="no-such-user"):
        deploy.deploy_probe(ssh, port=str(port.port), user="no-such-user")


# -- the SSH session itself


def test_arguments_arrive_unchanged(ssh: SshSession) -> None:
    args = ["a b", "'", '"', "$HOME", "*", ";", "\\", "", "ü\n"]
    done = ssh.run(["/usr/bin/printf", "%s|", *args])
    assert done.stdout.decode() == "".join(f"{word}|" for word in args)


def test_exit_code_and_both_outputs_are_returned(ssh: SshSession) -> None:
    done = ssh.run(["/bin/sh", "-c", "cat; echo bad >&2; exit 9"], stdin=b"\x00in")
    assert (done.exit_code, done.stdout, done.stderr) == (9, b"\x00in", b"bad\n")


def test_host_key_of_another_server_is_rejected(server: SshStandIn, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = SshStandIn(folder)
    target = server.target
    wrong = SshTarget(target.host, target.port, target.user, target.key_file, other.target.host_key)
    with pytest.raises(LinkError, match=r"host key of .* differs"):
        open_ssh(wrong)
    other.close()


def test_missing_server_is_reported(tmp_path: Path, server: SshStandIn) -> None:
    target = server.target
    unreachable = SshTarget("127.0.0.1", 1, target.user, target.key_file, target.host_key)
    with pytest.raises(LinkClosedError, match=r"127\.0\.0\.1:1"):
        open_ssh(unreachable, timeout_s=5)
