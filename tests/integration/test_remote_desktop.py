"""Tests of a desktop that is reachable only over SSH: a container with sshd and a reset command."""

from __future__ import annotations

import contextlib
import socket
import sys
from typing import TYPE_CHECKING

import docker
import pytest
import yaml

from foundation.clock import wait_until
from foundation.errors import (
    LinkError,
    MachineBusyError,
    MachineStartError,
    ResetMismatchError,
    SnapshotError,
    UnsupportedError,
)
from foundation.settings import Settings
from images.builder import find
from images.catalog import make_recipe
from images.desktop.keys import ensure_ssh_key, make_key
from images.desktop_container.recipe import CAPABILITIES, HOME, HOME_TMPFS
from provisioning.desktop.remote.backend import RemoteBackend
from provisioning.desktop.remote.config import FILE
from provisioning.protocols import READY
from provisioning.resource import DESKTOP
from tests.standins.container import desktop_container_settings
from tests.standins.phone import free_port
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker.models.containers import Container

    from provisioning.desktop.remote.machine import RemoteDesktop

pytestmark = [pytest.mark.docker]

NAME = "mesocosm-test-remote"
# Setup that the owner would do: sshd for root with one key, then the desktop.
START = """
umask 077; mkdir -p /run/sshd /root/.ssh
echo "$HOST_KEY" > /etc/ssh/ssh_host_ed25519_key; echo "$AUTHORIZED" > /root/.ssh/authorized_keys
/usr/sbin/sshd -o UsePAM=no
umask 022
exec /usr/local/lib/mesocosm/start.sh
"""
RESET = f"import docker; docker.from_env().containers.get({NAME!r}).restart(timeout=0)"


class Lab:
    """A remote machine, and an appliance that is configured for it."""

    def __init__(self, folder: Path, image: str) -> None:
        self.settings = Settings(state_dir=folder / "state")
        make_key(folder / "host", "lab")
        self.port = free_port()
        public = ensure_ssh_key(self.settings).with_suffix(".pub").read_text()
        self.entry: dict[str, object] = {
            "name": "lab-1",
            "host": "127.0.0.1",
            "port": self.port,
            "host_key": (folder / "host.pub").read_text().strip(),
            "reset": {"on": "host", "command": [sys.executable, "-c", RESET], "timeout_s": 60},
        }
        self.client = docker.from_env()
        self.container: Container = self.client.containers.run(
            image,
            ["/bin/sh", "-c", START],
            name=NAME,
            detach=True,
            init=True,
            environment={"HOST_KEY": (folder / "host").read_text(), "AUTHORIZED": public},
            ports={"22/tcp": ("127.0.0.1", self.port)},
            cap_drop=["ALL"],
            cap_add=[*CAPABILITIES, "SYS_CHROOT", "NET_BIND_SERVICE"],
            tmpfs={"/run": "mode=0755", "/tmp": "mode=1777,exec", HOME: HOME_TMPFS},
        )
        assert wait_until(self._has_server, timeout_s=30), self.container.logs().decode()

    def _has_server(self) -> bool:
        """Return whether sshd replies, because Docker accepts connections before sshd listens."""
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=5) as caller,
        ):
            return caller.recv(4) == b"SSH-"
        return False

    def configure(self, **changes: object) -> RemoteBackend:
        """Write the configuration file, without entries whose value is None."""
        entry = {
            key: value for key, value in {**self.entry, **changes}.items() if value is not None
        }
        self.settings.state_dir.mkdir(parents=True, exist_ok=True)
        (self.settings.state_dir / FILE).write_text(yaml.safe_dump({"machines": [entry]}))
        return RemoteBackend(self.settings)

    def close(self) -> None:
        self.container.remove(force=True)
        self.client.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    image = find("desktop-container", desktop_container_settings()).tag
    assert image is not None
    lab = Lab(tmp_path_factory.mktemp("lab"), image)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def taken(lab: Lab) -> Iterator[RemoteDesktop]:
    machine_handle = lab.configure().make(lambda _message: None)
    machine = machine_handle.machine
    yield machine
    machine_handle.delete()


@pytest.fixture
def machine(taken: RemoteDesktop, lab: Lab) -> RemoteDesktop:
    lab.configure()
    return taken


def test_machine_is_deployed_viewed_and_controlled(machine: RemoteDesktop) -> None:
    info = machine.info
    variant = make_recipe("desktop-container", desktop_container_settings()).variant
    assert (info.kind, info.backend, info.image) == (DESKTOP, "remote", f"remote:{variant}")
    assert machine.screen.size() == (1280, 800)
    before = machine.screen.capture()
    machine.link.call("open_app", {"name": "Terminal"}, timeout_s=30.0)
    assert wait_until(lambda: (machine.screen.capture() != before).mean() > 0.05, timeout_s=20)
    machine.input.text("echo Grüße 你好 > typed\n")
    assert wait_until(
        lambda: (file_stat := machine.files.stat(f"{HOME}/typed")) and file_stat.size_bytes,
        timeout_s=20,
    )
    assert machine.files.get(f"{HOME}/typed").decode() == "Grüße 你好\n"
    assert any("Terminal" in element.name for element in machine.tree.elements())


def test_reset_command_of_the_owner_restores_it_exactly(machine: RemoteDesktop) -> None:
    machine.files.put(f"{HOME}/left behind", b"x")
    report = machine.snapshots.rewind(READY)
    assert (report.path, report.differences) == ("reset", ())
    assert machine.files.stat(f"{HOME}/left behind") is None


def test_services_are_reached_by_name_before_and_after_a_reset(machine: RemoteDesktop) -> None:
    def fetch() -> str:
        script = "import urllib.request as r; print(r.urlopen('http://shop/a').read().decode())"
        return machine.run(["python3", "-I", "-c", script], timeout_s=30).text

    with website(lambda path, headers: f"{headers['Host']}{path}") as port:
        machine.reach.serve({"shop": {80: ("127.0.0.1", port)}})
        assert fetch() == "shop/a"
        machine.snapshots.rewind(READY)
        assert fetch() == "shop/a"
        machine.reach.stop()
    assert fetch() == ""
    assert b"# mesocosm" not in machine.files.get("/etc/hosts")


def test_incomplete_reset_is_detected(machine: RemoteDesktop, lab: Lab) -> None:
    again = attach(lab.configure(reset={"command": ["/bin/true"]}, verify_timeout_s=1), machine)
    again.files.put(f"{HOME}/left behind", b"x")
    with pytest.raises(ResetMismatchError, match="left behind"):
        again.snapshots.rewind(READY)
    again.release()
    machine.snapshots.rewind(READY)


def test_failing_reset_is_reported_with_its_output(machine: RemoteDesktop, lab: Lab) -> None:
    wrong = {"command": ["/bin/sh", "-c", "echo no such image >&2; exit 3"]}
    for side in ("host", "machine"):
        again = attach(lab.configure(reset={**wrong, "on": side}), machine)
        with pytest.raises(SnapshotError, match="no such image"):
            again.snapshots.rewind(READY)


def test_unsupported_operations_are_rejected(machine: RemoteDesktop, lab: Lab) -> None:
    with pytest.raises(UnsupportedError, match="cannot be saved"):
        machine.snapshots.save("mine")
    with pytest.raises(UnsupportedError, match="cannot stop"):
        machine.power.stop()
    with pytest.raises(UnsupportedError, match="no reset command"):
        attach(lab.configure(reset=None), machine).snapshots.rewind(READY)
    assert machine.power.is_running()


def test_taken_machine_is_not_given_to_others(machine: RemoteDesktop, lab: Lab) -> None:
    with pytest.raises(MachineBusyError, match="lab-1"):
        lab.configure().make(lambda _message: None)


def test_other_host_key_is_rejected(machine: RemoteDesktop, lab: Lab, tmp_path: Path) -> None:
    make_key(tmp_path / "other", "other")
    stranger = attach(lab.configure(host_key=(tmp_path / "other.pub").read_text().strip()), machine)
    assert not stranger.power.is_running()
    with pytest.raises(LinkError, match=r"host key of .* differs"):
        stranger.screen.capture()


def test_machine_without_the_user_is_rejected(machine: RemoteDesktop, lab: Lab) -> None:
    with pytest.raises(UnsupportedError, match="there is no user nobody-here"):
        attach(lab.configure(user="nobody-here"), machine).deploy()


def test_unresponsive_machine_cannot_be_started(machine: RemoteDesktop, lab: Lab) -> None:
    silent = attach(lab.configure(port=free_port()), machine)
    with pytest.raises(MachineStartError, match="cannot start it"):
        silent.power.start()


def test_unusable_machine_leaves_no_folder(lab: Lab, machine: RemoteDesktop) -> None:
    before = sorted(lab.settings.devices_dir.iterdir())
    with pytest.raises(UnsupportedError, match="no user"):
        lab.configure(name="lab-2", user="nobody-here").make(lambda _message: None)
    assert sorted(lab.settings.devices_dir.iterdir()) == before


def attach(backend: RemoteBackend, machine: RemoteDesktop) -> RemoteDesktop:
    """Return the machine with the current configuration file."""
    record = machine.folder.read()
    assert record is not None
    return backend.attach(machine.folder, record)
