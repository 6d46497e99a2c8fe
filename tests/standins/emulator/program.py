"""The program ``emulator`` of the stand-in SDK.

As Google's, it refuses an SDK without ``platforms/`` and a virtual device with a lock; its ADB serves
one connection at a time; after a load, open ADB connections never answer again, the clock is that of
the snapshot, and the screen is empty until something is drawn; if it cannot load the snapshot that
it was started with, it boots without an error.

``STANDIN_FAULT``: ``dies-at-boot``, ``refuses-save``, ``forgets-save``, ``ignores-sigterm``, ``starts-cold``.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from images.phone.device import __main__ as daemon
from images.phone.device.commands.base import CommandError
from images.phone.device.commands.catalog import COMMANDS
from images.phone.device.config import DeviceConfig
from images.phone.device.shell.control import install

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.commands.base import Invocation

FAULT = os.environ.get("STANDIN_FAULT", "")
AVD = Path("/data/avd/mesocosm.avd")
GUEST = AVD / "guest"
TOKEN = Path(os.environ.get("HOME", "/")) / ".emulator_console_auth_token"
KEYS = Path("/data/misc/adb/adb_keys")
INNER_CONSOLE, INNER_ADB = 15556, 15557
CONSOLE, ADB = 5556, 5557
BACK_S = -3600.0


class Guest:
    """What a load of a snapshot changes: clock and picture."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self.is_stale = False

    def restore(self) -> None:
        """Go back to the time of the snapshot, and show nothing."""
        self.offset_s, self.is_stale = BACK_S, True


guest = Guest()
pause = threading.Event()
capture = COMMANDS["screencap"]


def run_date(call: Invocation) -> str:
    """Print the time in seconds."""
    if call.args != ["+%s"]:
        raise CommandError("date: only +%s")
    return f"{dt.datetime.now(dt.UTC).timestamp() + guest.offset_s:.0f}\n"


def run_su(call: Invocation) -> str:
    """Set the clock, or repaint the screen."""
    match call.args:
        case ["0", "date", "-u", moment]:
            guest.offset_s = float(moment.removeprefix("@")) - dt.datetime.now(dt.UTC).timestamp()
        case ["0", "service", "call", "SurfaceFlinger", "1004"]:
            guest.is_stale = False
        case _:
            raise CommandError("su: not allowed")
    return ""


def run_screencap(call: Invocation) -> str | bytes:
    """Print the screen as PNG, which is black after a load."""
    if not guest.is_stale:
        return capture(call)
    png = io.BytesIO()
    Image.new("RGB", (1080, 2400)).save(png, "PNG")
    return png.getvalue()


class Front:
    """A port that forwards to the daemon, and whose connections can become stale.

    Args:
        port: port of the emulator.
        inner: port of the daemon.
        at_once: how many connections are served; others wait.
        edit: returns an answer instead of the daemon's to a line, or nothing.
    """

    def __init__(
        self,
        port: int,
        inner: int,
        at_once: int,
        edit: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._inner = inner
        self._has_lines = edit is not None
        self._edit = edit or (lambda _: b"")
        self._places = threading.Semaphore(at_once)
        self._stale: list[threading.Event] = []
        self._server = socket.create_server(("127.0.0.1", port))

    def start(self) -> None:
        """Accept connections."""
        threading.Thread(target=self._accept, daemon=True).start()

    def make_stale(self) -> None:
        """Let all open connections never answer again."""
        for event in self._stale:
            event.set()

    def _accept(self) -> None:
        while True:
            sock, _ = self._server.accept()
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with self._places, sock, contextlib.suppress(OSError):
            stale = threading.Event()
            self._stale.append(stale)
            inner = socket.create_connection(("127.0.0.1", self._inner))
            threading.Thread(target=self._return, args=(inner, sock, stale), daemon=True).start()
            while data := sock.recv(1 << 16):
                for part in data.splitlines(keepends=True) if self._has_lines else [data]:
                    if answer := self._edit(part):
                        sock.sendall(answer)
                    elif not stale.is_set():
                        inner.sendall(part)
            inner.shutdown(socket.SHUT_RDWR)
            inner.close()

    def _return(self, inner: socket.socket, sock: socket.socket, stale: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := inner.recv(1 << 16):
                if not stale.is_set():
                    sock.sendall(data)
            if not stale.is_set():
                sock.shutdown(socket.SHUT_RDWR)


def say(line: str) -> None:
    """Write a line to the log."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ask(line: str) -> str:
    """Send a line to the daemon's console; return all output."""
    with socket.create_connection(("127.0.0.1", INNER_CONSOLE)) as sock:
        sock.sendall(f"auth {TOKEN.read_text()}\n{line}\nquit\n".encode())
        output = b""
        while data := sock.recv(1 << 16):
            output += data
    return output.decode()


def resume(snapshot: str) -> None:
    """Load the snapshot of the command line; the emulator only logs that it could not."""
    if snapshot and FAULT != "starts-cold":
        say(f"load: {'KO' not in ask(f'avd snapshot load {snapshot}')}")
        guest.restore()


def serve(ready: Path, snapshot: str) -> None:
    """Open the emulator's ports once the daemon runs."""
    while not ready.exists():
        pause.wait(0.05)
    adb = Front(ADB, INNER_ADB, 1)

    def edit(data: bytes) -> bytes:
        if b"avd snapshot save" in data and FAULT in {"refuses-save", "forgets-save"}:
            pause.wait(0.5)  # the answers to the lines before come first
        if b"avd snapshot save" in data and FAULT == "refuses-save":
            return b"KO: Snapshot save failed: not enough disk space\r\n"
        if b"avd snapshot save" in data and FAULT == "forgets-save":
            return b"OK\r\n"
        if b"avd snapshot load" in data:
            adb.make_stale()
            guest.restore()
        return b""

    resume(snapshot)
    if FAULT == "dies-at-boot":
        say("FATAL | qemu-system-x86_64: the guest has not initialized the display")
        os._exit(1)
    Front(CONSOLE, INNER_CONSOLE, 16, edit).start()
    adb.start()
    notify()


def notify() -> None:
    """Announce the phone to an adb server; one that starts later looks for it."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 5037)) as sock:
        sock.sendall(b"0012host:emulator:5557")
        sock.recv(4)


def panic(message: str) -> None:
    """End as the emulator does."""
    sys.exit(f"PANIC: {message}")


def main() -> None:
    """Check what the emulator checks, then run the phone."""
    options = sys.argv[1:]
    COMMANDS.update(date=run_date, su=run_su, screencap=run_screencap, locksettings=lambda _: "")
    if "--install" in options:
        config = DeviceConfig(Path("/"), GUEST, Path("/system/bin"))
        install(COMMANDS, config.commands_dir, config.socket)
        return
    sdk = Path(os.environ["ANDROID_SDK_ROOT"])
    if not (sdk / "platforms").is_dir():
        panic(f"Broken AVD system path. Check your ANDROID_SDK_ROOT value [{sdk}]!")
    if not AVD.is_dir():
        panic("Unknown AVD name [mesocosm]")
    lock = AVD / "hardware-qemu.ini.lock"
    if lock.exists():
        sys.exit("ERROR | Running multiple emulators with the same AVD is an experimental feature.")
    lock.write_text(str(os.getpid()))
    for path in GUEST.glob("phone.db*"):
        path.unlink()
    for folder in ("media", "local"):
        shutil.rmtree(Path("/data") / folder, ignore_errors=True)
    KEYS.parent.mkdir(parents=True, exist_ok=True)
    if not TOKEN.exists():
        TOKEN.write_text("0123456789abcdef")
    key = TOKEN.parent / ".android/adbkey.pub"
    os.environ["MESOCOSM_ADB_KEYS"] = key.read_text() if key.exists() else ""
    os.environ["MESOCOSM_CONSOLE_TOKEN"] = TOKEN.read_text()
    ready = Path(tempfile.mkdtemp()) / "ready.json"
    snapshot = options[options.index("-snapshot") + 1] if "-snapshot" in options else ""
    threading.Thread(target=serve, args=(ready, snapshot), daemon=True).start()
    if FAULT == "ignores-sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal = lambda *_: None
    ports = ["--adb-port", str(INNER_ADB), "--console-port", str(INNER_CONSOLE)]
    config, _ = daemon.parse(["--state", str(GUEST), "--keys", str(KEYS), *ports])
    daemon.run(config, ready)
    lock.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
