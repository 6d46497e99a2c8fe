"""Tests of the reference phone's ADB daemon with two generations of adb and with raw sockets."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import secrets
import socket
import struct
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import adbutils
import pytest

from foundation import process
from foundation.clock import wait_until
from images.phone.device.adb.services import FEATURES
from tests.standins.local_phone import Adb, LocalPhone

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb

MIB = 1 << 20
BUNDLED = Path(adbutils.__file__).parent / "binaries/adb"


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    local_phone = LocalPhone(tmp_path_factory.mktemp("phone"))
    yield local_phone
    local_phone.close()


# The bundled adb, with and without delayed acknowledgements.
@pytest.fixture(scope="module", params=["debian", "bundled", "burst"])
def adb(phone: LocalPhone, request: pytest.FixtureRequest) -> Iterator[Adb]:
    program = "adb" if request.param == "debian" else str(BUNDLED)
    env = {"ADB_BURST_MODE": "1"} if request.param == "burst" else {}
    home = phone.folder / f"home-{request.param}"
    client = Adb(home, phone.key, program=program, env=env)
    assert "connected to" in client.run("connect", phone.serial).text
    yield client
    client.close()


@contextlib.contextmanager
def echo_server() -> Iterator[int]:
    """Run an echo server on this host that ends when the other side closes."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = server.accept()
                threading.Thread(target=echo, args=(sock,), daemon=True).start()

    def echo(sock: socket.socket) -> None:
        with sock, contextlib.suppress(OSError):
            while data := sock.recv(1 << 16):
                sock.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


def echoed(port: int, data: bytes) -> bytes:
    """Send bytes to a port of this host and read the same number of bytes."""
    got = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sender = threading.Thread(target=sock.sendall, args=(data,))
        sender.start()
        while len(got) < len(data) and (chunk := sock.recv(1 << 16)):
            got += chunk
        sender.join()
    return bytes(got)


def test_all_features_are_reported(adb: Adb, phone: LocalPhone) -> None:
    features = set(adb.run("-s", phone.serial, "features").stdout.decode().split())
    assert features <= set(FEATURES)
    assert {"shell_v2", "cmd", "stat_v2", "ls_v2"} <= features


def test_large_data_is_sent_in_both_directions(adb: Adb, tmp_path: Path) -> None:
    sent, got = tmp_path / "sent", tmp_path / "got"
    sent.write_bytes(secrets.token_bytes(MIB) * 48)
    adb.run("push", str(sent), "/sdcard/Download/large").require()
    adb.run("pull", "/sdcard/Download/large", str(got)).require()
    assert got.read_bytes() == sent.read_bytes()
    data = secrets.token_bytes(3 * MIB)
    assert adb.run("shell", "-T", "cat", stdin=data).stdout == data
    # Endless output to a reader that closes immediately.
    adb.run("shell", "head -c 1000 /dev/zero; cat /dev/zero | head -c 9000000").require()


def test_link_is_pushed_with_its_time(adb: Adb, phone: LocalPhone, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/link").symlink_to("nowhere")
    (tmp_path / "tree/file").write_text("x")
    adb.run("push", str(tmp_path / "tree"), "/sdcard/links").require()
    if (link := phone.root / "sdcard/links/link").is_symlink():
        assert str(link.readlink()) == "nowhere"
    assert (phone.root / "sdcard/links/file").read_text() == "x"


def test_terminal_has_the_size_of_the_host(adb: Adb, phone: LocalPhone) -> None:
    master, slave = pty.openpty()
    # Size of the terminal that adb reads from: rows and columns.
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    child = process.start(
        [*adb.argv, "-s", phone.serial, "shell", "-t", "sleep 0.3; stty size; tty"],
        env=adb.env,
        stdin=slave,
    )
    try:
        output, _ = child.communicate(timeout=20)
        assert b"33 77" in output
        assert b"/dev/pts/" in output
    finally:
        process.kill_group(child)
        os.close(master)
        os.close(slave)


class TestForwards:
    def test_port_of_the_phone_is_forwarded(self, adb: Adb, phone: LocalPhone) -> None:
        data = secrets.token_bytes(2 * MIB + 7)
        with echo_server() as port:
            result = adb.run("-s", phone.serial, "forward", "tcp:0", f"tcp:{port}")
            assert echoed(int(result.text), data) == data
            assert f"tcp:{port}" in adb.run("forward", "--list").text
            adb.run("forward", "--remove-all").require()

    def test_named_socket_is_forwarded(self, adb: Adb, phone: LocalPhone) -> None:
        name = f"meso-{secrets.token_hex(4)}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"\0{name}")
            server.listen()
            result = adb.run("-s", phone.serial, "forward", "tcp:0", f"localabstract:{name}")
            with socket.create_connection(("127.0.0.1", int(result.text)), timeout=10) as sock:
                other, _ = server.accept()
                with other:
                    sock.sendall(b"hello")
                    assert other.recv(10) == b"hello"
                    other.sendall(b"back")
                    assert sock.recv(10) == b"back"
                assert sock.recv(10) == b""
        adb.run("forward", "--remove-all").require()

    def test_connection_without_a_listener_ends(self, adb: Adb, phone: LocalPhone) -> None:
        result = adb.run("-s", phone.serial, "forward", "tcp:0", "tcp:1")
        with socket.create_connection(("127.0.0.1", int(result.text)), timeout=10) as sock:
            assert sock.recv(10) == b""
        adb.run("forward", "--remove-all").require()

    def test_port_of_the_host_is_reached_from_the_phone(self, adb: Adb, phone: LocalPhone) -> None:
        data = secrets.token_bytes(2 * MIB + 7)
        to = ("-s", phone.serial, "reverse")
        with echo_server() as port:
            there = int(adb.run(*to, "tcp:0", f"tcp:{port}").require().text)
            assert echoed(there, data) == data
            assert adb.run(*to, "--list").text.split()[1:] == [f"tcp:{there}", f"tcp:{port}"]
            assert adb.run(*to, "--no-rebind", f"tcp:{there}", "tcp:1").exit_code == 1
            adb.run(*to, "--remove", f"tcp:{there}").require()
            assert adb.run(*to, "--remove", f"tcp:{there}").exit_code == 1
            assert adb.run(*to, "--list").text == ""
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.1", there), timeout=5)

    def test_reverse_ports_end_with_the_connection(self, adb: Adb, phone: LocalPhone) -> None:
        there = int(adb.run("-s", phone.serial, "reverse", "tcp:0", "tcp:1").require().text)
        adb.run("disconnect", phone.serial).require()

        def is_closed() -> bool:
            try:
                socket.create_connection(("127.0.0.1", there), timeout=1).close()
            except OSError:
                return True
            return False

        assert wait_until(is_closed, timeout_s=10)
        assert "connected to" in adb.run("connect", phone.serial).text


class TestLog:
    def test_log_is_dumped_filtered_and_cleared(self, adb: Adb) -> None:
        adb.run("shell", "logcat", "-c").require()
        adb.run("shell", "log -t Meso -p w 'one thing'; log -t Other two").require()
        output = adb.run("logcat", "-d", "-v", "brief", "-s", "Meso").text
        assert "W/Meso    ( 2000): one thing" in output
        assert "two" not in output
        assert adb.run("shell", "logcat", "-d", "-v", "nonsense").exit_code != 0

    def test_log_is_followed_until_the_reader_ends(self, adb: Adb, phone: LocalPhone) -> None:
        child = process.start([*adb.argv, "-s", phone.serial, "logcat", "-v", "raw"], env=adb.env)
        assert child.stdout is not None
        mark = secrets.token_hex(8)
        try:
            child.stdout.readline()
            adb.run("shell", "log", mark).require()
            assert any(mark.encode() in line for line in child.stdout)
        finally:
            process.kill_group(child)
            for pipe in (child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()


class TestPower:
    def test_root_is_rejected_as_on_user_builds(self, adb: Adb, phone: LocalPhone) -> None:
        result = adb.run("-s", phone.serial, "root")
        assert b"cannot run as root in production builds" in result.stdout + result.stderr
        result = adb.run("-s", phone.serial, "unroot")
        assert b"not running as root" in result.stdout + result.stderr

    def test_application_is_not_installed(self, adb: Adb, tmp_path: Path) -> None:
        (tmp_path / "some.apk").write_bytes(secrets.token_bytes(MIB))
        result = adb.run("install", str(tmp_path / "some.apk"))
        assert result.exit_code == 1
        assert b"INSTALL_FAILED_NO_MATCHING_ABIS" in result.stdout + result.stderr

    def test_reboot_ends_everything_and_the_phone_comes_back(
        self, adb: Adb, phone: LocalPhone
    ) -> None:
        adb.run("shell", "am", "start", "-p", "com.android.settings").require()
        adb.run("shell", "setsid sleep 4321 >/dev/null 2>&1 &").require()
        adb.run("-s", phone.serial, "reboot").require()
        assert wait_until(
            lambda: adb.run("shell", "echo", "up").text == "up", timeout_s=20, every_s=0.2
        )
        assert "nexuslauncher" in adb.run("shell", "dumpsys", "window").text
        result = adb.run("shell", "pgrep -f 'sleep 432[1]' || echo none")
        assert result.text == "none"


def test_no_process_can_be_debugged(adb: Adb, phone: LocalPhone) -> None:
    assert adb.run("-s", phone.serial, "jdwp").text == ""


def test_unknown_services_are_rejected(adb: Adb, phone: LocalPhone) -> None:
    device = adbutils.AdbClient("127.0.0.1", adb.port).device(phone.serial)
    for name in ("nonsense:", "dev:/dev/null", "tcp:99999", "tcp:80:example.org"):
        with device.open_transport() as connection:
            connection.send_command(name)
            with pytest.raises(adbutils.AdbError):
                connection.check_okay()
