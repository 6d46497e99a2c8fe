"""What is asked of a phone, in the order of how much rests on it."""

from __future__ import annotations

import hashlib
import re
import shlex
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import GuestCallError, LinkTimeoutError, MachineError, MesocosmError
from appliance.verify.phone import Check
from evaluators.phone.view import PhoneView
from provisioning.phone.adb.screen import read_framebuffer, read_png, read_raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.verify.phone import PhoneUnderTest

FOLDER = "/sdcard/mesocosm-verify"
SETTING = "mesocosm_verify"
SNAPSHOT = "mesocosm_verify"
SETTINGS = "com.android.settings"
_LETTERS = "Grüße, 你好, 🙂 'quoted' \"twice\" $HOME `id` \\ ;|&"
_BYTES = bytes(range(256)) * 4096
_PARALLEL = 8
_LOOPBACK = "127.0.0.1"
_PORT_TIMEOUT_S = 10.0
_SHOW_TIMEOUT_S = 15.0
_VIEW_TIMEOUT_S = 30.0
_SNAPSHOT_TIMEOUT_S = 180.0
_CLOSING = b"UI hierchary dumped to: /dev/tty"
_ATTRIBUTES = ("text", "resource-id", "class", "package", "content-desc", "bounds", "checked")


def _expect(is_so: object, brief: str, details: object = "") -> None:
    if not is_so:
        raise MachineError(brief, details=str(details)[:400])


def _view(phone: PhoneUnderTest) -> PhoneView:
    return PhoneView(phone.device, timeout_s=_VIEW_TIMEOUT_S, clock=phone.clock)


def _front(phone: PhoneUnderTest) -> str:
    return _view(phone).front_activity()[0]


def _show(phone: PhoneUnderTest, command: str, package: str | None) -> None:
    """Run a command and wait until a package is in front, or with None until Settings is not."""
    result = phone.shell(command)
    _expect(result.exit_code == 0, f"{command!r} fails.", result.text)

    def is_shown() -> bool:
        front = _front(phone)
        return front == package if package else front not in {"", SETTINGS}

    shown = wait_until(is_shown, timeout_s=_SHOW_TIMEOUT_S, every_s=0.2, clock=phone.clock)
    _expect(shown, f"{command!r} does not bring {package or 'the home screen'} to the front.")


# --- the link ---


def exit_codes(phone: PhoneUnderTest) -> None:
    """Exit codes and both outputs come apart."""
    result = phone.shell("echo out; echo err >&2; exit 9")
    outcome = (result.exit_code, result.stdout, result.stderr)
    _expect(outcome == (9, b"out\n", b"err\n"), "They do not: shell_v2 is missing.", outcome)


def letters(phone: PhoneUnderTest) -> None:
    """Quoted words reach a command byte by byte."""
    output = phone.shell(shlex.join(["printf", "%s", _LETTERS])).stdout
    _expect(output == _LETTERS.encode(), "They do not.", output)


def binary_output(phone: PhoneUnderTest) -> None:
    """Exec gives a program's bytes unchanged."""
    output = phone.device.read(r"printf '\0\n\r\377\032'")
    _expect(output == b"\0\n\r\xff\x1a", "They are changed.", output)


def much_output(phone: PhoneUnderTest) -> None:
    """Three million bytes come whole."""
    output = phone.device.read("head -c 3000000 /dev/zero", 60.0)
    _expect(output == bytes(3_000_000), "They do not.", len(output))


def deadline(phone: PhoneUnderTest) -> None:
    """A command that hangs can be left, and the next one works."""
    try:
        phone.shell("sleep 30", timeout_s=0.5)
    except LinkTimeoutError:
        _expect(phone.shell("echo next").text == "next", "The next command fails.")
        return
    raise MachineError("sleep 30 ends at once.")


def parallel(phone: PhoneUnderTest) -> None:
    """Eight shells at once keep apart."""

    def echo(number: int) -> str:
        return phone.shell(f"sleep 0.2; echo {number}").text

    with ThreadPoolExecutor(_PARALLEL) as pool:
        outputs = list(pool.map(echo, range(_PARALLEL)))
    _expect(outputs == [str(number) for number in range(_PARALLEL)], "They do not.", outputs)


def ports(phone: PhoneUnderTest) -> None:
    """A port of this host reaches one of the phone, and that one a port of this host."""
    with socket.create_server((_LOOPBACK, 0)) as server:
        server.settimeout(_PORT_TIMEOUT_S)
        own = f"tcp:{server.getsockname()[1]}"
        there = f"tcp:{phone.device.adb('reverse', 'tcp:0', own).require().text}"
        try:
            here = f"tcp:{phone.device.adb('forward', 'tcp:0', there).require().text}"
            try:
                _talk(int(here.removeprefix("tcp:")), server)
            finally:
                phone.device.adb("forward", "--remove", here)
        finally:
            phone.device.adb("reverse", "--remove", there)
    left = phone.device.adb("reverse", "--list").text + phone.device.adb("forward", "--list").text
    _expect(there not in left, "It is listed after it was removed.", left)


def _talk(port: int, server: socket.socket) -> None:
    """Send bytes through a port to a server, and back."""
    try:
        with socket.create_connection((_LOOPBACK, port), _PORT_TIMEOUT_S) as near:
            far, _ = server.accept()
            with far:
                far.settimeout(_PORT_TIMEOUT_S)
                for sender, receiver in ((near, far), (far, near)):
                    sender.sendall(_LETTERS.encode())
                    received = receiver.recv(len(_LETTERS.encode()), socket.MSG_WAITALL)
                    _expect(received == _LETTERS.encode(), "Other bytes arrive.", received)
    except OSError as exc:
        raise MachineError("They do not.", details=str(exc)) from exc


# --- files ---


def files(phone: PhoneUnderTest) -> None:
    """A file of 1 MiB with any bytes comes back, and the phone sees the same one."""
    path = f"{FOLDER}/Größe 你好.bin"
    try:
        phone.device.put(path, _BYTES)
        _expect(phone.device.get(path) == _BYTES, "It comes back changed.")
        entry = phone.device.stat(path)
        _expect(entry and entry.size_bytes == len(_BYTES), "stat is wrong.", entry)
        _expect(_view(phone).file(path) == _BYTES, "The shell sees another file.")
        digests = phone.shell(f"sha256sum {shlex.quote(path)}").text.split()[:1]
        _expect(digests == [hashlib.sha256(_BYTES).hexdigest()], "sha256sum differs.", digests)
        _expect(_view(phone).folder(FOLDER) == ["Größe 你好.bin"], "The folder lists others.")
    finally:
        phone.shell(f"rm -rf {FOLDER}")
    _expect(phone.device.stat(path) is None, "stat knows a file that is gone.")


def no_file(phone: PhoneUnderTest) -> None:
    """A file that is not there is told from an empty one."""
    try:
        phone.device.get(f"{FOLDER}/none")
    except GuestCallError:
        _expect(_view(phone).file(f"{FOLDER}/none") is None, "The shell sees one.")
        return
    raise MachineError("It reads as a file.")


# --- the system ---


def properties(phone: PhoneUnderTest) -> None:
    """It is booted, and tells its model and its Android."""
    _expect(phone.shell("getprop sys.boot_completed").text == "1", "It is not booted.")
    for name, pattern in (("ro.build.version.sdk", r"\d{2}"), ("ro.product.model", r".+")):
        output = phone.shell(f"getprop {name}").text
        _expect(re.fullmatch(pattern, output), f"{name} is {output!r}.")


def unknown_words(phone: PhoneUnderTest) -> None:
    """Unknown commands and services fail in Android's way."""
    _expect(phone.shell("no-such-command").exit_code == 127, "A command does not.")  # noqa: PLR2004
    output = phone.shell("dumpsys no_such_service 2>&1").text
    _expect("Can't find service" in output, "A service does not.", output)
    _expect(phone.shell("input no-such-input").exit_code != 0, "input does not.")


def packages(phone: PhoneUnderTest) -> None:
    """Packages are listed, and each has a path."""
    lines = phone.shell("pm list packages").text.split()
    _expect(f"package:{SETTINGS}" in lines, "Settings is not listed.", lines[:9])
    path = phone.shell(f"pm path {SETTINGS}").text
    _expect(path.startswith("package:/"), "Settings has no path.", path)
    _expect(phone.shell("pm path no.such.package").exit_code != 0, "Any name has a path.")


def settings(phone: PhoneUnderTest) -> None:
    """A setting can be put, read and deleted."""
    try:
        phone.shell(f"settings put global {SETTING} 'a b=c'")
        view = _view(phone)
        _expect(view.setting("global", SETTING) == "a b=c", "It does not read as put.")
        _expect(view.settings("global").get(SETTING) == "a b=c", "It is not listed.")
    finally:
        phone.shell(f"settings delete global {SETTING}")
    _expect(_view(phone).setting("global", SETTING) is None, "It outlives its deletion.")


def battery(phone: PhoneUnderTest) -> None:
    """The battery tells its level."""
    output = phone.shell("dumpsys battery").text
    _expect(re.search(r"^\s*level: \d{1,3}$", output, re.MULTILINE), "It does not.", output)


def log(phone: PhoneUnderTest) -> None:
    """The log can be read without waiting for more."""
    result = phone.shell("logcat -d -t 5")
    _expect(result.exit_code == 0 and result.stdout, "It cannot.", result)


# --- screen and input ---


def pictures(phone: PhoneUnderTest) -> str | None:
    """All ways to a picture that it has give one of the screen's size."""
    size = phone.screen.size()
    png = read_png(phone.device.read("screencap -p", 30.0))
    shape = png.shape[1], png.shape[0]
    _expect(shape in {size, size[::-1]}, "wm size tells another size.", (shape, size))
    missing = []
    ways: dict[str, Callable[[], object]] = {
        "screencap": lambda: read_raw(phone.device.read("screencap", 30.0)).shape,
        "framebuffer:": lambda: (
            read_framebuffer(phone.device.read_service("framebuffer:", 30.0)).shape
        ),
    }
    for name, take in ways.items():
        try:
            picture_shape = take()
        except MesocosmError as exc:
            missing.append(f"{name} ({exc.brief})")
            continue
        _expect(picture_shape == png.shape, f"{name} gives another size.", picture_shape)
    phone.screen.capture()
    return f"not there: {', '.join(missing)}" if missing else None


def density(phone: PhoneUnderTest) -> None:
    """The density is told as current tools parse it."""
    output = phone.shell("wm density").text
    _expect(re.search(r"^Physical density: \d+$", output, re.MULTILINE), "It is not.", output)


def hierarchy(phone: PhoneUnderTest) -> None:
    """The hierarchy is XML with the usual attributes, then the usual closing words."""
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    output = phone.device.read("uiautomator dump /dev/tty", 30.0)
    _expect(output.rstrip().endswith(_CLOSING), "It ends with other words.", output[-80:])
    node = re.search(rb"<node [^>]*>", output)
    names = [name for name in _ATTRIBUTES if node and f"{name}=".encode() in node[0]]
    _expect(names == list(_ATTRIBUTES), "A node lacks attributes.", node and node[0])
    _expect(
        any(element.package == SETTINGS for element in _view(phone).hierarchy()), "It is another's."
    )
    _expect(phone.tree.elements(), "It has no elements.")


def hierarchy_file(phone: PhoneUnderTest) -> None:
    """The hierarchy can be written to a file and pulled."""
    path = "/sdcard/mesocosm-verify.xml"
    try:
        output = phone.shell(f"uiautomator dump {path}", 30.0).text
        _expect(output.endswith(f"UI hierchary dumped to: {path}"), "It says other words.", output)
        _expect(b"</hierarchy>" in phone.device.get(path), "The file holds none.")
    finally:
        phone.device.remove(path)


def activities(phone: PhoneUnderTest) -> None:
    """Start, home and back change what is in front; window and activity agree on it."""
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    focus = phone.shell("dumpsys window | grep mCurrentFocus").text
    _expect(f"{SETTINGS}/" in focus, "mCurrentFocus names another.", focus)
    _show(phone, "input keyevent KEYCODE_HOME", None)
    _show(phone, f"monkey -p {SETTINGS} -c android.intent.category.LAUNCHER 1", SETTINGS)
    _show(phone, "input keyevent 3", None)
    failed = phone.shell("am start -n no.such.package/.Activity 2>&1")
    _expect("Error" in failed.text, "An activity that is not there starts.", failed.text)


def touch(phone: PhoneUnderTest) -> None:
    """A tap on an entry of Settings changes the screen, and back returns."""
    phone.shell(f"am force-stop {SETTINGS}")
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    before = [element.name for element in phone.tree.elements()]
    entries = [element for element in phone.tree.elements() if "clickable" in element.states]
    _expect(entries, "Settings has nothing to tap on.")
    phone.input.click(*entries[-1].bounds.center)

    def is_another() -> bool:
        return [element.name for element in phone.tree.elements()] != before

    changed = wait_until(is_another, timeout_s=_SHOW_TIMEOUT_S, every_s=0.2, clock=phone.clock)
    _expect(changed, f"Nothing changes after a tap on {entries[-1].name!r}.")
    phone.input.key("BACK")
    width, height = phone.screen.size()
    phone.input.drag((width // 2, height * 2 // 3), (width // 2, height // 3))
    phone.input.key("HOME")


# --- what evaluators read ---


def contacts(phone: PhoneUnderTest) -> None:
    """Rows of content providers read as rows."""
    _view(phone).content("content://com.android.contacts/contacts", "display_name")


def telephony(phone: PhoneUnderTest) -> None:
    """Messages, the call log and the state of calls can be read."""
    view = _view(phone)
    view.messages()
    view.calls()
    _expect(view.call_state() in {"idle", "ringing", "offhook"}, "No call state.")


def notices(phone: PhoneUnderTest) -> None:
    """Notifications and toasts can be read."""
    view = _view(phone)
    view.notifications()
    view.last_toast()


# --- snapshots ---


def snapshots(phone: PhoneUnderTest) -> str | None:
    """A snapshot can be saved, listed, loaded and deleted; loading takes back what was done."""
    if phone.console is None:
        return "no console was named"

    def ask(subcommand: str) -> list[str]:
        with phone.console() as console:  # type: ignore[misc]
            return console.run(f"avd snapshot {subcommand}", timeout_s=_SNAPSHOT_TIMEOUT_S)

    ask(f"save {SNAPSHOT}")
    try:
        _expect(any(SNAPSHOT in line for line in ask("list")), "It is not listed.")
        phone.shell(f"settings put global {SETTING} late")
        ask(f"load {SNAPSHOT}")
        phone.device.wait(_SNAPSHOT_TIMEOUT_S)
        kept = _view(phone).setting("global", SETTING)
        _expect(kept is None, "What was done after saving is still there.", kept)
    finally:
        ask(f"delete {SNAPSHOT}")
    _expect(not any(SNAPSHOT in line for line in ask("list")), "It is listed after deletion.")
    return None


def _check(run: Callable[[PhoneUnderTest], str | None]) -> Check:
    return Check(run.__name__.replace("_", " "), (run.__doc__ or "").strip(), run)


CHECKS = tuple(
    _check(run)
    for run in (
        exit_codes,
        letters,
        binary_output,
        much_output,
        deadline,
        parallel,
        ports,
        files,
        no_file,
        properties,
        unknown_words,
        packages,
        settings,
        battery,
        log,
        pictures,
        density,
        hierarchy,
        hierarchy_file,
        activities,
        touch,
        contacts,
        telephony,
        notices,
        snapshots,
    )
)
"""All checks, in order."""
