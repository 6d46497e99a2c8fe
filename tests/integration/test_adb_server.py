"""Tests of access to the appliance's adb server and the reference phone's daemon."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import adbutils
import pytest

from foundation import process
from foundation.errors import LinkClosedError, RequirementError
from foundation.settings import Settings
from provisioning.phone.adb.endpoint import UnixEndpoint
from provisioning.phone.adb.forwarder import AdbForwarder, peer_uid
from provisioning.phone.adb.server import AdbServer
from tests.standins.phone import PhoneStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb

STRANGER = 65534
CONNECT = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
TRY_SOCKET = """
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
except PermissionError:
    print("refused")
"""
TRY_FORWARDER = f"""
{CONNECT}
try:
    s.sendall(b"000chost:version")
    print(s.recv(4))
except ConnectionError:
    print(b"")
"""


@pytest.fixture(scope="module")
def phone() -> Iterator[PhoneStandIn]:
    # Not in pytest's folder, which other users cannot enter: the appliance must restrict access itself.
    folder = Path(tempfile.mkdtemp(prefix="mesocosm-adb-"))
    folder.chmod(0o755)
    stand_in = PhoneStandIn(folder)
    yield stand_in
    stand_in.close()
    shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Path]:
    """Create a home folder for the other user."""
    folder = Path(tempfile.mkdtemp(prefix="mesocosm-stranger-"))
    os.chown(folder, STRANGER, STRANGER)
    yield folder
    shutil.rmtree(folder)


def run_as_stranger(
    *argv: str, env: dict[str, str] | None = None, cwd: Path = Path("/")
) -> process.CommandResult:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    ids = ("--reuid", str(STRANGER), "--regid", str(STRANGER), "--clear-groups")
    return process.run(["setpriv", *ids, *argv], timeout_s=30, env=env, cwd=cwd)


def run_python_as_stranger(code: str, *arguments: str) -> str:
    # Debian's Python, because the interpreter of the tests may be inaccessible to the other user.
    return run_as_stranger("/usr/bin/python3", "-c", code, *arguments).require().text


def test_server_listens_on_no_port(phone: PhoneStandIn) -> None:
    sockets = process.run(["ss", "-Hltnp"], timeout_s=10).require().text
    own = [line for line in sockets.splitlines() if f"pid={server_pid(phone.server)}," in line]
    assert own == []


def server_pid(server: AdbServer) -> int:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            argv = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "fork-server" in argv and server.endpoint.spec in argv:
            return int(path.parent.name)
    raise AssertionError("no adb server listens there")


def test_another_user_cannot_use_the_server(phone: PhoneStandIn, home: Path) -> None:
    endpoint = phone.server.endpoint
    assert isinstance(endpoint, UnixEndpoint)
    assert run_python_as_stranger(TRY_SOCKET, str(endpoint.path)) == "refused"
    env = {"HOME": str(home), "TMPDIR": str(home), "ADB_SERVER_SOCKET": endpoint.spec}
    result = run_as_stranger("adb", "-s", phone.device.serial, "shell", "id", env=env)
    assert result.exit_code != 0
    assert b"uid" not in result.stdout
    # The same program, run by the owner of the server.
    argv = ["adb", "-s", phone.device.serial, "shell", "id"]
    assert "uid" in process.run(argv, timeout_s=10, env=env).require().text


def test_socket_reachable_by_others_is_protected_at_the_start(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    settings.adb_socket.parent.mkdir(parents=True, mode=0o777)
    settings.adb_socket.parent.chmod(0o777)
    server = AdbServer(settings)
    server.start()
    try:
        assert settings.adb_socket.parent.stat().st_mode & 0o077 == 0
    finally:
        server.stop()
    assert not settings.adb_socket.exists()


def test_killed_server_is_restarted(tmp_path: Path) -> None:
    server = AdbServer(Settings(state_dir=tmp_path))
    server.start()
    os.kill(server_pid(server), 9)
    server.start()
    try:
        assert server.is_running()
        assert server.states() == {}
    finally:
        server.stop()
    assert not server.is_running()


def test_too_long_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RequirementError, match="too long"):
        AdbServer(Settings(state_dir=tmp_path / ("x" * 100))).start()


def test_stopped_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LinkClosedError, match="does not answer"):
        AdbServer(Settings(state_dir=tmp_path)).states()


def test_forwarder_admits_only_its_own_user(phone: PhoneStandIn) -> None:
    with AdbForwarder(phone.server.endpoint) as forwarder:
        client = adbutils.AdbClient("127.0.0.1", forwarder.port)
        assert client.device(phone.device.serial).shell("echo over TCP") == "over TCP"
        if os.getuid() == 0:
            assert run_python_as_stranger(TRY_FORWARDER, str(forwarder.port)) == "b''"
            assert forwarder.refused == 1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", forwarder.port), timeout=5)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_owner_of_a_connection_is_found(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(family) as client:
        client.connect((host, server.getsockname()[1]))
        accepted, _ = server.accept()
        with accepted:
            assert peer_uid(accepted) == os.getuid()


def test_uid_of_a_closed_connection_is_unknown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        client.close()
        with accepted:
            assert peer_uid(accepted) is None


def test_adb_key_is_readable_by_the_user_only(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    AdbServer(settings).public_key()
    assert (settings.keys_dir / "adbkey").stat().st_mode & 0o077 == 0


def test_direct_port_of_the_phone_needs_a_key(phone: PhoneStandIn, home: Path) -> None:
    env = {"HOME": str(home), "TMPDIR": str(home), "ADB_SERVER_SOCKET": f"localfilesystem:{home}/s"}
    try:
        run_as_stranger("adb", "connect", phone.device.serial, env=env)
        listed = run_as_stranger("adb", "devices", env=env).require().text
        assert f"{phone.device.serial}\tunauthorized" in listed
        result = run_as_stranger("adb", "-s", phone.device.serial, "shell", "id", env=env)
        assert result.exit_code != 0
        assert b"uid" not in result.stdout
    finally:
        run_as_stranger("adb", "kill-server", env=env)
