"""Services that a host can open: shells, programs, files, sockets, the screen, reboot.

Source: AOSP ``packages/modules/adb/daemon/services.cpp`` and ``SERVICES.TXT``.
"""

from __future__ import annotations

import contextlib
import struct
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from images.phone.device.adb.sockets import Reverses, connect, parse_place
from images.phone.device.adb.sync import SyncService
from images.phone.device.shell.session import ShellRequest, run_session
from images.phone.device.streams.stream import StreamClosedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from images.phone.device.adb.connection import Connection
    from images.phone.device.machine import PhoneMachine
    from images.phone.device.phone import Phone
    from images.phone.device.shell.environment import ShellEnvironment
    from images.phone.device.streams.stream import Stream

FEATURES = (
    "shell_v2",
    "cmd",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "fixed_push_symlink_timestamp",
    "sendrecv_v2",
    "track_app",
    "delayed_ack",
)
"""Features announced to hosts: exactly those that are implemented."""

MAX_SERVICES = 128
MAX_SCREENS = 4
"""Maximum number of concurrent framebuffer readers, of which each uses 10 MiB."""

# Source: AOSP framebuffer_service.cpp: version 2, 32 bits a pixel, sRGB, size, width, height,
# then offset and length in bits of red, blue, green and alpha.
_FRAMEBUFFER = struct.Struct("<14I")
_ROOT_REFUSED = "adbd cannot run as root in production builds\n"
_NOT_ROOT = "adbd not running as root\n"


class Services:
    """Factory of services by name.

    Args:
        environment: environment of commands.
        phone: phone whose screen is read.
        machine: machine to reboot.
    """

    def __init__(self, environment: ShellEnvironment, phone: Phone, machine: PhoneMachine) -> None:
        self._environment = environment
        self._phone = phone
        self._machine = machine
        self._resolve: Callable[[str], Path] = environment.config.resolve
        self._places = threading.BoundedSemaphore(MAX_SERVICES)
        self._screens = threading.BoundedSemaphore(MAX_SCREENS)
        self._lock = threading.Lock()
        self._reverses: dict[Connection, Reverses] = {}

    def serve(self, name: str, stream: Stream, host: Connection) -> bool:
        """Start a service on a stream; return False if it is unknown or too many are running."""
        work = self._find(name, stream, host)
        if work is None or not self._places.acquire(blocking=False):
            return False
        try:
            threading.Thread(
                target=self._run, args=(name, work, stream), name=f"adb-{name[:20]}", daemon=True
            ).start()
        except RuntimeError:
            self._places.release()
            return False
        return True

    def _run(self, name: str, work: Callable[[], None], stream: Stream) -> None:
        try:
            with contextlib.suppress(StreamClosedError):
                work()
        except (OSError, ValueError) as exc:
            sys.stderr.write(f"adb: service {name[:80]!r} failed: {exc}\n")
        finally:
            stream.close()
            self._places.release()

    def _find(self, name: str, stream: Stream, host: Connection) -> Callable[[], None] | None:
        service, _, rest = name.partition(":")
        kind, *options = service.split(",")
        place = parse_place(name, self._resolve)
        if place is not None:
            return partial(connect, place, stream)
        if kind == "shell":
            request = ShellRequest.of_shell(options, rest)
        elif kind == "exec" and not options:
            request = ShellRequest(rest, has_packets=False, has_terminal=False)
        else:
            return self._find_other(name, rest, stream, host)
        return _accepted(stream, partial(run_session, request, stream, self._environment))

    def _find_other(
        self, name: str, rest: str, stream: Stream, host: Connection
    ) -> Callable[[], None] | None:
        known: dict[str, Callable[[], None]] = {
            "sync:": SyncService(stream, self._resolve).run,
            "framebuffer:": partial(self._send_framebuffer, stream),
            "jdwp": partial(_say, stream, ""),
            "track-jdwp": partial(_track_nothing, stream),
            "track-app": partial(_track_nothing, stream),
            "root:": partial(_say, stream, _ROOT_REFUSED),
            "unroot:": partial(_say, stream, _NOT_ROOT),
            "remount:": partial(_say, stream, 'Not running as root. Try "adb root" first.\n'),
            "reconnect": host.disconnect,
        }
        work = known.get(name)
        if work is None and name.startswith("reverse:"):
            work = partial(self._reverse, rest, stream, host)
        if work is None and name.startswith("reboot:"):
            work = partial(self._reboot, rest, stream)
        if work is None and name.startswith("tcpip:"):
            work = partial(self._tcpip, rest, stream)
        return None if work is None else _accepted(stream, work)

    def _send_framebuffer(self, stream: Stream) -> None:
        if not self._screens.acquire(blocking=False):
            return
        try:
            self._send_picture(stream)
        finally:
            self._screens.release()

    def _send_picture(self, stream: Stream) -> None:
        width, height, pixels = self._phone.compositor.picture()
        layout = (0, 8, 16, 8, 8, 8, 24, 8)
        head = _FRAMEBUFFER.pack(2, 32, 1, len(pixels), width, height, *layout)
        stream.write(head)
        stream.write(pixels)

    def _reverse(self, request: str, stream: Stream, host: Connection) -> None:
        with self._lock:
            reverses = self._reverses.get(host)
            if reverses is None:
                reverses = self._reverses[host] = Reverses(host, self._resolve)
                host.at_end.append(lambda: self._forget(host))
        stream.write(reverses.answer(request))

    def end_reverses(self) -> None:
        """Close all ports that are forwarded to hosts."""
        with self._lock:
            reverses = list(self._reverses.values())
        for each in reverses:
            each.remove_all()

    def _forget(self, host: Connection) -> None:
        with self._lock:
            self._reverses.pop(host, None)

    def _reboot(self, target: str, stream: Stream) -> None:
        if target:
            _say(stream, f"reboot ({target}) failed: the reference phone has no such mode\n")
            return
        self._machine.reboot(stream.close)

    def _tcpip(self, port: str, stream: Stream) -> None:
        own = str(self._environment.config.adb_port)
        same = f"restarting in TCP mode port: {port}\n"
        _say(stream, same if port == own else "the port of the reference phone is fixed\n")


def _accepted(stream: Stream, work: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        stream.accept()
        work()

    return run


def _say(stream: Stream, text: str) -> None:
    stream.write(text.encode(errors="replace"))


def _track_nothing(stream: Stream) -> None:
    """Report that no process is debuggable, as on every user build, and keep the stream open."""
    stream.write(b"0000")
    while stream.read():
        pass
