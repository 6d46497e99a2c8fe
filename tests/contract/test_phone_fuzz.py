"""Fuzz tests of the reference phone: it keeps running, and its memory stays bounded.

For a release, run ``MESOCOSM_TEST_FUZZ_MESSAGES=100000 MESOCOSM_TEST_FUZZ_LINES=20000
pytest tests/contract/test_phone_fuzz.py``; the default counts are smaller.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from images.phone.device.commands.catalog import COMMANDS
from images.phone.device.commands.keycodes import KEYS_BY_NUMBER
from images.phone.device.streams import shell_protocol, wire
from images.phone.device.streams.shell_protocol import CLOSE_STDIN
from tests.standins.local_phone import LocalPhone
from tests.standins.raw_adb import RawHost, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.adb, pytest.mark.timeout(900)]

MESSAGES = int(os.environ.get("MESOCOSM_TEST_FUZZ_MESSAGES", "6000"))
LINES = int(os.environ.get("MESOCOSM_TEST_FUZZ_LINES", "600"))
MAX_RSS_KIB = 220 << 10
_BATCH = 300
_COMMANDS = sorted(wire.COMMANDS)
_SERVICES = (
    "framebuffer:",
    "jdwp",
    "nonsense:",
    "reboot:bootloader",
    "reverse:forward:tcp:0;tcp:1",
    "reverse:killforward-all",
    "reverse:list-forward",
    "root:",
    "shell,v2,pty:true",
    "shell,v2,raw:cat",
    "shell:",
    "shell:wm size",
    "sync:",
    "tcp:1",
    "tcpip:5555",
    "track-app",
    "track-jdwp",
)
_SYNC = (b"STAT", b"STA2", b"LST2", b"LIST", b"LIS2", b"RECV", b"RCV2", b"SEND", b"SND2", b"DATA")


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[LocalPhone]:
    local_phone = LocalPhone(tmp_path)
    yield local_phone
    local_phone.close()


class Vitals:
    """Resources of the daemon's process."""

    def __init__(self, pid: int) -> None:
        self._folder = Path("/proc", str(pid))

    def status(self, key: str) -> int:
        """Return a value of ``/proc/PID/status``, such as VmRSS in KiB."""
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1])
        raise KeyError(key)

    def report(self) -> str:
        """Return all resources as text."""
        names = ("VmRSS", "VmHWM", "Threads")
        figures = ", ".join(f"{name} {self.status(name)}" for name in names)
        return f"{figures}, files {self.files()}"

    def files(self) -> int:
        """Count open files."""
        return len(list((self._folder / "fd").iterdir()))


def odd_message(chance: random.Random) -> wire.Message:
    """Return a message that may be meaningless, but does not close the connection."""
    command = chance.choice((wire.OPEN, wire.OKAY, wire.WRTE, wire.WRTE, wire.CLSE))
    args = [chance.choice((1, 2, 3, 5, 9, 0xFFFFFFFF, chance.getrandbits(32))) for _ in "01"]
    payload = chance.randbytes(chance.choice((0, 0, 1, 4, 20, 60, 300)))
    if command == wire.OPEN:
        args = [chance.randrange(1, 6), chance.choice((0, 0, 0, 0, 7))]
        payload = chance.choice(_SERVICES).encode() + chance.choice((b"\0", b"", b"\0\0x"))
    elif command == wire.WRTE and chance.random() < 0.5:
        path = b"/sdcard/" + chance.randbytes(2).hex().encode()
        size = chance.choice((len(path), len(path), 0, 1024, 1025, 1 << 31))
        payload = chance.choice(_SYNC) + struct.pack("<I", size) + path
    return wire.Message(command, args[0], args[1], payload)


def broken_bytes(chance: random.Random) -> bytes:
    """Return bytes that close a connection, or leave it waiting for more."""
    kind = chance.randrange(5)
    command = chance.choice(_COMMANDS)
    raw = bytearray(encode(wire.Message(command, 0, 0, chance.randbytes(20))))
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 400))
    if kind == 1:
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    elif kind == 2:
        raw[12:16] = struct.pack("<I", chance.choice((1 << 20, (1 << 20) + 1, 1 << 31)))
    elif kind == 3:
        del raw[chance.randrange(len(raw)) :]
    return bytes(raw)


def drain(sock: socket.socket) -> None:
    """Read until the other end closes."""
    with contextlib.suppress(OSError):
        while sock.recv(1 << 16):
            pass


def test_invalid_messages_are_harmless(phone: LocalPhone) -> None:
    chance = random.Random(11)  # noqa: S311 - repeatable
    vitals = Vitals(phone.process.pid)
    files, threads = vitals.files(), vitals.status("Threads")
    sent = 0
    while sent < MESSAGES:
        key = phone.key if chance.random() < 0.9 else None
        count = _BATCH if key else 0
        with RawHost(phone.adb_port, key) as host:
            reader = threading.Thread(target=drain, args=(host.sock,))
            reader.start()
            # All of these are processed before the bytes that close the connection.
            host.send(*(odd_message(chance) for _ in range(count)))
            with contextlib.suppress(OSError):
                host.sock.sendall(broken_bytes(chance))
                host.sock.shutdown(socket.SHUT_WR)
            reader.join(60)
            assert not reader.is_alive()
            sent += count + 1
    assert phone.process.poll() is None
    assert wait_until(lambda: vitals.files() <= files + 2, timeout_s=60), vitals.report()
    assert wait_until(lambda: vitals.status("Threads") <= threads + 2, timeout_s=60), (
        vitals.report()
    )
    assert vitals.status("VmHWM") < MAX_RSS_KIB, vitals.report()
    print(f"{sent} messages: {vitals.report()}")  # noqa: T201 - figures of a long run
    assert shell(phone, "echo alive") == (0, b"alive\n")


_WORDS = (
    *("-a", "-n", "-p", "-d", "-v", "-s", "-S", "-c", "-e", "--es", "--user", "--uri", "--where"),
    *("--bind", "--sort", "--projection", "-", "--", "--help", "-W", "-t", "-l", "-f", "-3"),
    *("get", "put", "list", "delete", "query", "insert", "update", "start", "force-stop", "size"),
    *("density", "tap", "swipe", "text", "keyevent", "keycombination", "dump", "night", "yes"),
    *("packages", "path", "grant", "activity", "window", "package", "battery", "notification"),
    *("system", "secure", "global", "clipboard", "post", "wifi", "enable", "reset", "broadcast"),
    *("com.android.settings", "com.android.settings/.Settings", "no.such/.App", "content://sms"),
    *("content://com.android.contacts/contacts", "content://call_log/calls", "content://", "_id"),
    *("content://media/external/images/media", "content://com.android.calendar/events", "1=1"),
    *("_id=1", "(SELECT 1)", "';--", "name:s:x", "title:i:y", "a=b", "android.intent.action.VIEW"),
    *("tel:123", "geo:0,0?q=x", "http://x", "mailto:a@b", "0", "1", "-1", "540", "1200", "1e309"),
    *("nan", "99999999999999999999", "1080x2400", "320", "4294967296", "''", "%s", "%", "\\n"),
    *(
        "größe",
        "日本語",
        "😀",
        "\u202e",
        "a" * 3000,
        "[",
        "(",
        "/sdcard/f",
        "/sdcard/../x",
        ":",
        ",",
    ),
)
_JOINS = ("|", ";", "&&", "||", "&", "\n", "2>&1", ">/dev/null", "</dev/null")
_UNFINISHED = ("'", '"', "$(", "`", "(", "${", "<<E", "\\")
_PLAIN = ("echo", "true", "false", "cat </dev/null", "wc -c", "head -c 9", "grep -c .", "tr a b")
# These close the phone's connections, or take long.
_LEFT_OUT = {"reboot", "screencap", "screenrecord", "logcat"}


def odd_line(chance: random.Random) -> str:
    """Return a line for the shell: commands of the phone, rarely with shell syntax around them.

    The shell is that of the test host, so no word is the name of a program that changes anything.
    """
    if chance.random() < 0.9:
        return odd_call(chance)
    parts = []
    for _ in range(chance.randrange(1, 4)):
        parts.append(odd_call(chance) if chance.random() < 0.2 else chance.choice(_PLAIN))
        parts.append(chance.choice(_JOINS))
    line = " ".join(parts)
    kind = chance.random()
    if kind < 0.2:
        return f"{line} {chance.choice(_UNFINISHED)}"
    return f"echo $({line.rstrip('&|;')})" if kind < 0.4 else line


def odd_call(chance: random.Random) -> str:
    """Return one call of a command of the phone."""
    name = chance.choice(sorted(COMMANDS.keys() - _LEFT_OUT))
    args = [odd_word(chance) for _ in range(chance.randrange(0, 7))]
    return " ".join((name, *args))


def odd_word(chance: random.Random) -> str:
    """Return a word, quoted so that only the command interprets its special characters."""
    kind = chance.random()
    if kind < 0.05:
        word = chance.choice(sorted(KEYS_BY_NUMBER.values()))
    elif kind < 0.1:
        word = "".join(chr(chance.randrange(32, 0x2FF)) for _ in range(chance.randrange(1, 20)))
    else:
        word = chance.choice(_WORDS)
    return "'" + word.replace("'", "'\\''") + "'"


def shell(phone: LocalPhone, line: str) -> tuple[int, bytes]:
    """Run one line on a separate connection."""
    with RawHost(phone.adb_port, phone.key) as host:
        return run(host, line)


def run(host: RawHost, line: str) -> tuple[int, bytes]:
    """Run one line and return exit code and standard output."""
    own, other = host.open(f"shell,v2,raw:{line}")
    host.send(wire.Message(wire.WRTE, own, other, shell_protocol.encode(CLOSE_STDIN, b"")))
    raw = b"".join(host.read((own, other)))
    output, code, place = b"", -1, 0
    while place < len(raw):
        kind, length = struct.unpack_from("<BI", raw, place)
        data = raw[place + 5 : place + 5 + length]
        place += 5 + length
        if kind == 1:
            output += data
        elif kind == 3:
            code = data[0]
    return code, output


def test_invalid_lines_are_harmless(phone: LocalPhone) -> None:
    chance = random.Random(12)  # noqa: S311 - repeatable
    vitals = Vitals(phone.process.pid)
    files, threads = vitals.files(), vitals.status("Threads")
    codes: dict[int, int] = {}
    with RawHost(phone.adb_port, phone.key) as host:
        host.sock.settimeout(60)
        for _ in range(LINES):
            line = odd_line(chance)
            code, _ = run(host, line)
            assert 0 <= code <= 255, line
            codes[code] = codes.get(code, 0) + 1
    assert codes[0] > LINES // 100
    assert len(codes) > 3
    assert phone.process.poll() is None
    assert vitals.status("VmHWM") < MAX_RSS_KIB, vitals.report()
    assert wait_until(lambda: vitals.files() <= files + 2, timeout_s=60), vitals.report()
    assert wait_until(lambda: vitals.status("Threads") <= threads + 2, timeout_s=60), (
        vitals.report()
    )
    print(f"{LINES} lines, exit codes {codes}: {vitals.report()}")  # noqa: T201 - as above
    assert shell(phone, "wm size")[1].startswith(b"Physical size: ")
