"""Tests of third-party clients against the reference phone: Debian's adb, adbutils, adb-shell."""

from __future__ import annotations

import contextlib
import io
import random
import secrets
import socket
import struct
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import adbutils
import pytest
from defusedxml import ElementTree
from PIL import Image

from foundation.clock import wait_until
from foundation.errors import GuestCallError, LinkClosedError
from images.phone.device.adb.services import FEATURES
from images.phone.device.streams import wire
from provisioning.phone.reference.console import ConsoleClient
from tests.standins.local_phone import Adb, LocalPhone, center_of, make_key

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb

MIB = 1 << 20
TASKS = "com.google.android.apps.tasks"
TASKS_URI = f"content://{TASKS}/tasks"


def holds(path: Path, data: bytes) -> bool:
    """Return whether a file exists and has exactly this content."""
    return path.is_file() and path.read_bytes() == data


def count_sleepers(seconds: str) -> int:
    wanted = f"sleep\0{seconds}\0".encode()
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += path.read_bytes() == wanted
    return count


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    local_phone = LocalPhone(tmp_path_factory.mktemp("phone"))
    with local_phone.console() as console:
        console.run("avd snapshot save fresh", timeout_s=10)
    yield local_phone
    local_phone.close()


@pytest.fixture(scope="module")
def adb(phone: LocalPhone) -> Iterator[Adb]:
    client = Adb(phone.folder / "home", phone.key)
    assert "connected to" in client.run("connect", phone.serial).text
    yield client
    client.close()


@pytest.fixture(autouse=True)
def _rewound(phone: LocalPhone) -> None:
    with phone.console() as console:
        console.run("avd snapshot load fresh", timeout_s=10)


class TestDebiansAdb:
    def test_phone_is_listed(self, adb: Adb, phone: LocalPhone) -> None:
        output = adb.run("devices", "-l").text
        assert f"{phone.serial}" in output
        assert "device product:reference_phone model:Reference_phone" in output

    @pytest.mark.parametrize("code", [0, 1, 7, 127, 255])
    def test_exit_codes_are_returned(self, adb: Adb, code: int) -> None:
        assert adb.run("shell", f"echo out; echo err >&2; exit {code}").exit_code == code

    def test_output_and_errors_are_separate(self, adb: Adb) -> None:
        result = adb.run("shell", "echo out; echo err >&2")
        assert (result.stdout, result.stderr) == (b"out\n", b"err\n")

    def test_first_protocol_merges_output_and_errors(self, adb: Adb) -> None:
        result = adb.run("shell", "-x", "echo out; echo err >&2; exit 3")
        assert (result.exit_code, result.stdout) == (0, b"out\nerr\n")

    def test_input_reaches_a_command(self, adb: Adb) -> None:
        data = secrets.token_bytes(3 * MIB)
        assert adb.run("shell", "-T", "cat", stdin=data).stdout == data

    def test_exec_in_writes_everything_before_the_end(self, adb: Adb, phone: LocalPhone) -> None:
        target = phone.root / "data/local/tmp/in.bin"
        for _ in range(5):
            data = secrets.token_bytes(2 * MIB)
            adb.run("exec-in", f"cat > {target}", stdin=data)
            assert wait_until(partial(holds, target, data), timeout_s=20)

    def test_terminal_is_allocated_on_request(self, adb: Adb) -> None:
        result = adb.run("shell", "-tt", "tty; test -t 1 && echo yes; exit 5")
        assert b"/dev/pts/" in result.stdout
        assert b"yes\r\n" in result.stdout
        assert result.exit_code == 5

    @pytest.mark.parametrize("size", [0, 1, 65536, 65537, 5 * MIB + 3])
    def test_push_and_pull_are_byte_identical(self, adb: Adb, tmp_path: Path, size: int) -> None:
        sent, got = tmp_path / "sent", tmp_path / "got"
        sent.write_bytes(secrets.token_bytes(size))
        adb.run("push", str(sent), "/sdcard/Download/größe.bin").require()
        adb.run("pull", "/sdcard/Download/größe.bin", str(got)).require()
        assert got.read_bytes() == sent.read_bytes()

    def test_folder_is_pushed_and_pulled(self, adb: Adb, tmp_path: Path) -> None:
        (tmp_path / "tree/inner").mkdir(parents=True)
        (tmp_path / "tree/inner/leaf").write_text("leaf")
        adb.run("push", str(tmp_path / "tree"), "/sdcard/").require()
        adb.run("pull", "/sdcard/tree", str(tmp_path / "back")).require()
        assert (tmp_path / "back/inner/leaf").read_text() == "leaf"

    def test_missing_file_cannot_be_pulled(self, adb: Adb, tmp_path: Path) -> None:
        result = adb.run("pull", "/sdcard/missing", str(tmp_path / "x"))
        assert result.exit_code == 1
        assert b"No such file" in result.stdout + result.stderr

    def test_unwritable_path_is_reported(self, adb: Adb, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"x" * 300_000)
        adb.run("push", str(tmp_path / "f"), "/sdcard/plain").require()
        result = adb.run("push", str(tmp_path / "f"), "/sdcard/plain/below")
        assert result.exit_code == 1

    def test_dump_is_xml_with_the_closing_line_of_android(self, adb: Adb) -> None:
        output = adb.run("exec-out", "uiautomator", "dump", "/dev/tty").stdout.decode()
        xml, _, rest = output.partition("</hierarchy>")
        assert rest == "UI hierchary dumped to: /dev/tty\n"
        nodes = list(ElementTree.fromstring(f"{xml}</hierarchy>").iter("node"))
        assert nodes
        for node in nodes:
            wanted = {"text", "resource-id", "class", "content-desc", "bounds", "checked"}
            assert wanted <= set(node.keys())

    def test_screenshot_has_the_reported_size(self, adb: Adb) -> None:
        png = adb.run("exec-out", "screencap", "-p").stdout
        with Image.open(io.BytesIO(png)) as image:
            image.load()
            assert (image.mode, image.size) == ("RGB", (1080, 2400))
        assert adb.run("shell", "wm", "size").text == "Physical size: 1080x2400"

    def test_commands_answer_the_same_within_a_shell(self, adb: Adb) -> None:
        for command in ("wm size", "settings list system", "pm list packages"):
            alone = adb.run("shell", command).stdout
            assert adb.run("shell", f"true; {command} | cat").stdout == alone

    def test_front_activity_is_found_with_grep(self, adb: Adb) -> None:
        adb.run("shell", "am", "start", "-n", f"{TASKS}/.ui.TaskListsActivity").require()
        result = adb.run("shell", "dumpsys activity activities | grep mResumedActivity")
        assert result.exit_code == 0
        assert f"{TASKS}/.ui.TaskListsActivity" in result.text

    def test_unknown_commands_and_packages_fail(self, adb: Adb) -> None:
        assert adb.run("shell", "am", "start", "-n", "no.such/.App").exit_code == 1
        assert adb.run("shell", "input", "keyevent", "NO_SUCH").exit_code == 255
        assert adb.run("shell", "nosuchcommand").exit_code == 127

    def test_many_concurrent_streams(self, adb: Adb) -> None:
        script = "for i in 1 2 3 4 5 6 7 8; do (seq 1 20000 | tail -1) & done; wait"
        assert adb.run("shell", script).stdout == b"20000\n" * 8


class TestKeys:
    def test_unknown_key_is_rejected(self, phone: LocalPhone, tmp_path: Path) -> None:
        make_key(tmp_path / "strange")
        stranger = Adb(tmp_path / "home", tmp_path / "strange")
        try:
            stranger.run("connect", phone.serial)
            assert f"{phone.serial}\tunauthorized" in stranger.run("devices").text
            assert stranger.run("-s", phone.serial, "shell", "id").exit_code != 0
        finally:
            stranger.close()

    def test_known_key_is_accepted_after_an_unknown_one(self, adb: Adb) -> None:
        assert adb.run("shell", "echo", "in").text == "in"


class TestAdbutils:
    @pytest.fixture
    def device(self, adb: Adb, phone: LocalPhone) -> adbutils.AdbDevice:
        return adbutils.AdbClient("127.0.0.1", adb.port).device(phone.serial)

    def test_shells(self, device: adbutils.AdbDevice) -> None:
        assert device.shell("echo one") == "one"
        for v2 in (False, True):
            result = device.shell2("echo two; (exit 4)", v2=v2)
            assert (result.returncode, result.output.strip()) == (4, "two")

    def test_files(self, device: adbutils.AdbDevice) -> None:
        data = secrets.token_bytes(MIB)
        device.sync.push(io.BytesIO(data), "/sdcard/Download/a.bin")
        assert device.sync.read_bytes("/sdcard/Download/a.bin") == data
        assert device.sync.stat("/sdcard/Download/a.bin").size == len(data)
        names = {row.path for row in device.sync.list("/sdcard/Download")}
        assert "a.bin" in names
        assert not device.sync.exists("/sdcard/Download/b.bin")

    def test_screen_and_hierarchy(self, device: adbutils.AdbDevice) -> None:
        assert device.screenshot().size == (1080, 2400)
        assert tuple(device.window_size()) == (1080, 2400)
        assert device.rotation() == 0
        assert device.dump_hierarchy().startswith("<?xml")
        assert device.is_screen_on()

    def test_applications(self, device: adbutils.AdbDevice) -> None:
        device.app_start(TASKS)
        assert device.app_current().package == TASKS
        device.app_stop(TASKS)
        assert device.app_current().package != TASKS
        assert TASKS in device.list_packages()
        info = device.app_info(TASKS)
        assert info is not None
        assert info.version_name == "1.0"

    def test_properties_and_battery(self, device: adbutils.AdbDevice) -> None:
        assert device.prop.model == "Reference phone"
        assert device.battery().level == 100
        # adb 29 reports the features that it supports itself.
        known = {"shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir"}
        assert known <= set(device.get_features().split(",")) <= set(FEATURES)

    def test_touch_and_keys(self, device: adbutils.AdbDevice) -> None:
        device.app_start(TASKS)
        device.click(*center_of(device.dump_hierarchy(), "Create new task"))
        device.send_keys("from%sadbutils")
        device.keyevent("ENTER")
        assert "from adbutils" in device.dump_hierarchy()
        device.swipe(540, 1500, 540, 500, 0.1)
        device.keyevent("HOME")
        assert device.app_current().package != TASKS


def test_adb_shell_works_without_a_server(phone: LocalPhone) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from adb_shell.adb_device import AdbDeviceTcp
        from adb_shell.auth.sign_pythonrsa import PythonRSASigner
    signer = PythonRSASigner.FromRSAKeyPath(str(phone.key))
    device = AdbDeviceTcp("127.0.0.1", phone.adb_port, default_transport_timeout_s=10)
    data = secrets.token_bytes(MIB)
    try:
        assert device.connect(rsa_keys=[signer], auth_timeout_s=20)
        assert device.shell("echo checked; wm size") == "checked\nPhysical size: 1080x2400\n"
        device.push(io.BytesIO(data), "/sdcard/Download/s.bin")
        got = io.BytesIO()
        device.pull("/sdcard/Download/s.bin", got)
        assert got.getvalue() == data
        mode, size, _ = device.stat("/sdcard/Download/s.bin")
        assert (mode & 0o170000, size) == (0o100000, MIB)
        assert "s.bin" in [
            Path(entry.filename.decode()).name for entry in device.list("/sdcard/Download")
        ]
        assert "".join(device.streaming_shell("for i in 1 2 3; do echo $i; done")) == "1\n2\n3\n"
        device.root()
        assert device.shell("wm density") == "Physical density: 420\n"
        assert device.exec_out("screencap -p", decode=False).startswith(b"\x89PNG")
    finally:
        device.close()


class TestConsole:
    def test_rewind_restores_everything(self, adb: Adb, phone: LocalPhone) -> None:
        def see() -> tuple[bytes, ...]:
            commands = ("dumpsys activity activities", "dumpsys reference_phone")
            return (
                adb.run("exec-out", "uiautomator", "dump", "/dev/tty").stdout,
                *(adb.run("shell", command).stdout for command in commands),
            )

        adb.run("shell", "content", "insert", "--uri", TASKS_URI, "--bind", "title:s:Milk")
        adb.run("shell", "am", "start", "-p", TASKS)
        xml = adb.run("exec-out", "uiautomator", "dump", "/dev/tty").stdout.decode()
        adb.run("shell", "input", "tap", *map(str, center_of(xml, "Create new task")))
        adb.run("shell", "input", "text", "half a se")
        kept = phone.root / "sdcard/Download/kept"
        kept.write_bytes(b"before")
        before = see()
        with phone.console() as console:
            console.run("avd snapshot save here", timeout_s=10)
            adb.run("shell", "input", "text", "ntence")
            adb.run("shell", "input", "keyevent", "HOME")
            adb.run("shell", "cmd", "uimode", "night", "yes")
            adb.run("shell", "setprop", "debug.x", "1")
            kept.write_bytes(b"change")
            (phone.root / "sdcard/Download/new").mkdir()
            assert see() != before
            console.run("avd snapshot load here", timeout_s=10)
            assert console.run("avd snapshot list", timeout_s=10)[-2:] == [
                "--        fresh",
                "--        here",
            ]
            console.run("avd snapshot delete here", timeout_s=10)
        assert see() == before
        assert kept.read_bytes() == b"before"
        assert not (phone.root / "sdcard/Download/new").exists()

    def test_rewind_ends_processes_of_shells(self, adb: Adb, phone: LocalPhone) -> None:
        mark = f"{secrets.randbelow(10**6) + 10**6}"
        adb.run("shell", f"setsid sleep {mark} >/dev/null 2>&1 & (sleep {mark} >/dev/null 2>&1 &)")
        adb.run("shell", f"nohup sh -c 'trap \"\" TERM HUP; sleep {mark}; :' >/dev/null 2>&1 &")
        assert wait_until(lambda: count_sleepers(mark) == 3, timeout_s=20)
        with phone.console() as console:
            console.run("avd snapshot load fresh", timeout_s=10)
        assert count_sleepers(mark) == 0

    def test_state_survives_the_daemon(self, phone: LocalPhone, tmp_path: Path) -> None:
        own = LocalPhone(tmp_path)
        client = Adb(tmp_path / "home", own.key)
        try:
            client.run("connect", own.serial)
            client.run("shell", "am", "start", "-p", "com.android.settings").require()
            assert own.stop() == 0
            own.start(own.adb_port)
            # adb reconnects by itself, and omits checksums from the first message on.
            assert wait_until(
                lambda: client.run("shell", "echo back").text == "back", timeout_s=20, every_s=0.2
            )
            output = client.run("shell", "dumpsys", "window").text
            assert "com.android.settings/com.android.settings.Settings" in output
        finally:
            client.close()
            own.close()

    def test_wrong_token_is_rejected(self, phone: LocalPhone) -> None:
        with pytest.raises(LinkClosedError, match="refused the token"):
            ConsoleClient(("127.0.0.1", phone.console_port), "another")

    def test_nothing_works_without_the_token(self, phone: LocalPhone) -> None:
        with socket.create_connection(("127.0.0.1", phone.console_port), timeout=5) as sock:
            sock.sendall(b"avd snapshot delete fresh\nkill\nquit\n")
            reply = b"".join(iter(lambda: sock.recv(4096), b"")).decode()
        assert reply.count("KO: unknown command") == 2

    @pytest.mark.parametrize(
        "line",
        ["avd snapshot load missing", "avd snapshot save ../x", "avd nonsense", "nonsense"],
    )
    def test_bad_commands_are_answered_with_ko(self, phone: LocalPhone, line: str) -> None:
        with phone.console() as console, pytest.raises(GuestCallError):
            console.run(line, timeout_s=20)

    def test_kill_ends_the_phone(self, tmp_path: Path) -> None:
        own = LocalPhone(tmp_path)
        try:
            with own.console() as console:
                console.run("kill", timeout_s=20)
            assert own.process.wait(10) == 0
        finally:
            own.close()


class TestBadInput:
    def send(self, phone: LocalPhone, data: bytes) -> bytes:
        """Send bytes and read until the phone closes the connection or stops sending."""
        with socket.create_connection(("127.0.0.1", phone.adb_port), timeout=0.2) as sock:
            sock.sendall(data)
            reply = b""
            try:
                while chunk := sock.recv(4096):
                    reply += chunk
            except (TimeoutError, ConnectionResetError):
                pass
            return reply

    def closes(self, phone: LocalPhone, data: bytes) -> bool:
        with socket.create_connection(("127.0.0.1", phone.adb_port), timeout=5) as sock:
            sock.sendall(data)
            try:
                while sock.recv(4096):
                    pass
            except ConnectionResetError:
                return True
            except TimeoutError:
                return False
            return True

    @pytest.mark.parametrize(
        "header",
        [
            struct.pack("<6I", wire.CNXN, wire.VERSION_MIN, 4096, 0, 0, 0),
            struct.pack("<6I", wire.CNXN, 1, 1, 1 << 30, 0, wire.CNXN ^ 0xFFFFFFFF),
            struct.pack("<6I", 0x41414141, 0, 0, 0, 0, 0x41414141 ^ 0xFFFFFFFF),
            struct.pack("<6I", wire.OPEN, 1, 0, 0, 0, wire.OPEN ^ 0xFFFFFFFF),
            struct.pack("<6I", wire.CNXN, 0x01000000, 4096, 6, 1, wire.CNXN ^ 0xFFFFFFFF)
            + b"host::",
        ],
        ids=["bad magic", "oversize", "unknown command", "open before auth", "bad checksum"],
    )
    def test_broken_message_ends_the_connection(self, phone: LocalPhone, header: bytes) -> None:
        assert self.closes(phone, header)

    def test_random_bytes_are_harmless(self, phone: LocalPhone, adb: Adb) -> None:
        chance = random.Random(7)  # noqa: S311 - repeatable
        commands = sorted(wire.COMMANDS)
        for _ in range(60):
            if chance.random() < 0.5:
                data = chance.randbytes(chance.randrange(1, 400))
            else:
                payload = chance.randbytes(chance.randrange(0, 60))
                message = wire.Message(
                    chance.choice(commands), chance.randrange(4), chance.randrange(4), payload
                )
                data = wire.encode_header(message, with_checksum=True) + payload
            with socket.create_connection(("127.0.0.1", phone.adb_port), timeout=5) as sock:
                sock.sendall(data)
        with socket.create_connection(("127.0.0.1", phone.console_port), timeout=5) as sock:
            sock.sendall(chance.randbytes(20_000))
        assert phone.process.poll() is None
        assert adb.run("shell", "echo alive").text == "alive"
