from __future__ import annotations

import struct
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from foundation.clock import wait_until
from images.phone.device.apps.directory import LAUNCHER, TASKS
from images.phone.device.commands.catalog import Commands
from images.phone.device.commands.record import Film
from images.phone.device.config import DeviceConfig
from images.phone.device.console_commands import ConsoleCommands, RefusedError
from images.phone.device.machine import PhoneMachine
from images.phone.device.phone import Phone
from images.phone.device.processes import Processes
from images.phone.device.store.database import Store
from tests.standins.local_phone import center_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETTINGS = "com.android.settings"
MESSAGES = "com.google.android.apps.messaging"
CONTACTS_PERMISSION = "android.permission.READ_CONTACTS"


class Shell:
    """The phone's commands and console, without ADB."""

    def __init__(self, folder: Path) -> None:
        self.config = DeviceConfig(folder, folder / "state", folder / "bin")
        self.config.make_folders()
        self.phone = Phone(Store(self.config.database), folder)
        machine = PhoneMachine(self.config, self.phone, Processes())
        self.commands = Commands(self.phone, self.config, machine)
        self.console = ConsoleCommands("reference_phone", machine, self.phone).known

    def close(self) -> None:
        self.phone.store.close()

    def __call__(self, *args: str) -> str:
        """Run a command that succeeds."""
        result = self.commands.run(list(args), self.config.root)
        assert result.exit_code == 0, result.stderr
        return result.stdout.decode()

    def fail(self, *args: str) -> str:
        """Run a command that fails."""
        result = self.commands.run(list(args), self.config.root)
        assert result.exit_code != 0, result.stdout
        return result.stderr.decode()

    def rows(self, uri: str, *args: str) -> list[str]:
        """Query a provider."""
        return self("content", "query", "--uri", uri, *args).splitlines()


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Shell]:
    with closing(Shell(tmp_path)) as opened:
        yield opened


class TestContent:
    SMS = "content://sms"

    @pytest.fixture(autouse=True)
    def _filled(self, phone: Shell) -> None:
        for number, (address, body) in enumerate(
            (("+1555", "b, x=1"), ("+1666", "a"), ("+1555", "c"))
        ):
            binds = [f"address:s:{address}", f"body:s:{body}", f"date:l:{1000 + number}"]
            args = [word for bind in binds for word in ("--bind", bind)]
            phone("content", "insert", "--uri", self.SMS, *args)

    def test_conditions_are_sql(self, phone: Shell) -> None:
        query = ("--projection", "_id", "--where")
        for where, ids in (
            ("address='+1555' AND date > 1000", [3]),
            ("body LIKE 'B%' OR _id IN (2)", [1, 2]),
            ("_id='2'", [2]),
            ("length(body) = 1 and not address = '+1666'", [3]),
        ):
            wanted = [f"Row: {place} _id={number}" for place, number in enumerate(ids)]
            assert phone.rows(self.SMS, *query, where) == wanted
        rows = phone.rows(self.SMS, "--projection", "body", "--sort", "date DESC")
        assert rows == ["Row: 0 body=c", "Row: 1 body=a", "Row: 2 body=b, x=1"]

    @pytest.mark.parametrize(
        "where",
        [
            "nosuch=1",
            "1=1) UNION SELECT 1 FROM sqlite_master --",
            "randomblob(1000000000)",
            "load_extension('x')",
            "(WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM t) SELECT count(*) FROM t)",
            "_id=1; DROP TABLE data",
            "'" + "x" * 5000 + "'",
        ],
    )
    def test_invalid_condition_is_rejected(self, phone: Shell, where: str) -> None:
        assert "[ERROR]" in phone.fail("content", "query", "--uri", self.SMS, "--where", where)

    def test_matching_rows_are_changed_and_deleted(self, phone: Shell) -> None:
        where = ("--uri", self.SMS, "--where", "address='+1555'")
        phone("content", "update", *where, "--bind", "read:i:1")
        assert len(phone.rows(self.SMS, "--where", "read=1")) == 2
        phone("content", "delete", *where)
        assert phone.rows(self.SMS, "--projection", "body") == ["Row: 0 body=a"]

    def test_calls_events_and_media_are_available(self, phone: Shell) -> None:
        calls, events = "content://call_log/calls", "content://com.android.calendar/events"
        phone("content", "insert", "--uri", calls, "--bind", "number:s:123", "--bind", "type:i:3")
        assert "number=123" in phone.rows(calls, "--where", "type=3")[0]
        binds = ("--bind", "title:s:Dentist", "--bind", "dtstart:l:1", "--bind", "dtend:l:2")
        phone("content", "insert", "--uri", events, *binds)
        assert "title=Dentist" in phone.rows(events)[0]
        picture = phone.config.root / "data/media/0/Pictures/red.png"
        Image.new("RGB", (3, 2), "red").save(picture)
        media = "content://media/external/images/media"
        (row,) = phone.rows(media, "--where", "_display_name='red.png'")
        assert "_data=/storage/emulated/0/Pictures/red.png" in row
        assert "width=3, height=2" in row
        phone("content", "delete", "--uri", media, "--where", "_display_name='red.png'")
        assert not picture.exists()


class TestPackages:
    def test_permission_is_granted_and_revoked(self, phone: Shell) -> None:
        phone("pm", "grant", SETTINGS, CONTACTS_PERMISSION)
        output = phone("dumpsys", "package", SETTINGS)
        assert f"{CONTACTS_PERMISSION}: granted=true" in output
        phone("cmd", "package", "revoke", SETTINGS, CONTACTS_PERMISSION)
        assert f"{CONTACTS_PERMISSION}: granted=false" in phone("pm", "dump", SETTINGS)
        assert "Unknown package" in phone.fail("pm", "grant", "no.such", CONTACTS_PERMISSION)
        assert "Unknown permission" in phone.fail("pm", "grant", SETTINGS, "x")

    def test_clear_deletes_application_data(self, phone: Shell) -> None:
        phone.phone.telephony.receive_sms("+1555", "hello")
        phone("pm", "grant", MESSAGES, CONTACTS_PERMISSION)
        assert phone("pm", "clear", MESSAGES) == "Success\n"
        assert phone.rows("content://sms") == ["No result found."]
        assert CONTACTS_PERMISSION not in phone("dumpsys", "package", MESSAGES)

    def test_nothing_can_be_installed_or_removed(self, phone: Shell) -> None:
        assert "INSTALL_FAILED" in phone.fail("pm", "install", "-r", "/sdcard/x.apk")
        assert "DELETE_FAILED" in phone.fail("pm", "uninstall", SETTINGS)
        assert phone.fail("pm", "path", "no.such") == ""


class TestServices:
    def test_clipboard_is_stored_and_pasted(self, phone: Shell) -> None:
        phone("cmd", "clipboard", "set-primary-clip", "größe", "2")
        assert phone("cmd", "clipboard", "get-primary-clip") == "größe 2\n"

    def test_notification_is_posted_and_listed(self, phone: Shell) -> None:
        phone("cmd", "notification", "post", "-t", "Title", "tag", "some", "text")
        output = phone("dumpsys", "notification", "--noredact")
        assert "pkg=com.android.shell user=UserHandle{0} id=1 tag=tag" in output
        assert "android.title=String (Title)\n        android.text=String (some text)" in output
        assert phone("cmd", "notification", "list") == "0|com.android.shell|1|tag|2000\n"

    def test_shade_takes_the_focus(self, phone: Shell) -> None:
        phone("cmd", "statusbar", "expand-notifications")
        assert "NotificationShade}" in phone("dumpsys", "window")
        phone("am", "broadcast", "-a", "android.intent.action.CLOSE_SYSTEM_DIALOGS")
        assert "NotificationShade}" not in phone("dumpsys", "window")

    def test_radios_are_switched(self, phone: Shell) -> None:
        phone("svc", "wifi", "disable")
        assert phone("cmd", "wifi", "status") == "Wifi is disabled\n"
        assert "Wi-Fi is disabled" in phone("dumpsys", "wifi")
        phone("cmd", "wifi", "set-wifi-enabled", "enabled")
        assert "Wi-Fi is enabled" in phone("dumpsys", "wifi")

    def test_unknown_services_fail_as_on_android(self, phone: Shell) -> None:
        assert phone.commands.run(["cmd", "nonsense"], phone.config.root).exit_code == 20
        assert phone.fail("dumpsys", "nonsense") == "Can't find service: nonsense\n"
        assert "Unknown command" in phone.fail("pm", "nonsense")
        assert "unknown command" in phone.fail("am", "nonsense")


class TestActivities:
    def test_address_opens_the_application_that_handles_it(self, phone: Shell) -> None:
        output = phone("am", "start", "-a", "android.intent.action.DIAL", "-d", "tel:5551234")
        assert output == "Starting: Intent { act=android.intent.action.DIAL dat=tel:5551234 }\n"
        assert "dialer" in phone("dumpsys", "activity", "activities").splitlines()[2]
        assert "unable to resolve" in phone.fail("am", "start", "-d", "nonsense:x")

    def test_extras_reach_the_opened_application(self, phone: Shell) -> None:
        send = ("am", "start", "-a", "android.intent.action.SENDTO", "-d", "smsto:5551234")
        phone(*send, "--es", "sms_body", "On my way", "--ez", "exit_on_sent", "true")
        assert 'text="On my way"' in phone("uiautomator", "dump", "/dev/tty")
        assert phone.fail(*send, "--es", "sms_body").startswith("Error: Argument expected")

    def test_activity_starts_are_logged(self, phone: Shell) -> None:
        phone("am", "start", "-p", SETTINGS)
        output = phone("logcat", "-d", "-v", "brief", "-s", "ActivityTaskManager:I")
        assert f"START u0 {{pkg={SETTINGS}}} from uid 2000" in output
        assert f"Displayed {SETTINGS}/" in output


class TestInput:
    def field(self, phone: Shell) -> None:
        phone("am", "start", "-a", "android.intent.action.DIAL", "-d", "tel:1")

    def test_volume_keys_change_the_volume(self, phone: Shell) -> None:
        phone("input", "keyevent", "KEYCODE_VOLUME_UP", "24")
        assert phone("settings", "get", "system", "volume_music") == "7\n"
        phone("input", "keyevent", "VOLUME_MUTE")
        assert phone("settings", "get", "system", "volume_music") == "0\n"

    def test_keys_open_applications_and_the_shade(self, phone: Shell) -> None:
        phone("input", "keyevent", "KEYCODE_CONTACTS")
        assert "contacts" in phone("dumpsys", "window")
        phone("input", "keyevent", "83")
        assert "NotificationShade}" in phone("dumpsys", "window")

    def test_coordinates_beyond_the_edge_are_clamped(self, phone: Shell) -> None:
        phone("wm", "user-rotation", "lock", "1")
        assert phone("wm", "user-rotation") == "lock 1\n"
        assert "orientation=1" in phone("dumpsys", "display")
        phone("input", "tap", "99999", "-5")
        assert phone.fail("input", "tap", "nan", "1")

    def test_forced_size_and_density_are_shown_used_and_reset(self, phone: Shell) -> None:
        phone("am", "start", "-p", SETTINGS)
        phone("wm", "size", "720x1600")
        phone("wm", "density", "280")
        assert phone("wm", "size").splitlines()[1] == "Override size: 720x1600"
        assert phone("wm", "density").splitlines()[1] == "Override density: 280"
        assert "cur=720x1600" in phone("dumpsys", "window")
        raw = phone.commands.run(["screencap"], phone.config.root).stdout
        assert struct.unpack_from("<2I", raw) == (720, 1600)
        assert 'bounds="[0,0][720,1600]"' in phone("uiautomator", "dump", "/dev/tty")
        x, y = center_of(phone.phone.compositor.dump(), "About phone")
        phone("input", "tap", str(x), str(y))
        assert "Model" in phone.phone.compositor.dump()
        phone("wm", "user-rotation", "lock", "1")
        raw = phone.commands.run(["screencap"], phone.config.root).stdout
        assert struct.unpack_from("<2I", raw) == (1600, 720)
        phone("wm", "size", "reset")
        phone("wm", "density", "reset")
        assert phone("wm", "size") == "Physical size: 1080x2400\n"
        assert phone("wm", "density") == "Physical density: 420\n"

    @pytest.mark.parametrize(
        "args", ["size 0x0", "size 9999x9999", "size 720", "size ²x²", "density 10", "density x"]
    )
    def test_impossible_screen_size_or_density_is_rejected(self, phone: Shell, args: str) -> None:
        before = phone("wm", "size"), phone("wm", "density")
        assert phone.fail("wm", *args.split()).startswith("Error: ")
        assert (phone("wm", "size"), phone("wm", "density")) == before

    def test_invalid_screen_settings_are_ignored(self, phone: Shell) -> None:
        for setting in ("99999,99999", "0,0", "x", "²,²", "1,99999", ""):
            phone("settings", "put", "global", "display_size_forced", setting)
            phone("settings", "put", "secure", "display_density_forced", setting.split(",")[0])
            assert phone("wm", "size") == "Physical size: 1080x2400\n"
            assert phone("wm", "density") == "Physical density: 420\n"

    def test_raw_and_compressed_pictures_are_the_same(self, phone: Shell, tmp_path: Path) -> None:
        raw = phone.commands.run(["screencap"], phone.config.root).stdout
        width, height, form, _ = struct.unpack_from("<4I", raw)
        assert (width, height, form) == (1080, 2400, 1)
        phone("screencap", "-p", "/sdcard/s.png")
        with Image.open(tmp_path / "sdcard/s.png") as image:
            assert image.convert("RGBA").tobytes() == raw[16:]

    def test_frame_number_grows_only_when_the_picture_changes(self, phone: Shell) -> None:
        before = phone("dumpsys", "reference_phone", "frame")
        assert phone("dumpsys", "reference_phone", "frame") == before
        phone("am", "start", "-p", SETTINGS)
        assert phone("dumpsys", "reference_phone", "frame") != before

    def test_pending_work_is_reported(self, phone: Shell) -> None:
        may_end = threading.Event()

        def work() -> Callable[[], None]:
            assert may_end.wait(10)
            return lambda: None

        assert "pending=0" in phone("dumpsys", "reference_phone", "frame")
        phone.phone.in_background(work)
        assert "pending=1" in phone("dumpsys", "reference_phone", "frame")
        may_end.set()
        assert wait_until(lambda: phone.phone.pending == 0, timeout_s=10)


class TestRandomTouches:
    def test_monkey_stays_in_allowed_packages_and_is_repeatable(self, phone: Shell) -> None:
        argv = ("monkey", "-p", SETTINGS, "-p", "com.google.android.keep", "-s", "7", "-v", "60")
        assert ":Monkey: seed=7 count=60" in phone(*argv)
        assert "Events injected: 60" in phone(*argv)
        assert phone.phone.stack.front.package in {SETTINGS, "com.google.android.keep", LAUNCHER}
        assert len(phone.phone.stack.tasks) > 1

    @pytest.mark.parametrize("args", ["", "0", "x", "-p", "-p no.such 1", "-s x 1", "99999999"])
    def test_invalid_calls_fail(self, phone: Shell, args: str) -> None:
        assert phone.commands.run(["monkey", *args.split()], phone.config.root).exit_code == 252


class TestBattery:
    def test_forced_battery_values_are_reported(self, phone: Shell) -> None:
        phone("dumpsys", "battery", "set", "level", "7")
        phone("cmd", "battery", "unplug")
        output = phone("dumpsys", "battery")
        assert "  level: 7\n" in output
        assert "AC powered: false" in output
        assert phone("cmd", "battery", "get", "level") == "7\n"
        phone("dumpsys", "battery", "reset")
        assert "  level: 100\n" in phone("dumpsys", "battery")

    @pytest.mark.parametrize("args", ["set level 101", "set level -1", "set x 1", "set ac 2"])
    def test_impossible_battery_value_is_rejected(self, phone: Shell, args: str) -> None:
        assert "Battery service" in phone.fail("cmd", "battery", *args.split())


class TestSmallServices:
    def test_single_input_method_is_listed_and_selected(self, phone: Shell) -> None:
        method = phone("ime", "list", "-s").strip()
        assert f"mCurMethodId={method}" in phone("dumpsys", "input_method")
        assert phone("ime", "set", method) == f"Input method {method} selected for user #0\n"
        assert "cannot be selected" in phone.fail("ime", "set", "no.such/.Method")

    def test_airplane_mode_is_switched(self, phone: Shell) -> None:
        phone("cmd", "connectivity", "airplane-mode", "enable")
        assert phone("settings", "get", "global", "airplane_mode_on") == "1\n"
        assert phone("cmd", "connectivity", "airplane-mode") == "enabled\n"

    def test_theme_bluetooth_and_orientation_are_dumped(self, phone: Shell) -> None:
        phone("cmd", "uimode", "night", "yes")
        phone("wm", "user-rotation", "lock", "3")
        assert "mNightMode=2 (yes)" in phone("dumpsys", "uimode")
        assert "name: Reference phone" in phone("dumpsys", "bluetooth_manager")
        assert "SurfaceOrientation: 3" in phone("dumpsys", "input")


class TestFingers:
    def test_finger_is_put_down_moved_and_lifted(self, phone: Shell) -> None:
        phone("am", "start", "-p", SETTINGS)
        x, y = center_of(phone.phone.compositor.dump(), "About phone")
        phone("input", "motionevent", "DOWN", str(x), str(y))
        assert "Model" not in phone.phone.compositor.dump()
        phone("input", "motionevent", "UP", str(x), str(y))
        assert "Model" in phone.phone.compositor.dump()

    def test_moving_finger_drags(self, phone: Shell) -> None:
        for kind, y in (("DOWN", 10), ("MOVE", 400), ("UP", 900)):
            phone("input", "motionevent", kind, "540", str(y))
        assert "NotificationShade}" in phone("dumpsys", "window")

    def test_cancelled_touch_does_nothing(self, phone: Shell) -> None:
        for kind in ("DOWN", "CANCEL", "UP"):
            phone("input", "motionevent", kind, "540", "10")
        assert "NotificationShade}" not in phone("dumpsys", "window")
        assert phone.fail("input", "motionevent", "JUMP", "1", "1")

    def test_wheel_scrolls(self, phone: Shell) -> None:
        for number in range(40):
            phone(
                "content",
                "insert",
                "--uri",
                f"content://{TASKS}/tasks",
                "--bind",
                f"title:s:T{number}.",
            )
        phone("am", "start", "-p", TASKS)
        before = phone.phone.compositor.dump()
        phone("input", "scroll", "540", "1200", "--axis", "VSCROLL,-3")
        assert phone.phone.compositor.dump() != before
        phone("input", "scroll", "540", "1200", "--axis", "VSCROLL,3")
        assert phone.phone.compositor.dump() == before

    def test_trackball_events_are_accepted_and_ignored(self, phone: Shell) -> None:
        for action in ("press", "roll 1 -1"):
            assert phone("input", *action.split()) == ""


@pytest.mark.slow
def test_reboot_closes_everything(phone: Shell) -> None:
    phone("am", "start", "-p", SETTINGS)
    phone("cmd", "notification", "post", "tag", "text")
    phone("reboot")
    assert "nexuslauncher" in phone("dumpsys", "window")
    assert phone("cmd", "notification", "list") == ""
    assert "recovery" in phone.fail("reboot", "recovery")


class TestConsole:
    def say(self, phone: Shell, line: str) -> str:
        name, _, rest = line.partition(" ")
        return phone.console[name](rest)

    def test_message_is_received(self, phone: Shell) -> None:
        self.say(phone, r"sms send +1555 hello  w\u00f6rld\n2")
        phone.phone.compositor.screenshot()
        (row,) = phone.phone.store.rows("SELECT address, body, type FROM sms")
        assert row == {"address": "+1555", "body": "hello  wörld\n2", "type": 1}
        assert "hello  wörld" in phone("dumpsys", "notification")

    def test_call_rings_is_accepted_and_ends(self, phone: Shell) -> None:
        def state() -> str:
            return phone("dumpsys", "telephony.registry").splitlines()[1].strip()

        self.say(phone, "gsm call 5551234")
        assert state() == "mCallState=1"
        assert self.say(phone, "gsm list") == "inbound from  5551234    : incoming\n"
        with pytest.raises(RefusedError, match="busy"):
            self.say(phone, "gsm call 1")
        self.say(phone, "gsm accept 5551234")
        self.say(phone, "gsm hold 5551234")
        assert self.say(phone, "gsm list").endswith(": held\n")
        self.say(phone, "gsm accept 5551234")
        assert self.say(phone, "gsm list").endswith(": active\n")
        assert state() == "mCallState=2"
        with pytest.raises(RefusedError, match="no current call"):
            self.say(phone, "gsm cancel 999")
        self.say(phone, "gsm cancel 5551234")
        assert state() == "mCallState=0"

    def test_unanswered_call_is_missed(self, phone: Shell) -> None:
        self.say(phone, "gsm call 5551234")
        self.say(phone, "gsm cancel 5551234")
        assert "type=3" in phone.rows("content://call_log/calls")[0]

    def test_location_and_power_are_reported(self, phone: Shell) -> None:
        self.say(phone, "geo fix 7.4474 46.9480")
        assert "gps 46.948000,7.447400" in phone("dumpsys", "location")
        for line in ("power capacity 12", "power ac off", "power status discharging"):
            self.say(phone, line)
        assert "level: 12\n" in phone("dumpsys", "battery")
        output = self.say(phone, "power display")
        assert "AC: offline\nstatus: Discharging\nhealth: Good" in output

    def test_phone_is_rotated(self, phone: Shell) -> None:
        phone("wm", "user-rotation", "free")
        self.say(phone, "rotate")
        assert phone.phone.display.rotation == 1

    @pytest.mark.parametrize(
        "line",
        [
            "geo fix 200 0",
            "geo fix nan 0",
            "geo fix x y",
            "gsm call",
            "gsm call 1;2",
            "power capacity 101",
            "power status odd",
            "rotate twice",
            "sms send +1555",
            "sms send a;b text",
            "event send EV_KEY:1",
            "avd snapshot save ../x",
            "avd",
        ],
    )
    def test_invalid_command_is_rejected(self, phone: Shell, line: str) -> None:
        with pytest.raises(Exception, match=r"\w") as caught:
            self.say(phone, line)
        assert type(caught.value).__name__ in {"RefusedError", "SnapshotRefusedError"}


def boxes(data: bytes) -> dict[bytes, bytes]:
    """Parse the boxes of an MP4 file, or of a container box."""
    contents, place = {}, 0
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        contents[kind] = data[place + 8 : place + length]
        place += length
    return contents


def test_screen_recording_shows_every_frame_for_its_duration(tmp_path: Path) -> None:
    film = Film(tmp_path / "a.mp4", (54, 120))
    colors = ((255, 0, 0, 255), (0, 0, 255, 255))
    for number, color in enumerate(colors):
        pixels = Image.new("RGBA", (1080, 2400), color).tobytes()
        film.add((1080, 2400, pixels), number * 0.5)
    film.close(2.0)
    data = (tmp_path / "a.mp4").read_bytes()
    top = boxes(data)
    assert list(top) == [b"ftyp", b"mdat", b"moov"]
    media = boxes(boxes(boxes(top[b"moov"])[b"trak"])[b"mdia"])
    tables = boxes(boxes(media[b"minf"])[b"stbl"])
    assert struct.unpack(">6I", tables[b"stts"])[2:] == (1, 500, 1, 1500)
    places = struct.unpack_from(">2I", tables[b"stco"], 8)
    sizes = struct.unpack_from(">2I", tables[b"stsz"], 12)
    for place, size, color in zip(places, sizes, colors, strict=True):
        (tmp_path / "frame.jpg").write_bytes(data[place : place + size])
        with Image.open(tmp_path / "frame.jpg") as image:
            assert image.size == (54, 120)
            middle = image.convert("RGB").getpixel((27, 60))
            assert isinstance(middle, tuple)
            assert all(abs(a - b) < 12 for a, b in zip(middle, color, strict=False))


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(max_size=20), max_size=6))
def test_random_arguments_crash_no_command(phone: Shell, args: list[str]) -> None:
    for name in ("am", "cmd", "content", "dumpsys", "input", "log", "logcat", "pm", "wm"):
        result = phone.commands.run([name, *args], phone.config.root)
        assert 0 <= result.exit_code <= 255
