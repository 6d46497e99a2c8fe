"""Tests of all single-device functions of adbutils against the reference phone."""

from __future__ import annotations

import io
import json
import secrets
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import adbutils
import pytest
from defusedxml import ElementTree
from PIL import Image, ImageChops

from foundation.clock import wait_until
from tests.standins.local_phone import Adb, LocalPhone, center_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# adbutils uses names that it deprecates, and leaves the framebuffer's socket to the garbage collector.
pytestmark = [
    pytest.mark.adb,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TASKS = "com.google.android.apps.tasks"
CARD = "/sdcard/Download"

# Not tried: adbutils' recording runs a script from /sdcard, which this phone does not have: its shell is the
# host's. `TestScreenRecord` runs the same lines.


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    local_phone = LocalPhone(tmp_path_factory.mktemp("phone"))
    yield local_phone
    local_phone.close()


@pytest.fixture(scope="module")
def adb(phone: LocalPhone) -> Iterator[Adb]:
    bundled = Path(adbutils.__file__).parent / "binaries/adb"
    client = Adb(phone.folder / "home", phone.key, program=str(bundled))
    assert "connected to" in client.run("connect", phone.serial).text
    yield client
    client.close()


@pytest.fixture
def device(adb: Adb, phone: LocalPhone, monkeypatch: pytest.MonkeyPatch) -> adbutils.AdbDevice:
    monkeypatch.setenv("ADBUTILS_ADB_PATH", adb.argv[0])
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb.port))
    for name, value in adb.env.items():
        monkeypatch.setenv(name, value)
    return adbutils.AdbClient("127.0.0.1", adb.port).device(phone.serial)


def test_device_properties(device: adbutils.AdbDevice, phone: LocalPhone) -> None:
    assert device.serial == device.get_serialno() == phone.serial
    assert device.get_state() == "device"
    assert device.get_devpath() == "unknown"
    assert device.info["state"] == "device"
    assert {"shell_v2", "cmd", "sendrecv_v2"} <= set(device.get_features().split(","))
    assert device.prop.name == device.prop.device == "reference_phone"
    assert device.getprop("ro.build.version.sdk") == "33"
    assert device.battery().level == 100
    if len(socket.if_nameindex()) > 1:
        assert device.wlan_ip().count(".") == 3


def test_shells(device: adbutils.AdbDevice) -> None:
    assert device.shell(["echo", "a b", "&"]) == "a b &"
    assert device.shell("echo x >&2; echo y", encoding=None) == b"x\ny\n"
    for v2 in (False, True):
        result = device.shell2("echo two; (exit 4)", v2=v2)
        assert (result.returncode, result.output.strip()) == (4, "two")
    assert device.shell2("echo e >&2", v2=True).stderr == "e\n"
    with device.open_shell("cat") as stream:
        stream.send(b"typed\n")
        assert stream.read(6) == b"typed\n"
    with device.open_transport() as connection:
        connection.send_command("shell:echo open")
        connection.check_okay()
        assert connection.read_until_close() == "open\n"
    assert device.adb_output("shell", "echo", "out").strip() == "out"


def test_files(device: adbutils.AdbDevice, phone: LocalPhone, tmp_path: Path) -> None:
    data = secrets.token_bytes(1 << 20)
    (tmp_path / "a.bin").write_bytes(data)
    assert device.sync.push(tmp_path / "a.bin", f"{CARD}/a.bin", check=True) == len(data)
    device.push(str(tmp_path / "a.bin"), f"{CARD}/b.bin")
    assert device.sync.exists(f"{CARD}/b.bin")
    assert device.sync.stat(f"{CARD}/b.bin").size == len(data)
    assert device.sync.read_bytes(f"{CARD}/a.bin") == data
    assert b"".join(device.sync.iter_content(f"{CARD}/a.bin")) == data
    device.sync.push(io.BytesIO("größe".encode()), f"{CARD}/t")
    assert device.sync.read_text(f"{CARD}/t") == "größe"
    names = {row.path for row in device.sync.list(CARD)}
    assert (
        names == {row.path for row in device.sync.iter_directory(CARD)} == {"a.bin", "b.bin", "t"}
    )
    assert device.sync.pull(f"{CARD}/a.bin", tmp_path / "got") == len(data)
    assert device.sync.pull_file(f"{CARD}/t", tmp_path / "t") == len("größe".encode())
    device.sync.pull_dir(CARD, tmp_path / "all")
    assert (tmp_path / "all/b.bin").read_bytes() == (tmp_path / "got").read_bytes() == data
    with pytest.raises(adbutils.AdbError):
        device.sync.read_bytes(f"{CARD}/missing")
    # The shell is this host's, so the phone's folders need their full paths on the host.
    device.remove(str(phone.root / "sdcard/Download/t"))
    assert not device.sync.exists(f"{CARD}/t")
    device.rmtree(str(phone.root / "data/media/0/Download"))
    assert not device.sync.exists(CARD)


def both_pictures(device: adbutils.AdbDevice) -> tuple[Image.Image, Image.Image]:
    """Capture a frame in both formats; the phone's clock may change in between."""
    while True:
        number = device.shell("dumpsys reference_phone frame")
        pictures = device.screenshot(error_ok=False), device.framebuffer()
        if device.shell("dumpsys reference_phone frame") == number:
            return pictures


def test_screen(device: adbutils.AdbDevice) -> None:
    device.keyevent("HOME")
    shot, frame = both_pictures(device)
    assert (shot.size, frame.mode) == ((1080, 2400), "RGBA")
    assert ImageChops.difference(shot, frame.convert("RGB")).getbbox() is None
    assert device.screenshot(display_id=0).size == (1080, 2400)
    assert tuple(device.window_size()) == (1080, 2400)
    assert device.rotation() == 0
    assert ElementTree.fromstring(device.dump_hierarchy()).tag == "hierarchy"
    device.shell("wm user-rotation lock 1")
    assert device.rotation() == 1
    assert tuple(device.window_size()) == (2400, 1080)
    assert device.screenshot().size == device.framebuffer().size == (2400, 1080)
    device.shell("wm user-rotation lock 0")
    device.switch_screen(True)
    assert device.is_screen_on()
    device.brightness_value = 77
    assert device.brightness_value == 77
    device.brightness_mode = adbutils.BrightnessMode.AUTO
    assert device.brightness_mode == adbutils.BrightnessMode.AUTO


def test_applications(device: adbutils.AdbDevice, tmp_path: Path) -> None:
    device.app_start(TASKS)
    assert device.app_current().package == TASKS
    device.app_start("com.android.settings", ".Settings")
    assert device.app_current().package == "com.android.settings"
    device.app_stop("com.android.settings")
    assert device.app_current().package == TASKS
    assert TASKS in device.list_packages()
    assert device.list_packages(["-3"]) == []
    info = device.app_info(TASKS)
    assert info is not None
    assert (info.version_name, info.version_code, "SYSTEM" in info.flags) == ("1.0", 1, True)
    assert info.first_install_time is not None
    assert device.app_info("no.such") is None
    assert (device.package_info(TASKS) or {})["package_name"] == TASKS
    device.app_clear(TASKS)
    (tmp_path / "some.apk").write_bytes(b"PK" + secrets.token_bytes(1000))
    with pytest.raises(adbutils.AdbInstallError, match="NO_MATCHING_ABIS"):
        device.install(str(tmp_path / "some.apk"), silent=True)
    with pytest.raises(adbutils.AdbInstallError, match="NO_MATCHING_ABIS"):
        device.install_remote("/data/local/tmp/some.apk")
    assert "Failure" in device.uninstall(TASKS)
    device.open_browser("example.org")
    assert "chrome" in device.app_current().package


def test_touch_and_keys(device: adbutils.AdbDevice) -> None:
    device.app_start(TASKS)
    device.click(*center_of(device.dump_hierarchy(), "Create new task"))
    device.send_keys("from%sadbutils")
    device.keyevent("ENTER")
    assert "from adbutils" in device.dump_hierarchy()
    device.swipe(540, 1500, 540, 500, 0.1)
    device.drag(0.5, 0.6, 0.5, 0.3, 0.1)
    device.click(0.5, 0.1, display_id=0)
    device.volume_up()
    device.volume_down()
    device.volume_mute()
    assert device.shell("settings get system volume_music") == "0"


def test_radios(device: adbutils.AdbDevice) -> None:
    device.switch_wifi(False)
    assert device.shell("settings get global wifi_on") == "0"
    device.switch_wifi(True)
    device.switch_airplane(True)
    assert device.shell("settings get global airplane_mode_on") == "1"
    device.switch_airplane(False)


def test_sockets(device: adbutils.AdbDevice) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        here = device.forward_port(port)
        assert [(row.local, row.remote) for row in device.forward_list()] == [
            (f"tcp:{here}", f"tcp:{port}")
        ]
        device.forward_remove(f"tcp:{here}")
        device.forward("tcp:0", f"tcp:{port}")
        device.forward_remove_all()
        assert device.forward_list() == []
        with device.create_connection(adbutils.Network.TCP, port) as sock:
            other, _ = server.accept()
            with other:
                sock.sendall(b"hello")
                assert other.recv(5) == b"hello"
        device.reverse("tcp:0", f"tcp:{port}")
        (row,) = device.reverse_list()
        with socket.create_connection(("127.0.0.1", int(row.remote[4:])), timeout=5) as sock:
            other, _ = server.accept()
            with other:
                other.sendall(b"back")
                assert sock.recv(4) == b"back"
        device.reverse_remove(row.remote)
        device.reverse("tcp:0", f"tcp:{port}")
        device.reverse_remove_all()
        assert device.reverse_list() == []


def test_log_is_followed(device: adbutils.AdbDevice, tmp_path: Path) -> None:
    mark = secrets.token_hex(8)
    event = device.logcat(tmp_path / "log", clear=True, re_filter=mark)
    stopped = threading.Event()

    def talk() -> None:
        # adbutils' reader checks whether to stop only after a line arrived.
        while not stopped.wait(0.1):
            device.shell(["log", "-t", "Meso", mark])

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        assert wait_until(lambda: mark in (tmp_path / "log").read_text(), timeout_s=20)
    finally:
        event.stop()
        stopped.set()
        talker.join()


class TestScreenRecord:
    def test_screen_recording_is_completed_on_interruption(
        self, device: adbutils.AdbDevice, phone: LocalPhone
    ) -> None:
        goal = phone.root / "data/media/0/film.mp4"
        script = "screenrecord /sdcard/film.mp4 & PID=$!; read ANY; kill -INT $PID; wait"
        with device.open_shell(["sh", "-c", script]) as stream:
            assert wait_until(lambda: goal.is_file() and goal.stat().st_size > 1000, timeout_s=20)
            device.keyevent("APP_SWITCH")
            stream.send(b"\n")
            stream.read_until_close()
        data = goal.read_bytes()
        assert data[4:8] == b"ftyp"
        assert b"moov" in data
        start = data.index(b"\xff\xd8")
        with Image.open(io.BytesIO(data[start:])) as image:
            image.load()
            assert image.size == (540, 1200)

    @pytest.mark.parametrize("options", ["", "--time-limit 181 /sdcard/x", "--size 1x1 /sdcard/x"])
    def test_invalid_calls_fail(self, device: adbutils.AdbDevice, options: str) -> None:
        assert device.shell2(f"screenrecord {options}").returncode == 2


def test_power(device: adbutils.AdbDevice, adb: Adb, phone: LocalPhone) -> None:
    assert b"production builds" in device.root().encode()
    assert "fixed" in device.tcpip(1234)
    device.reboot()
    assert wait_until(
        lambda: adb.run("-s", phone.serial, "shell", "echo", "up").text == "up",
        timeout_s=20,
        every_s=0.2,
    )
    assert json.loads(json.dumps(device.info))["serialno"] == phone.serial
