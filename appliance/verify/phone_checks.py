"""The requirements for a phone, the most fundamental ones first.

The docstring of each check is the requirement that the user sees.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from appliance.verify.phone import Check
from evaluators.phone.view import PhoneView
from foundation.clock import wait_until
from foundation.errors import GuestCallError, LinkTimeoutError, MachineError, MesocosmError
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


def _expect(is_met: object, brief: str, details: object = "") -> None:
    if not is_met:
        raise MachineError(brief, details=str(details)[:400])


def _view(phone: PhoneUnderTest) -> PhoneView:
    return PhoneView(phone.device, timeout_s=_VIEW_TIMEOUT_S, clock=phone.clock)


def _front(phone: PhoneUnderTest) -> str:
    return _view(phone).front_activity()[0]


def _show(phone: PhoneUnderTest, command: str, package: str | None) -> None:
    """Run a command and wait until a package is in front, or, for None, until Settings is not."""
    result = phone.shell(command)
    _expect(result.exit_code == 0, f"{command!r} failed.", result.text)

    def is_shown() -> bool:
        front = _front(phone)
        return front == package if package else front not in {"", SETTINGS}

    shown = wait_until(is_shown, timeout_s=_SHOW_TIMEOUT_S, every_s=0.2, clock=phone.clock)
    _expect(shown, f"{command!r} did not bring {package or 'the home screen'} to the front.")


# --- the link ---


def exit_codes(phone: PhoneUnderTest) -> None:
    """Exit code, standard output and standard error are returned separately."""
    result = phone.shell("echo out; echo err >&2; exit 9")
    outcome = (result.exit_code, result.stdout, result.stderr)
    _expect(
        outcome == (9, b"out\n", b"err\n"), "They are not separate: shell_v2 is missing.", outcome
    )


def letters(phone: PhoneUnderTest) -> None:
    """Quoted arguments reach a command unchanged."""
    output = phone.shell(shlex.join(["printf", "%s", _LETTERS])).stdout
    _expect(output == _LETTERS.encode(), "The argument was changed.", output)


def binary_output(phone: PhoneUnderTest) -> None:
    """Exec returns a program's output unchanged."""
    output = phone.device.read(r"printf '\0\n\r\377\032'")
    _expect(output == b"\0\n\r\xff\x1a", "The output was changed.", output)


def much_output(phone: PhoneUnderTest) -> None:
    """Three million bytes of output arrive completely."""
    output = phone.device.read("head -c 3000000 /dev/zero", 60.0)
    _expect(output == bytes(3_000_000), "The output is incomplete or changed.", len(output))


def deadline(phone: PhoneUnderTest) -> None:
    """A command that hangs can be abandoned, and the next one works."""
    try:
        phone.shell("sleep 30", timeout_s=0.5)
    except LinkTimeoutError:
        _expect(phone.shell("echo next").text == "next", "The next command failed.")
        return
    raise MachineError("sleep 30 ended immediately.")


def parallel(phone: PhoneUnderTest) -> None:
    """Eight parallel shells do not interfere with each other."""

    def echo(number: int) -> str:
        return phone.shell(f"sleep 0.2; echo {number}").text

    with ThreadPoolExecutor(_PARALLEL) as pool:
        outputs = list(pool.map(echo, range(_PARALLEL)))
    expected = [str(number) for number in range(_PARALLEL)]
    _expect(outputs == expected, "The outputs are mixed up.", outputs)


def ports(phone: PhoneUnderTest) -> None:
    """Port forwarding works from this host to the phone, and from the phone to this host."""
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
    _expect(there not in left, "A removed forwarding is still listed.", left)


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
                    _expect(received == _LETTERS.encode(), "Different bytes arrived.", received)
    except OSError as exc:
        raise MachineError("The forwarded connection failed.", details=str(exc)) from exc


# --- files ---


def files(phone: PhoneUnderTest) -> None:
    """A file of 1 MiB with arbitrary bytes can be pushed and pulled, and is the same in the shell."""
    path = f"{FOLDER}/Größe 你好.bin"
    try:
        phone.device.put(path, _BYTES)
        _expect(phone.device.get(path) == _BYTES, "The pulled file differs.")
        entry = phone.device.stat(path)
        _expect(entry and entry.size_bytes == len(_BYTES), "stat is wrong.", entry)
        _expect(_view(phone).file(path) == _BYTES, "The shell reads different content.")
        digests = phone.shell(f"sha256sum {shlex.quote(path)}").text.split()[:1]
        _expect(digests == [hashlib.sha256(_BYTES).hexdigest()], "sha256sum differs.", digests)
        _expect(_view(phone).folder(FOLDER) == ["Größe 你好.bin"], "The folder's listing is wrong.")
    finally:
        phone.shell(f"rm -rf {FOLDER}")
    _expect(phone.device.stat(path) is None, "stat still finds the removed file.")


def no_file(phone: PhoneUnderTest) -> None:
    """A missing file is distinguished from an empty one."""
    try:
        phone.device.get(f"{FOLDER}/none")
    except GuestCallError:
        _expect(_view(phone).file(f"{FOLDER}/none") is None, "The shell reads a missing file.")
        return
    raise MachineError("A missing file can be pulled.")


# --- the system ---


def properties(phone: PhoneUnderTest) -> None:
    """The phone has booted, and reports its model and Android version."""
    _expect(phone.shell("getprop sys.boot_completed").text == "1", "The phone has not booted.")
    for name, pattern in (("ro.build.version.sdk", r"\d{2}"), ("ro.product.model", r".+")):
        output = phone.shell(f"getprop {name}").text
        _expect(re.fullmatch(pattern, output), f"{name} is {output!r}.")


def unknown_words(phone: PhoneUnderTest) -> None:
    """Unknown commands and services fail as on Android."""
    code = phone.shell("no-such-command").exit_code
    _expect(code == 127, "An unknown command does not fail with 127.", code)  # noqa: PLR2004
    output = phone.shell("dumpsys no_such_service 2>&1").text
    _expect("Can't find service" in output, "dumpsys accepts an unknown service.", output)
    _expect(phone.shell("input no-such-input").exit_code != 0, "input accepts an unknown command.")


def packages(phone: PhoneUnderTest) -> None:
    """Packages are listed, and each has a path."""
    lines = phone.shell("pm list packages").text.split()
    _expect(f"package:{SETTINGS}" in lines, "Settings is not listed.", lines[:9])
    path = phone.shell(f"pm path {SETTINGS}").text
    _expect(path.startswith("package:/"), "Settings has no path.", path)
    code = phone.shell("pm path no.such.package").exit_code
    _expect(code != 0, "pm path accepts an unknown package.")


def settings(phone: PhoneUnderTest) -> None:
    """A setting can be written, read and deleted."""
    try:
        phone.shell(f"settings put global {SETTING} 'a b=c'")
        view = _view(phone)
        _expect(view.setting("global", SETTING) == "a b=c", "The setting reads differently.")
        _expect(view.settings("global").get(SETTING) == "a b=c", "The setting is not listed.")
    finally:
        phone.shell(f"settings delete global {SETTING}")
    _expect(_view(phone).setting("global", SETTING) is None, "The setting was not deleted.")


def battery(phone: PhoneUnderTest) -> None:
    """The battery reports its level."""
    output = phone.shell("dumpsys battery").text
    match = re.search(r"^\s*level: \d{1,3}$", output, re.MULTILINE)
    _expect(match, "dumpsys battery shows no level.", output)


def log(phone: PhoneUnderTest) -> None:
    """The log can be read without waiting for new lines."""
    result = phone.shell("logcat -d -t 5")
    _expect(result.exit_code == 0 and result.stdout, "logcat -d failed or is empty.", result)


# --- screen and input ---


def pictures(phone: PhoneUnderTest) -> str | None:
    """All available screenshot methods return a picture of the screen's size."""
    size = phone.screen.size()
    png = read_png(phone.device.read("screencap -p", 30.0))
    shape = png.shape[1], png.shape[0]
    _expect(shape in {size, size[::-1]}, "wm size reports a different size.", (shape, size))
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
        _expect(picture_shape == png.shape, f"{name} has a different size.", picture_shape)
    phone.screen.capture()
    return f"not available: {', '.join(missing)}" if missing else None


def density(phone: PhoneUnderTest) -> None:
    """The density is reported in the format that current tools parse."""
    output = phone.shell("wm density").text
    match = re.search(r"^Physical density: \d+$", output, re.MULTILINE)
    _expect(match, "wm density has another format.", output)


def hierarchy(phone: PhoneUnderTest) -> None:
    """The hierarchy is XML with the usual attributes, followed by the usual closing message."""
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    output = phone.device.read("uiautomator dump /dev/tty", 30.0)
    _expect(output.rstrip().endswith(_CLOSING), "The closing message differs.", output[-80:])
    node = re.search(rb"<node [^>]*>", output)
    names = [name for name in _ATTRIBUTES if node and f"{name}=".encode() in node[0]]
    _expect(names == list(_ATTRIBUTES), "A node lacks attributes.", node and node[0])
    _expect(
        any(element.package == SETTINGS for element in _view(phone).hierarchy()),
        "The hierarchy is not that of Settings.",
    )
    _expect(phone.tree.elements(), "The hierarchy has no elements.")


def hierarchy_file(phone: PhoneUnderTest) -> None:
    """The hierarchy can be written to a file and pulled."""
    path = "/sdcard/mesocosm-verify.xml"
    try:
        output = phone.shell(f"uiautomator dump {path}", 30.0).text
        closing = f"UI hierchary dumped to: {path}"
        _expect(output.endswith(closing), "The message differs.", output)
        _expect(b"</hierarchy>" in phone.device.get(path), "The file contains no hierarchy.")
    finally:
        phone.device.remove(path)


def activities(phone: PhoneUnderTest) -> None:
    """Start, home and back change the front activity, and window and activity dumps agree on it."""
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    focus = phone.shell("dumpsys window | grep mCurrentFocus").text
    _expect(f"{SETTINGS}/" in focus, "mCurrentFocus is not Settings.", focus)
    _show(phone, "input keyevent KEYCODE_HOME", None)
    _show(phone, f"monkey -p {SETTINGS} -c android.intent.category.LAUNCHER 1", SETTINGS)
    _show(phone, "input keyevent 3", None)
    failed = phone.shell("am start -n no.such.package/.Activity 2>&1")
    _expect("Error" in failed.text, "am start accepts a missing activity.", failed.text)


def touch(phone: PhoneUnderTest) -> None:
    """A tap on an entry of Settings changes the screen, and back returns."""
    phone.shell(f"am force-stop {SETTINGS}")
    _show(phone, f"am start -a android.settings.SETTINGS -p {SETTINGS}", SETTINGS)
    before = [element.name for element in phone.tree.elements()]
    entries = [element for element in phone.tree.elements() if "clickable" in element.states]
    _expect(entries, "Settings has no entry to tap.")
    phone.input.click(*entries[-1].bounds.center)

    def is_changed() -> bool:
        return [element.name for element in phone.tree.elements()] != before

    changed = wait_until(is_changed, timeout_s=_SHOW_TIMEOUT_S, every_s=0.2, clock=phone.clock)
    _expect(changed, f"A tap on {entries[-1].name!r} changed nothing.")
    phone.input.key("BACK")
    width, height = phone.screen.size()
    phone.input.drag([(width // 2, height * 2 // 3), (width // 2, height // 3)])
    phone.input.key("HOME")


# --- what evaluators read ---


def contacts(phone: PhoneUnderTest) -> None:
    """Rows of content providers can be read."""
    _view(phone).content("content://com.android.contacts/contacts", "display_name")


def telephony(phone: PhoneUnderTest) -> None:
    """Messages, the call log and the state of calls can be read."""
    view = _view(phone)
    view.messages()
    view.calls()
    _expect(view.call_state() in {"idle", "ringing", "offhook"}, "There is no call state.")


def notices(phone: PhoneUnderTest) -> None:
    """Notifications and toasts can be read."""
    view = _view(phone)
    view.notifications()
    view.last_toast()


# --- snapshots ---


def snapshots(phone: PhoneUnderTest) -> str | None:
    """A snapshot can be saved, listed, loaded and deleted; loading reverts later changes."""
    if phone.console is None:
        return "no console was specified"

    def ask(subcommand: str) -> list[str]:
        with phone.console() as console:  # type: ignore[misc]
            return console.run(f"avd snapshot {subcommand}", timeout_s=_SNAPSHOT_TIMEOUT_S)

    ask(f"save {SNAPSHOT}")
    try:
        _expect(any(SNAPSHOT in line for line in ask("list")), "The snapshot is not listed.")
        phone.shell(f"settings put global {SETTING} late")
        ask(f"load {SNAPSHOT}")
        phone.device.wait(_SNAPSHOT_TIMEOUT_S)
        kept = _view(phone).setting("global", SETTING)
        _expect(kept is None, "A change after saving was not reverted.", kept)
    finally:
        ask(f"delete {SNAPSHOT}")
    is_listed = any(SNAPSHOT in line for line in ask("list"))
    _expect(not is_listed, "The snapshot is still listed after its deletion.")
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
